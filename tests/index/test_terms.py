"""Text to terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.index.terms import LONGEST, Lexicon, stem


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("getUserData", {"getuserdata", "user", "data"}),
        ("HTTPServer", {"httpserver", "http", "serv"}),
        ("snake_case_name", {"snakecasename", "snak", "cas", "nam"}),
        ("parse2JSON", {"parse2json", "pars", "2", "json"}),
        ("__init__", {"init"}),
        ("the", set()),
        ("utf8", {"utf8", "utf", "8"}),
        ("größe", {"größe"}),
        ("数据库", {"数据", "据库"}),
        ("a" * (LONGEST + 1), set()),
    ],
)
def test_a_word_becomes_itself_and_its_parts(word: str, terms: set[str]) -> None:
    assert set(Lexicon().split(word)) == terms


@pytest.mark.parametrize(
    "family",
    [
        ("cache", "caches", "caching", "cached"),
        ("handler", "handle", "handling", "handlers"),
        ("validate", "validation", "validator", "validators", "validating"),
        ("alias", "aliases"),
        ("class", "classes"),
        ("query", "queries"),
        ("response", "responses"),
        ("index", "indexes", "indexing"),
        ("stop", "stopping", "stopped"),
    ],
)
def test_forms_of_one_word_meet(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


def test_counting_adds_up_whole_words_and_parts() -> None:
    counts = Lexicon().count("loadCart(cart); load_cart = cart")
    assert counts == {"loadcart": 2, "load": 2, "cart": 4}


@given(st.text(max_size=300))
def test_any_text_gives_terms_that_are_short_and_not_empty(text: str) -> None:
    counts = Lexicon().count(text)
    assert all(term and count > 0 for term, count in counts.items())
    assert all(len(term) <= 4 * LONGEST for term in counts)


@given(st.text(max_size=60))
def test_a_stem_is_stable_and_never_longer_than_its_word_by_much(word: str) -> None:
    assert stem(word) == stem(word)
    assert len(stem(word)) <= len(word) + 1

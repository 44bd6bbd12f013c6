"""Parts of a text add up to the whole, token for token."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pack.exact import TOKENIZERS, exact

from tether.errors import TetherError
from tether.pack.measure import ESTIMATE, add_record, find_seam, starts_at_seam
from tether.pack.tokenizers import find_tokenizer
from tether.source.tokens import tokenizer

# Everything that plays a part in how the tokenizers split: spaces, newlines, slashes, contractions, digits.
WORDS = "a|Z|é|中|1|12| |  |\t|\n|\n\n|/|//|<|]]>|'s|_|.|;|\u2028|\x85|\x0b|\x0c|\u00a0|\u3000|🙂|\u0301|\x1c"
PIECES = st.lists(st.sampled_from(WORDS.split("|")), max_size=12).map("".join)


@pytest.mark.parametrize("name", ["o200k", "cl100k"])
@given(left=PIECES, right=PIECES)
def test_a_text_cut_at_a_seam_has_the_tokens_of_its_parts(name: str, left: str, right: str) -> None:
    if starts_at_seam(right):
        count = exact(name).units
        assert count(left + "\n" + right) == count(left + "\n") + count(right)


@pytest.mark.parametrize("name", list(TOKENIZERS))
@given(body=PIECES, more=PIECES)
def test_a_record_costs_what_its_whole_text_costs(name: str, body: str, more: str) -> None:
    tokenizer = TOKENIZERS[name]()
    head, tail = '<file path="a">\n<![CDATA[\n', "      ]]>\n</file>\n"
    text = f"{body}\n{more}\n"
    known = add_record(tokenizer, head, text, tail, tokenizer.units(text))
    assert known == tokenizer.units(head + text + tail) == add_record(tokenizer, head, text, tail)


def test_a_seam_never_lies_before_a_slash_or_another_newline() -> None:
    assert find_seam("a\n/b\n\nc\n d") == 6
    assert find_seam("a\n\n\n") == -1
    assert find_seam("one line") == -1


@given(st.text(max_size=40))
def test_the_estimate_is_the_one_used_everywhere(text: str) -> None:
    assert ESTIMATE.count(text) == tokenizer("estimate").count(text)


def test_a_tokenizer_is_found_by_its_short_and_its_long_name() -> None:
    assert find_tokenizer("o200k_base").name == find_tokenizer("o200k").name == "o200k"
    assert find_tokenizer("cl100k").count("hello world") == 2
    with pytest.raises(TetherError, match="unknown tokenizer `gpt`"):
        find_tokenizer("gpt")


@pytest.mark.parametrize("name", ["o200k", "cl100k"])
@given(text=PIECES, digits=st.text("0123456789", max_size=9), more=PIECES)
def test_a_text_costs_the_same_whatever_its_digits_are(name: str, text: str, digits: str, more: str) -> None:
    count = exact(name).units
    assert count(text + digits + more) == count(text + "0" * len(digits) + more)

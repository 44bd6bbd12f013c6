"""Outlines: what each language's table finds, what is touched by a change, and that no text can harm."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.source.corpus import Case, read_cases, write

from tether.source.outline import Lines, anchors, outline, summarize
from tether.source.references import references
from tether.source.syntax import LANGUAGES

CASES = read_cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.language}: {case.title}")
def test_a_source_has_the_outline_written_beside_it(case: Case) -> None:
    assert write(case.source, case.language) == case.expected


def test_every_language_has_two_cases_or_more() -> None:
    counts = dict.fromkeys(LANGUAGES, 0)
    for case in CASES:
        counts[case.language] += 1
    assert min(counts.values()) >= 2


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.language}: {case.title}")
def test_ranges_nest_and_lines_agree_with_bytes(case: Case) -> None:
    data = case.source.encode()
    shape = outline(data, case.language)
    lines = Lines(data)
    for symbol in shape.symbols:
        assert 0 <= symbol.start_byte < symbol.end_byte <= len(data)
        assert symbol.start_byte == symbol.signature[0] < symbol.signature[1] <= symbol.end_byte
        assert symbol.start_line == lines.at(symbol.start_byte)
        assert symbol.end_line == lines.at(symbol.end_byte - 1)
        assert symbol.qualified.endswith(symbol.name)
        assert symbol.qualified.removesuffix(symbol.name).rstrip(".") == symbol.parent
        if symbol.body:
            assert symbol.signature[1] <= symbol.body[0] < symbol.body[1] <= symbol.end_byte
        if symbol.doc:
            assert symbol.doc.start_byte < symbol.doc.end_byte <= len(data)


@given(st.sampled_from(sorted(LANGUAGES)), st.binary(max_size=300))
@settings(max_examples=150, deadline=None)
def test_no_bytes_can_break_an_outline(language: str, data: bytes) -> None:
    shape = outline(data, language)
    assert shape.reason == ""
    references(data, language, shape)


@given(st.sampled_from(CASES), st.data())
@settings(max_examples=150, deadline=None)
def test_a_source_cut_anywhere_still_has_an_outline(case: Case, data: st.DataObject) -> None:
    whole = case.source.encode()
    first = data.draw(st.integers(0, len(whole)))
    last = data.draw(st.integers(first, len(whole)))
    shape = outline(whole[:first] + whole[last:], case.language)
    assert shape.reason == ""


def test_an_unknown_language_is_a_reason_not_an_error() -> None:
    assert outline(b"x", "cobol").reason == "no grammar for `cobol`"
    assert references(b"x", "cobol") == []


PYTHON = b"""\
import os

LIMIT = 1


class Shop:
    name = "x"

    def open(self):
        return 1

    def close(self):
        def inner():
            return 2
        return inner()
"""


@pytest.mark.parametrize(
    ("lines", "touched"),
    [
        ([(10, 10)], ["Shop.open"]),
        ([(14, 14)], ["Shop.close.inner"]),
        ([(15, 15)], ["Shop.close"]),
        ([(13, 15)], ["Shop.close", "Shop.close.inner"]),
        ([(6, 6)], ["Shop"]),
        ([(7, 7), (3, 3)], ["LIMIT", "Shop.name"]),
        ([(9, 13)], ["Shop", "Shop.open", "Shop.close", "Shop.close.inner"]),
        ([(1, 2)], []),
    ],
)
def test_a_change_is_anchored_at_the_innermost_definitions_it_touches(
    lines: list[tuple[int, int]], touched: list[str]
) -> None:
    assert [name for name, *_ in anchors(PYTHON, "python", lines)] == touched


def test_an_anchor_says_kind_and_lines() -> None:
    assert anchors(PYTHON, "python", [(9, 9)]) == [("Shop.open", "method", 9, 10)]


@pytest.mark.parametrize(
    ("comment", "summary"),
    [
        ("# One. Two.", "One."),
        ("// One\n// and a half. Two.", "One and a half."),
        ("/** One.\n * Two.\n */", "One."),
        ("/**\n * One\n *\n * Two\n */", "One"),
        ('"""One.\n\n    Two.\n    """', "One."),
        ("r'''One'''", "One"),
        ("--[[ One. ]]", "One."),
        ("-- | One! Two.", "One!"),
        ("<!-- One -->", "One"),
        ("/// <summary>One. Two.</summary>", "One."),
        ("{- | One -}", "One"),
        ("# " + "x" * 500, "x" * 239 + "…"),
    ],
)
def test_a_doc_is_told_by_its_first_sentence(comment: str, summary: str) -> None:
    assert summarize(comment) == summary

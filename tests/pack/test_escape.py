"""What XML cannot carry is visible, and comes back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from tether.pack.escape import (
    escape_attribute,
    escape_cdata,
    escape_illegal,
    escape_path,
    escape_surrogates,
    escape_text,
    restore,
)

ANYTHING = st.text(st.characters(codec=None), max_size=60) | st.text(
    st.sampled_from("]>[<&\"'⟦U+27E6⟧\x00\x08\x0c\ufffe\ud800\t\n0A"), max_size=40
)


def test_the_end_of_cdata_is_split_over_two_sections() -> None:
    assert escape_cdata("a]]>b]]>]]]>") == "a]]]]><![CDATA[>b]]]]><![CDATA[>]]]]]><![CDATA[>"


def test_a_forbidden_character_is_spelled_and_a_text_without_one_is_untouched() -> None:
    assert escape_illegal("a\x0cb\x00") == ("a⟦U+000C⟧b⟦U+0000⟧", 2)
    assert escape_illegal("already ⟦U+000C⟧") == ("already ⟦U+000C⟧", 0)
    assert escape_illegal("⟦U+000C⟧\x0c") == ("⟦U+27E6⟧U+000C⟧⟦U+000C⟧", 1)


@given(ANYTHING)
def test_every_escape_can_be_undone(text: str) -> None:
    for escape in (escape_illegal, escape_surrogates):
        escaped, count = escape(text)
        assert (restore(escaped) if count else escaped) == text


@given(ANYTHING)
def test_any_text_is_well_formed_as_cdata_as_attribute_and_as_character_data(text: str) -> None:
    text = text.replace("\r", "\n")
    legal, count = escape_illegal(text)
    page = (
        f'<a b="{escape_attribute(text)}"><c><![CDATA[{escape_cdata(legal)}]]></c>'
        f"<d>{escape_text(legal)}</d></a>"
    )
    root = etree.fromstring(page.encode())
    for read in (root.get("b"), root[0].text or "", root[1].text or ""):
        assert (restore(read) if count else read) == text


@given(ANYTHING)
def test_a_path_stays_on_one_line(text: str) -> None:
    shown = escape_path(text)
    shown.encode()
    assert len(shown.splitlines()) <= 1

"""Text goes out exactly as it came in, but for what was edited."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.errors import TetherError
from tether.source.text import Text, decode, encode, is_binary

KINDS = {
    b"": ("", "utf-8", "none", False),
    b"a\nb\n": ("a\nb\n", "utf-8", "lf", False),
    b"a\r\nb\r\n": ("a\nb\n", "utf-8", "crlf", False),
    b"a\rb\r": ("a\nb\n", "utf-8", "cr", False),
    b"a\r\nb\n": ("a\r\nb\n", "utf-8", "mixed", False),
    b"no newline": ("no newline", "utf-8", "none", False),
    codecs.BOM_UTF8 + b"a\r\n": ("a\n", "utf-8", "crlf", True),
    codecs.BOM_UTF16_LE + "é\r\n".encode("utf-16-le"): ("é\n", "utf-16-le", "crlf", True),
    codecs.BOM_UTF16_BE + "é\n".encode("utf-16-be"): ("é\n", "utf-16-be", "lf", True),
    codecs.BOM_UTF32_LE + "é".encode("utf-32-le"): ("é", "utf-32-le", "none", True),
    "naïve\n".encode("latin-1"): ("naïve\n", "latin-1", "lf", False),
    codecs.BOM_UTF8 + b"\xe9\n": ("ï»¿é\n", "latin-1", "lf", False),
    b"\x1b[31mred\x1b[0m and more text\n": ("\x1b[31mred\x1b[0m and more text\n", "utf-8", "lf", False),
}


@pytest.mark.parametrize(("data", "kind"), KINDS.items())
def test_each_style_is_recognised(data: bytes, kind: tuple[str, str, str, bool]) -> None:
    text = decode(data)
    assert (text.text, text.encoding, text.newline, text.bom) == kind
    assert text.guessed == (text.encoding == "latin-1")
    assert encode(text.text, text) == data


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\0", b"\x89PNG\r\n\x1a\n\0", bytes(range(256)), b"\1\2"])
def test_binary_is_told_from_text(data: bytes) -> None:
    assert is_binary(data)
    with pytest.raises(TetherError):
        decode(data)


@given(st.one_of(st.binary(max_size=200), st.text(max_size=100).map(str.encode)))
def test_whatever_decodes_encodes_to_the_same_bytes(data: bytes) -> None:
    if not is_binary(data):
        text = decode(data)
        assert encode(text.text, text) == data


@given(st.text(alphabet="ab\n\r", max_size=30), st.sampled_from(["crlf", "cr"]))
def test_an_edit_takes_the_newline_style_of_the_file(edited: str, style: str) -> None:
    newline = {"crlf": b"\r\n", "cr": b"\r"}[style]
    data = encode(edited, Text("", newline=style))
    assert data.replace(newline, b"").count(b"\n") == 0
    assert data.count(newline) == edited.replace("\r\n", "\n").replace("\r", "\n").count("\n")


def test_a_character_the_encoding_lacks_is_refused_by_name() -> None:
    with pytest.raises(TetherError, match="latin-1") as caught:
        encode("€", decode("é".encode("latin-1")))
    assert caught.value.code == "BAD_ARGUMENTS"

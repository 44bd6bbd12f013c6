"""Bytes as text and back again, exactly: encoding, byte-order mark and newline style survive an edit."""

from __future__ import annotations

import codecs
import re

from tether.errors import TetherError
from tether.types import noun

HEAD = 8192

# Longest mark first: UTF-32's begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NEWLINES = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}
# Control characters that text has no use for; ESC and form feed do occur in sources.
_UNTEXTUAL = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")


@noun
class Text:
    """A file's text and all that `encode` needs to write it back as it was.

    With one newline style throughout, `text` uses LF; where styles are mixed every newline is kept as it is.
    """

    text: str
    encoding: str = "utf-8"
    newline: str = "lf"  # lf | crlf | cr | mixed | none
    bom: bool = False
    final_newline: bool = True
    guessed: bool = False  # not UTF-8, read as latin-1: bytes survive, but may be shown as other characters


def is_binary(data: bytes) -> bool:
    """Whether bytes are anything but text in an encoding `decode` knows."""
    marked = _read_marked(data)
    if marked is not None:
        return "\0" in marked[1]
    head = data[:HEAD]
    return b"\0" in head or len(_UNTEXTUAL.findall(head)) * 10 > len(head)


def decode(data: bytes, path: str = "the file") -> Text:
    """The text of `data`; INVARIANT: `encode(decode(data).text, decode(data)) == data`."""
    if is_binary(data):
        raise TetherError(
            "NOT_A_FILE",
            f"`{path}` is not a text file",
            action="Leave binary files to programs made for them",
        )
    marked = _read_marked(data)
    encoding, text = marked or ("utf-8", "")
    if not marked:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            encoding, text = "latin-1", data.decode("latin-1")
    newline = find_newline(text)
    if newline in ("crlf", "cr"):
        text = text.replace(_NEWLINES[newline], "\n")
    final = text.endswith(("\n", "\r"))
    return Text(text, encoding, newline, marked is not None, final, encoding == "latin-1")


def encode(text: str, like: Text) -> bytes:
    """The bytes of `text` in the encoding and newline style of `like`."""
    if like.newline in ("crlf", "cr"):
        text = normalise(text).replace("\n", _NEWLINES[like.newline])
    try:
        data = text.encode(like.encoding)
    except UnicodeEncodeError as error:
        bad = text[error.start : error.start + 1]
        raise TetherError(
            "BAD_ARGUMENTS",
            f"{bad!a} cannot be written in the file's encoding, {like.encoding}",
            action="Use characters the file's encoding has, or have a person convert the file to UTF-8",
        ) from None
    return next(mark for mark, name in _MARKS if name == like.encoding) + data if like.bom else data


def find_newline(text: str) -> str:
    """The style of a text's newlines: lf | crlf | cr | mixed | none."""
    crlf = text.count("\r\n")
    lf, cr = text.count("\n") - crlf, text.count("\r") - crlf
    styles = [name for name, count in (("lf", lf), ("crlf", crlf), ("cr", cr)) if count]
    return styles[0] if len(styles) == 1 else "mixed" if styles else "none"


def normalise(text: str) -> str:
    """The text with LF for every newline."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read_marked(data: bytes) -> tuple[str, str] | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            try:
                return encoding, data[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                continue
    return None

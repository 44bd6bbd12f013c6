"""What a format cannot carry is written as a visible `⟦U+0008⟧`, which can be turned back."""

from __future__ import annotations

import re

# The complement of the `Char` production of XML 1.0.
ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_ESCAPE = re.compile("⟦U\\+([0-9A-F]{4,6})⟧")
_ATTRIBUTE = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)


def _spell(match: re.Match[str]) -> str:
    return f"⟦U+{ord(match.group()):04X}⟧"


def _make_visible(text: str, illegal: re.Pattern[str]) -> tuple[str, int]:
    if not illegal.search(text):
        return text, 0
    # INVARIANT: in an escaped text every `⟦U+…⟧` is an escape, so a literal one is escaped first.
    return illegal.subn(_spell, text.replace("⟦U+", "⟦U+27E6⟧U+"))


def escape_illegal(text: str) -> tuple[str, int]:
    """The text without characters XML forbids, and how many were escaped; 0 leaves it untouched."""
    return _make_visible(text, ILLEGAL)


def escape_surrogates(text: str) -> tuple[str, int]:
    """The text without lone surrogates, which UTF-8 cannot carry, and how many were escaped."""
    if text.isascii():
        return text, 0
    return _make_visible(text, _SURROGATE)


def escape_path(path: str) -> str:
    """A path that stays on one line and can be written in UTF-8."""
    return path if path.isprintable() else _make_visible(path, _UNPRINTABLE)[0]


def restore(text: str) -> str:
    """Undo the visible escapes of a text that was flagged as escaped."""
    return _ESCAPE.sub(lambda match: chr(int(match.group(1), 16)), text)


def escape_cdata(text: str) -> str:
    """Split every `]]>` over two CDATA sections, in one pass."""
    return text.replace("]]>", "]]]]><![CDATA[>")


def escape_attribute(text: str) -> str:
    """A value for a double-quoted attribute that a parser gives back unchanged."""
    return escape_illegal(text)[0].translate(_ATTRIBUTE)


def escape_text(text: str) -> str:
    """Character data, for elements that hold no CDATA."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

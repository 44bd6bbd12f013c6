"""Values as YAML text: plain where that is safe beyond doubt, quoted otherwise."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tether.types import Criterion, Intent

_PLAIN = re.compile(r"(?:[^\W\d_]|[/$](?=.))(?:[\w ./*()+@^$=-]*[\w/*)+])?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d))?", re.ASCII)
_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\0": "\\0"}


def scalar(text: str, style: str = "") -> str:
    """The text as one scalar, quoted in the given style if that can hold it."""
    if style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    if style != '"' and (_PLAIN.fullmatch(text) or _DATE.fullmatch(text)) and text.lower() not in _WORDS:
        return text
    return '"' + "".join(c if c.isprintable() and c not in '\\"' else _escape(c) for c in text) + '"'


def _escape(char: str) -> str:
    code = ord(char)
    return _ESCAPES.get(char) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )


def pairs(criterion: Criterion) -> str | list[tuple[str, str]]:
    """A criterion as the sentence, `$ command`, or keys that say it."""
    text, command = criterion.text, criterion.command
    if not command:
        return [("text", text)] if text.startswith("$ ") else text
    if text == command:
        return f"$ {command}" if command == command.strip() else [("run", command)]
    return [("text", text), ("command", command)]


def item_lines(value: str | Criterion, indent: int) -> list[str]:
    """A list's item as lines of block style, its dash at the indent."""
    what = value if isinstance(value, str) else pairs(value)
    pad = " " * indent
    if isinstance(what, str):
        return [f"{pad}- {scalar(what)}"]
    return [f"{pad}{'- ' if not at else '  '}{key}: {scalar(text)}" for at, (key, text) in enumerate(what)]


def flow_item(value: str | Criterion) -> str:
    """A list's item inside `[…]`."""
    what = value if isinstance(value, str) else pairs(value)
    if isinstance(what, str):
        return scalar(what)
    return "{" + ", ".join(f"{key}: {scalar(text)}" for key, text in what) + "}"


def flow_list(values: Sequence[str | Criterion]) -> str:
    """A whole list as `[…]`."""
    return "[" + ", ".join(flow_item(value) for value in values) + "]"


def field_lines(name: str, value: str | Sequence[str | Criterion], indent: int) -> list[str]:
    """A field of an intent as lines of block style."""
    pad = " " * indent
    if isinstance(value, str):
        return [f"{pad}{name}: {scalar(value)}"]
    if not value:
        return [f"{pad}{name}: []"]
    return [f"{pad}{name}:", *(line for item in value for line in item_lines(item, indent + 2))]


def field_flow(name: str, value: str | Sequence[str | Criterion]) -> str:
    """A field of an intent inside `{…}`."""
    return f"{name}: {scalar(value) if isinstance(value, str) else flow_list(value)}"


def stated(
    intent: Intent, keys: Sequence[str], required: Sequence[str]
) -> list[tuple[str, str | Sequence[str]]]:
    """The fields worth writing: those required, and those that say something."""
    return [(name, getattr(intent, name)) for name in keys if name in required or getattr(intent, name)]

"""How much of a context window a text takes, and how to add the parts of a text without miscounting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A way to count. Units add up over seams; `per_token` of them make one token, rounded up."""

    name: str
    units: Callable[[str], int]
    per_token: int = 1

    def tokens(self, units: int) -> int:
        """Whole tokens in a sum of units."""
        return -(-units // self.per_token)

    def count(self, text: str) -> int:
        """Tokens of one text on its own."""
        return self.tokens(self.units(text))


def _weigh(text: str) -> int:
    """Twelfths of a token: 3 for an ASCII character, 6 for other alphabets, 12 and 18 for wider scripts."""
    size = len(text)
    if text.isascii():
        return 3 * size
    narrow = len(text.encode("ascii", "ignore"))
    astral = len(text.encode("utf-16-le")) // 2 - size
    # UTF-8 adds a byte for an alphabetic character, two for an unspaced one, three for an astral one.
    unspaced = len(text.encode()) - size - 3 * astral - (size - narrow - astral)
    alphabetic = size - narrow - astral - unspaced
    return 3 * narrow + 6 * alphabetic + 12 * unspaced + 18 * astral


_LOOK: Final = 256  # white space beyond this counts as no seam: slower, never wrong
ESTIMATE: Final = Tokenizer("estimate", _weigh, per_token=12)


def starts_at_seam(text: str) -> bool:
    """Whether this text, put after a newline, starts a new token whatever stood before.

    INVARIANT: o200k and cl100k split a text into words by a pattern in which a run of white space ends
    at its last newline, and a newline joins nothing on its right but more newlines and `/`. So a text
    cut after a newline has the sum of its parts' tokens, unless the right part begins so.
    """
    start = text[:_LOOK]
    first = start[:1]
    if first > " ":
        return first != "/" and not first.isspace()
    rest = start.lstrip()
    blank = start[: len(start) - len(rest)]
    return bool(rest) and "\n" not in blank and "\r" not in blank


def find_seam(text: str) -> int:
    """The first index > 0 at which the text can be cut without changing its count; -1 if there is none."""
    at = text.find("\n") + 1
    while 0 < at < len(text):
        if starts_at_seam(text[at : at + _LOOK]):
            return at
        at = text.find("\n", at) + 1
    return -1


def add_record(tokenizer: Tokenizer, head: str, body: str, tail: str, body_units: int | None = None) -> int:
    """The exact units of head + body + tail, counting the body only where its count is not known.

    INVARIANT: where the body's units are given, head and body end with a newline and tail starts at a seam.
    """
    units = tokenizer.units
    if body_units is None:
        if not (head.endswith("\n") and body.endswith("\n")):
            return units(head + body + tail)
        body_units = units(body)
    if tokenizer.per_token > 1 or starts_at_seam(body):
        return units(head) + body_units + units(tail)
    cut = find_seam(body)
    if cut > 0:
        return units(head + body[:cut]) + (body_units - units(body[:cut])) + units(tail)
    return units(head + body + tail)

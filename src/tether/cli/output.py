"""How commands speak: JSON when asked, rich tables on a terminal, plain lines in a pipe."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console


def say(text: str = "") -> None:
    """One line of plain output."""
    sys.stdout.write(text + "\n")


def dump(value: Any) -> None:
    """One JSON value on one line."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")


def console() -> Console:
    """A terminal that knows whether it is one."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=not sys.stdout.isatty())


def table(headers: Sequence[str], rows: Iterable[Sequence[str]], *, empty: str) -> None:
    """Rows under headers; a sentence when there are none."""
    held = [[printable(cell) for cell in row] for row in rows]
    if not held:
        say(empty)
        return
    if sys.stdout.isatty():
        from rich.table import Table
        from rich.text import Text

        drawn = Table(box=None, header_style="bold", pad_edge=False)
        for header in headers:
            drawn.add_column(header, overflow="fold")
        for row in held:
            drawn.add_row(
                *(Text(cell) for cell in row)
            )  # a Text is shown as it is: markup in it does nothing
        console().print(drawn)
        return
    widths = [max(len(str(r[n])) for r in [headers, *held]) for n in range(len(headers))]
    for row in [list(headers), *held]:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def printable(text: object) -> str:
    """Hostile text made harmless for a terminal: one line, no escape sequences."""
    return "".join(c if c.isprintable() or c == "\t" else "\\x%02x" % ord(c) for c in str(text))  # noqa: UP031


def printable_lines(text: str) -> str:
    """The same for text that may have several lines."""
    return "\n".join(printable(line) for line in text.split("\n"))


def confirm(question: str, *, default: bool = False) -> bool:
    """A person's yes or no; without a terminal the default stands."""
    if not sys.stdin.isatty():
        return default
    sys.stdout.write(f"{question} [{'Y/n' if default else 'y/N'}] ")
    sys.stdout.flush()
    answer = sys.stdin.readline().strip().lower()
    return default if not answer else answer in ("y", "yes")

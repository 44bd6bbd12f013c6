"""The affordances a pack offers: each names what to see and the command that shows it."""

from __future__ import annotations

import shlex

from tether.pack.entry import Zoom
from tether.pack.escape import escape_path
from tether.pack.skeleton import Omitted


def round_budget(tokens: int) -> int:
    """Room for that many tokens of text and the markup around them, in hundreds."""
    return -(-(tokens + tokens // 10 + 250) // 100) * 100


def spell_command(type_: str, target: str, budget: int, module: str = "", depth: str = "") -> str:
    """The command line that does what a zoom says; every word quoted for the shell."""
    words = ["tether", "zoom", f"{type_}={target}"]
    if module:
        words.append(f"--module={module}")
    if depth:
        words.append(f"--depth={depth}")
    words.append(f"--budget={budget}")
    return " ".join(shlex.quote(word) for word in words)


def zoom_file(path: str, tokens: int) -> Zoom:
    """See a whole file."""
    shown = escape_path(path)
    budget = round_budget(tokens)
    return Zoom("file", shown, budget, spell_command("file", shown, budget))


def zoom_symbol(omitted: Omitted, path: str, tokens: int, lines: int) -> Zoom:
    """See one definition whose body was left out."""
    share = tokens * (omitted.end - omitted.start + 1) // max(1, lines)
    budget = round_budget(share + share // 2)
    command = spell_command(omitted.kind, omitted.name, budget, module=escape_path(path))
    return Zoom(omitted.kind, omitted.name, budget, command)

"""Tether's own command: what an agent may run of it, everything else being a person's. HOOK PATH."""

from __future__ import annotations

import re

from tether.control.expansion import ANY, SOME
from tether.control.paths import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.commands.readers import Rules
    from tether.control.risk import Feed, Scan

# INVARIANT: this list is closed. Any other sub-command of `tether`, known or not, is a person's to run;
# `mcp` too, for whoever starts the server also carries the answers of the person it asks
ALLOWED: tuple[str, ...] = (
    "intent select",
    "intent list",
    "intent show",
    "intent check",
    "plan validate",
    "plan show",
    "plan explain",
    "plan list",
    "plan done",
    "status",
    "search",
    "context",
    "pack",
    "zoom",
    "why",
    "trace list",
    "trace show",
    "trace stats",
    "call",
    "index",
    "similar",
    "feedback",
    "models list",
    "models info",
    "--version",
    "--help",
    "version",
    "help",
)
# of these, the ones that change nothing by themselves: what `call` does is judged at the gate it leads to
LOOKING = frozenset(ALLOWED) - {"intent check", "plan done"}


def judge_tether(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """Let an agent use its own sub-commands; any other is named as governing."""
    words = [arg for arg in args if not arg.startswith("-")]
    first = words[0] if words else (args[0] if args else "help")
    two = " ".join(words[:2])
    # An option before the sub-command may take a value, so that the words would be counted wrong.
    early = bool(args) and args[0].startswith("-") and len(args) > 1
    sub = two if two in ALLOWED else first
    if sub == "rollback" and "--outside" in args and not early:
        scan.note("R", "risk.tether.rollback")  # an agent may take back what it should not have touched
        return
    if ANY in sub or SOME in sub or early or sub not in ALLOWED:
        parents = ("intent", "trace", "config", "journal", "memory", "bridge", "models", "shadow", "plan")
        scan.govern(show(two if first in parents and len(words) > 1 else first))
        return
    if sub.startswith("plan "):
        # the file is looked at like any other: inside the project, and not where secrets are kept
        scan.read(*(word for word in words[2:] if sub != "plan done" and word != "-"))
    if args[-1:] == ["--help"] or sub in LOOKING:
        scan.note("R", f"risk.tether.{sub.replace(' ', '-')}")
    else:
        scan.note("S", f"risk.tether.{sub.replace(' ', '-')}")


def is_entry(path: str) -> bool:
    """Whether a script is Tether's own door for agents' hooks or its command."""
    return (
        re.search(r"(?:^|/)tether/.*\.py$|/hooks/entry\.py$|(?:^|/)bin/tether$|(?:^|/)tether(?:\.py)?$", path)
        is not None
    )


TOOLS: dict[str, tuple[str, Rules]] = {}
JUDGES = {"tether": judge_tether}

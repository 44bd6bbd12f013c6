"""One decision against one `json.loads` of its call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from bench._row import Row, interleave
from tether.control.decide import decide
from tether.control.facts import Facts
from tether.types import Agent, Call, Effect, Intent, Spot

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOPS = 2000


def run() -> Iterator[Row]:
    """A scoped edit of one file by an agent that selected its intent."""
    args = {"path": "src/auth/token.py", "old": "a" * 200, "new": "b" * 200}
    wire = json.dumps({"verb": "edit_file", "args": args, "agent": {"session": "s1"}, "id": "c1"})
    call = Call("c1", "edit_file", args, Agent("s1"))
    effect = Effect("write", "src/auth/token.py", after="1" * 64, anchored=True)
    facts = Facts(
        now=1.0,
        policy="p",
        write_enabled=True,
        intents=(
            *(Intent(f"INT-{n:03}", "n", "active", (f"src/m{n}/**",)) for n in range(20)),
            Intent("INT-100", "Auth", "active", ("src/auth/**", "!src/auth/secret/**")),
        ),
        selected="INT-100",
        spots={
            "src/auth/token.py": Spot("src/auth/token.py", "src/auth/token.py", kind="file", hash="0" * 64)
        },
    )
    if decide(facts, call, (effect,)).verdict != "allow":
        raise AssertionError("the bench measures a call that is allowed")

    def parse() -> None:
        for _ in range(LOOPS):
            json.loads(wire)

    def judge() -> None:
        for _ in range(LOOPS):
            decide(facts, call, (effect,))

    base, own = interleave(10, parse, judge)
    yield Row("decide() on a scoped edit", own / base, "json.loads of its call", 8.0)

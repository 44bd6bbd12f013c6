"""Budgets: how they are written, and how far a file may be shortened to stay within one."""

from __future__ import annotations

import re
from typing import Final

from tether.errors import TetherError

STRATEGIES: Final = ("drop", "truncate", "hybrid")
LARGE_SHARE: Final = 10  # hybrid shortens at once what would take more than a tenth of the budget
_FACTOR: Final = {"": 1, "k": 1000, "m": 1_000_000}


def parse_budget(text: str | int) -> int:
    """`15000`, `15k`, `1m` → tokens."""
    match = re.fullmatch(r"([0-9]{1,12})([kKmM]?)", str(text))
    if not match:
        raise TetherError("BAD_ARGUMENTS", f"budget `{text}`: give tokens, as in 15000, 15k or 1m")
    return int(match.group(1)) * _FACTOR[match.group(2).lower()]


def plan_forms(strategy: str, planned: str) -> tuple[str, ...]:
    """The forms to try, fullest first. A file none of them fits is listed only."""
    if strategy == "drop":
        return (planned,)
    shorter = ("structure", "signature")
    return shorter[shorter.index(planned) :] if planned in shorter else (planned, *shorter)


def check_strategy(name: str) -> str:
    """A known strategy, or a refusal."""
    if name not in STRATEGIES:
        raise TetherError("BAD_ARGUMENTS", f"unknown strategy `{name}`: choose {', '.join(STRATEGIES)}")
    return name

"""What a run may spend on requests, in tokens estimated from their size. Pure."""

from __future__ import annotations

import json

from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEFAULT_MAX_TOKENS = 100_000
DEFAULT_BUDGET_THRESHOLD_PERCENT = 0.6
CHARS_PER_TOKEN = 4


@noun
class Budget:
    """What was used of what may be. Requests count; responses are only reported."""

    max_tokens: int = DEFAULT_MAX_TOKENS
    used: int = 0
    responses: int = 0
    percent: float = DEFAULT_BUDGET_THRESHOLD_PERCENT

    @property
    def threshold(self) -> int:
        """Where the budget counts as used up."""
        return int(self.max_tokens * self.percent)

    @property
    def blocked(self) -> bool:
        """Whether the threshold is reached."""
        return self.used >= self.threshold


def estimate(request: Any) -> int:
    """Tokens of a request: the size of its JSON divided by four, rounded up."""
    text = json.dumps(request, ensure_ascii=False, separators=(",", ":"))
    return -(-len(text.encode("utf-8", "surrogatepass")) // CHARS_PER_TOKEN)


def spend(budget: Budget, request: Any, response: Any = None) -> Budget:
    """The budget after one turn."""
    answered = 0 if response is None else estimate(response)
    return Budget(
        budget.max_tokens, budget.used + estimate(request), budget.responses + answered, budget.percent
    )


def report(budget: Budget) -> dict[str, Any]:
    """`budgetStatus`, with the responses beside it."""
    return {
        "maxTokens": budget.max_tokens,
        "usedTokens": budget.used,
        "thresholdTokens": budget.threshold,
        "blocked": budget.blocked,
        "responseTokens": budget.responses,
    }

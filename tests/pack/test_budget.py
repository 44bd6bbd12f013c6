"""Budgets as people write them."""

from __future__ import annotations

import pytest

from tether.errors import TetherError
from tether.pack.budget import check_strategy, parse_budget, plan_forms
from tether.pack.parts import divide, parse_split


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("15000", 15000), ("15k", 15000), ("15K", 15000), ("1m", 10**6), ("2M", 2 * 10**6), (7, 7)],
)
def test_a_budget_may_end_in_k_or_m(text: str | int, tokens: int) -> None:
    assert parse_budget(text) == tokens


@pytest.mark.parametrize("text", ["", "k", "-5", "1.5k", "10 k", "1g", "٣", "1k\n", "9" * 13])
def test_anything_else_is_no_budget(text: str) -> None:
    with pytest.raises(TetherError, match="give tokens"):
        parse_budget(text)


def test_forms_go_from_full_to_signature() -> None:
    assert plan_forms("drop", "full") == ("full",)
    assert plan_forms("truncate", "full") == ("full", "structure", "signature")
    assert plan_forms("truncate", "smart") == ("smart", "structure", "signature")
    assert plan_forms("truncate", "structure") == ("structure", "signature")
    with pytest.raises(TetherError, match="drop, truncate, hybrid"):
        check_strategy("best")


def test_a_small_number_splits_into_parts_a_large_one_by_tokens() -> None:
    assert parse_split("4") == ("parts", 4)
    assert parse_split("50k") == parse_split("50000") == ("tokens", 50_000)
    with pytest.raises(TetherError):
        parse_split("0")


def test_parts_hold_what_fits_and_what_alone_does_not_fit_stands_alone() -> None:
    assert divide([3, 3, 3, 9, 1], 6) == [(0, 2), (2, 3), (3, 4), (4, 5)]
    assert divide([], 5) == [(0, 0)]

"""The token budget."""

from hypothesis import given
from hypothesis import strategies as st

from tether.control.budget import Budget, estimate, report, spend


def test_the_defaults_are_a_hundred_thousand_and_sixty_percent():
    assert report(Budget()) == {
        "maxTokens": 100_000,
        "usedTokens": 0,
        "thresholdTokens": 60_000,
        "blocked": False,
        "responseTokens": 0,
    }


def test_a_request_costs_a_quarter_of_its_bytes_rounded_up():
    assert estimate({"verb": "x"}) == -(-len('{"verb":"x"}') // 4) == 3
    assert estimate("ä" * 7) == 4  # fourteen bytes and two quotes


def test_the_budget_is_blocked_at_its_threshold_and_not_before():
    assert not Budget(used=59_999).blocked
    assert Budget(used=60_000).blocked
    assert not Budget(200_000, 60_000).blocked, "raising the budget unblocks it"


def test_responses_are_reported_and_never_block():
    after = spend(Budget(100, 0), {"verb": "read"}, "x" * 10_000)
    assert after.responses > 2_000
    assert not after.blocked


@given(st.lists(st.text()))
def test_use_only_grows(requests):
    budget = Budget()
    for request in requests:
        after = spend(budget, request)
        assert after.used > budget.used
        budget = after

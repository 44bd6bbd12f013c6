import pytest
from bench.history import fetch_releases, invent_history
from bench.why import measure


def check(ways):
    """What is promised of answers where the edits were seen, and what a clone should not fall behind."""
    seen = ways["map, or moved"]
    assert seen.lines > 1000
    assert seen.agent > 100 and seen.human > 100
    assert seen.correct >= 0.97
    assert seen.blamed <= 0.02
    assert ways["map"].correct >= 0.95
    for way in ("ledger, or moved", "ledger, squashed, or moved"):
        assert ways[way].correct >= 0.95
        assert ways[way].blamed <= 0.04


def test_answers_are_right_about_an_invented_history(tmp_path):
    check(measure(invent_history(30, str(tmp_path))))


@pytest.mark.slow
@pytest.mark.parametrize("project", ["click", "flask"])
def test_answers_are_right_about_released_history(tmp_path, project):
    check(measure(fetch_releases(project, 12, str(tmp_path))))

"""How well secrets are told from what looks like them, measured; and that no pattern can be made slow."""

from __future__ import annotations

import re

import pytest

from tether.source import detect
from tether.source import secrets as data
from tether.source.redact import MARK, find, redact

from .secrets import fresh, lookalikes, true
from .secrets.scoring import half, leaks

TRUE = true.cases()
LOOKALIKES = lookalikes.cases()


def test_the_corpus_is_large_enough_to_mean_something():
    assert len(TRUE) >= 320
    assert len({text for text, _ in TRUE}) == len(TRUE)
    assert len(set(LOOKALIKES)) >= 640
    assert all(secret in text for text, secret in TRUE)


@pytest.mark.parametrize("part", ["tuned", "held"])
def test_at_least_98_in_100_secrets_are_found(part):
    cases = [case for case in TRUE if half(case[0]) == part]
    missed = [text for text, secret in cases if leaks(text, secret)]
    assert len(missed) <= 0.02 * len(cases), missed


@pytest.mark.parametrize("part", ["tuned", "held"])
def test_at_most_1_in_100_look_alikes_raises_an_alarm(part):
    cases = [case for case in LOOKALIKES if half(case) == part]
    alarms = [text for text in cases if find(text)]
    assert len(alarms) <= 0.01 * len(cases), alarms


def test_the_second_corpus_confirms_it():
    cases = fresh.true_cases()
    missed = [text for text, secret in cases if leaks(text, secret)]
    assert len(missed) <= 0.05 * len(cases), missed
    alarms = [text for text in fresh.lookalike_cases() if find(text)]
    assert not alarms


def test_secrets_are_found_in_the_middle_of_a_file():
    around = "\n".join(LOOKALIKES[::23])
    for text, secret in TRUE:
        if text.startswith(("kind:", "apiVersion:", "-----", "PuTTY", "{")):
            continue  # documents of their own
        if secret not in around:
            assert not leaks(f"{around}\n{text}\n{around}", secret), text


def test_the_automaton_and_plain_searches_lead_to_the_same_findings(monkeypatch):
    texts = [*(text for text, _ in TRUE), *LOOKALIKES, "\n".join(LOOKALIKES), "\n".join(t for t, _ in TRUE)]
    monkeypatch.setattr(detect, "MUCH_TEXT", 10**12)
    plain = [find(text) for text in texts]
    monkeypatch.setattr(detect, "MUCH_TEXT", 0)
    assert [find(text) for text in texts] == plain


def test_every_case_keeps_its_lines_and_is_stable():
    for text, _ in TRUE:
        once = redact(text).text
        assert redact(once).text == once
        assert once.count("\n") == text.count("\n")
        assert MARK in once or leaks(text, _)


def test_no_corpus_file_holds_a_finished_token():
    assert all("<" in line or "⟦" in line for line in (*true.SHAPES, *true.LINES))


UNBOUNDED = re.compile(r"(?<!\\)[*+](?!\+)|\{\d*,\}")


def strip_classes(pattern: str) -> str:
    """The pattern without its bracket expressions and escapes, where a star is only a character."""
    return re.sub(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.", "", pattern)


@pytest.mark.parametrize(
    "pattern",
    [row[2] for row in data.PREFIXED] + [row[5] for row in data.FLOATING],
)
def test_every_quantifier_is_bounded(pattern):
    assert not UNBOUNDED.search(strip_classes(pattern)), pattern


@pytest.mark.parametrize("row", data.FLOATING, ids=lambda row: f"{row[0]}:{row[2][:12]}")
def test_no_rule_is_worse_than_linear_on_its_own_literals(row):
    literal = row[2].split("|")[0]
    for filler in (
        literal,
        literal + " ",
        literal + "a1B2" * 8 + " ",
        literal + ":x@",
        literal + " -p",
        literal + "=" * 9,
    ):
        # Anything exponential or quadratic would not come back from this.
        find(filler * (40_000 // len(filler)))


@pytest.mark.parametrize("row", data.PREFIXED, ids=lambda row: row[0])
def test_prefixes_repeated_come_to_an_end(row):
    prefix = row[1].split(" ")[0]
    find(prefix * (20_000 // len(prefix)))
    find((prefix + "aB3" * 40 + "!") * 200)

"""The class of a change, on pairs of versions written as text under `mutations/`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tether.record.mutation import AST_REFACTOR, INTENT_EVOLUTION, classify

FOLDER = Path(__file__).with_name("mutations")


class Pair(NamedTuple):
    language: str
    expected: str
    title: str
    before: str
    after: str


def read_pairs() -> list[Pair]:
    """Cases of the form `=== refactor: title`, the version before, `--- after`, the version after."""
    pairs = []
    for path in sorted(FOLDER.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("\n=== ")[1:]:
            heading, _, rest = part.partition("\n")
            expected, _, title = heading.partition(": ")
            before, _, after = rest.partition("\n--- after\n")
            kind = {"refactor": AST_REFACTOR, "evolution": INTENT_EVOLUTION}[expected]
            pairs.append(Pair(path.stem, kind, title, before + "\n", after.rstrip("\n") + "\n"))
    return pairs


PAIRS = read_pairs()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.language}: {pair.title}")
def test_a_change_has_the_class_written_beside_it(pair: Pair) -> None:
    found = classify(pair.before.encode(), pair.after.encode(), pair.language)
    assert found.kind == pair.expected, found.reason
    assert found.reason


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.language}: {pair.title}")
def test_a_change_and_its_undoing_have_one_class(pair: Pair) -> None:
    assert classify(pair.after.encode(), pair.before.encode(), pair.language).kind == pair.expected

"""Immutable inverted segments."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.index.segment import (
    Builder,
    DamagedSegmentError,
    Segment,
    check_segment,
    merge_segments,
    write_segment,
)

WORDS = st.sampled_from(["alpha", "beta", "gamma", "δ", "数据", "x" * 60])
COUNTS = st.dictionaries(WORDS, st.integers(1, 1000), min_size=1, max_size=6)


def build(path: Path, files: dict[int, list[dict[str, int]]]) -> Segment:
    builder = Builder()
    for file, passages in sorted(files.items()):
        builder.add(file, {}, passages)
    write_segment(str(path), builder.encode())
    return Segment(str(path))


def read(segment: Segment) -> dict[bytes, list[tuple[int, int, list[tuple[int, int]]]]]:
    found = {}
    for at in range(segment.terms):
        files, starts, weights, passages, within = segment.postings(at)
        found[segment.term(at)] = [
            (
                file,
                weights[place],
                [(passages[n], within[n]) for n in range(starts[place], starts[place + 1])],
            )
            for place, file in enumerate(files)
        ]
    return found


@settings(max_examples=60, deadline=None)
@given(files=st.dictionaries(st.integers(1, 2**31), st.lists(COUNTS, min_size=1, max_size=4), max_size=8))
def test_what_is_written_is_found_again(
    files: dict[int, list[dict[str, int]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("segment") / "1.seg"
    segment = build(path, files)
    for file, passages in files.items():
        for ordinal, passage in enumerate(passages):
            for term in passage:
                postings = segment.find(term.encode())
                assert postings is not None
                place = list(postings.files).index(file)
                held = postings.passages[postings.starts[place] : postings.starts[place + 1]]
                assert ordinal in list(held)
    assert segment.find(b"absent") is None
    segment.close()


@settings(max_examples=40, deadline=None)
@given(
    files=st.dictionaries(
        st.integers(1, 1000), st.lists(COUNTS, min_size=1, max_size=3), min_size=2, max_size=8
    ),
    dead=st.sets(st.integers(1, 1000)),
    split=st.integers(1, 3),
)
def test_merging_gives_what_one_segment_of_the_living_would_be(
    files: dict[int, list[dict[str, int]]],
    dead: set[int],
    split: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    groups: list[dict[int, list[dict[str, int]]]] = [{} for _ in range(split)]
    for number, (file, passages) in enumerate(files.items()):
        groups[number % split][file] = passages
    parts = [build(folder / f"{n}.seg", group) for n, group in enumerate(groups) if group]
    write_segment(str(folder / "merged"), merge_segments(parts, dead))
    merged = Segment(str(folder / "merged"))
    alone = build(folder / "alone", {f: p for f, p in files.items() if f not in dead})
    assert read(merged) == read(alone)


def test_more_of_a_term_never_weighs_less_and_a_longer_file_never_more(tmp_path: Path) -> None:
    filler = {f"w{n}": 1 for n in range(500)}
    segment = build(
        tmp_path / "s", {1: [{"term": 1}], 2: [{"term": 5}], 3: [{"term": 300}], 4: [{"term": 5, **filler}]}
    )
    postings = segment.find(b"term")
    assert postings is not None
    weights = dict(zip(postings.files, postings.weights, strict=True))
    assert weights[1] < weights[2] < weights[3]
    assert weights[4] < weights[2]


def test_a_checksum_tells_one_changed_bit(tmp_path: Path) -> None:
    path = tmp_path / "s"
    builder = Builder()
    builder.add(1, {"path": 2}, [{"term": 2}])
    check = write_segment(str(path), builder.encode())
    assert check_segment(str(path)) == check
    data = bytearray(path.read_bytes())
    data[30] ^= 1
    path.write_bytes(data)
    assert check_segment(str(path)) != check


@pytest.mark.parametrize("keep", [0, 7, 24, 40])
def test_a_torn_segment_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "s"
    build(path, {1: [{"alpha": 1, "beta": 2}]})
    os.truncate(path, keep)
    with pytest.raises((DamagedSegmentError, ValueError)):
        Segment(str(path)).find(b"alpha")


@settings(max_examples=80, deadline=None)
@given(at=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_never_crashes_a_reader(
    at: int, bit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("flip") / "s"
    build(path, {n: [{"alpha": n, "beta": 1}] for n in range(1, 20)})
    data = bytearray(path.read_bytes())
    data[at % len(data)] ^= 1 << bit
    path.write_bytes(data)
    try:
        segment = Segment(str(path))
        for term in (b"alpha", b"beta", b"gamma"):
            postings = segment.find(term)
            if postings is not None:
                list(zip(postings.files, postings.weights, strict=True))
    except DamagedSegmentError:
        pass

"""An inverted index in immutable, memory-mapped files: opening one reads nothing but its header."""

from __future__ import annotations

import heapq
import math
import mmap
import os
import sys
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from struct import Struct
from typing import Final, NamedTuple

MAGIC: Final = b"TETHSEG1"
HEADER: Final = 24  # magic, terms, dictionary offset; numbers are in this machine's own byte order
K1: Final = 1.2
SCALE: Final = 255 / (K1 + 1)  # a posting's weight is one byte: 0 … K1 + 1

# BM25's length norm needs a mean. Fixed means make a posting depend on its own file alone, so that indexing
# in any order, at once or piecemeal, gives the same bytes; they are the means of a few dozen repositories.
FILE_MEAN: Final = 1000
FILE_B: Final = 0.4
PASSAGE_MEAN: Final = 145
PASSAGE_B: Final = 0.6
_STEPS: Final = 4  # length classes an octave


class DamagedSegmentError(Exception):
    """A segment's bytes contradict themselves."""


@cache
def _weigh(step: int, mean: float, b: float) -> bytes:
    """For one class of length, the table that turns a term's count into its weight."""
    norm = K1 * (1 - b + b * 2 ** (step / _STEPS) / mean)
    return bytes(round(n * (K1 + 1) / (n + norm) * SCALE) for n in range(256))


def _step(length: int) -> int:
    return min(24 * _STEPS, round(math.log2(length + 1) * _STEPS))


_ALONE: Final = Struct("=4I").pack


class Column:
    """One term's postings while they are gathered: files, then the passages of each file."""

    __slots__ = ("files", "items", "numbers", "weights")

    def __init__(self) -> None:
        self.files: list[int] = []
        self.weights = bytearray()
        self.numbers: list[int] = []  # how many passages of each file hold the term
        self.items: list[int] = []  # ordinal within the file, and the weight there in the low eight bits

    def encode(self) -> bytes:
        items = self.items
        if len(self.files) == 1:  # most terms stand in one file alone
            head = _ALONE(1, self.files[0], 0, len(items)) + self.weights + b"\0"
            if len(items) == 1:
                return head + (items[0] >> 8).to_bytes(2, sys.byteorder) + bytes((items[0] & 255,))
            passages = array("H", [item >> 8 for item in items]).tobytes()
            return head + passages + bytes([item & 255 for item in items])
        starts = [0]
        total = 0
        for number in self.numbers:
            total += number
            starts.append(total)
        head = array("I", [len(self.files), *self.files, *starts]).tobytes()
        pad = b"\0" * (len(self.weights) & 1)
        passages = array("H", [item >> 8 for item in items]).tobytes()
        return b"".join((head, self.weights, pad, passages, bytes([item & 255 for item in items])))


class Builder:
    """Gathers postings of files until they are written as one segment."""

    def __init__(self) -> None:
        self.columns: dict[str, Column] = {}
        self.postings = 0

    def add(self, file: int, extra: Mapping[str, int], passages: Sequence[Mapping[str, int]]) -> None:
        """One file: the terms of each passage, in order, and what counts for the whole file beside them."""
        spread: dict[str, list[int]] = {}
        whole = dict(extra)
        seen = whole.get
        for ordinal, inner in enumerate(passages):
            table = _weigh(_step(sum(inner.values())), PASSAGE_MEAN, PASSAGE_B)
            base = ordinal << 8
            for term, count in inner.items():
                whole[term] = seen(term, 0) + count
                item = base | table[count if count < 256 else 255]
                if term in spread:
                    spread[term].append(item)
                else:
                    spread[term] = [item]
        table = _weigh(_step(sum(whole.values())), FILE_MEAN, FILE_B)
        columns = self.columns
        for term, count in whole.items():
            column = columns.get(term)
            if column is None:
                column = columns[term] = Column()
            column.files.append(file)
            column.weights.append(table[count if count < 256 else 255])
            items = spread.get(term)
            if items is None:
                column.numbers.append(0)
            else:
                column.numbers.append(len(items))
                column.items += items
                self.postings += len(items)
        self.postings += len(whole)

    def encode(self) -> Iterator[tuple[bytes, bytes]]:
        for term in sorted(self.columns):
            yield term.encode(), self.columns[term].encode()


class Postings(NamedTuple):
    """One term in one segment: `weights[i]` is how much of the term file `files[i]` holds."""

    files: memoryview  # ascending
    starts: memoryview  # where each file's passages begin
    weights: memoryview
    passages: memoryview
    within: memoryview


class Segment:
    """A written segment, mapped into memory."""

    def __init__(self, path: str) -> None:
        self.path = path
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size < HEADER:
                raise DamagedSegmentError(f"`{path}` is cut short")
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._view = memoryview(self._map)
        terms, offset = (int.from_bytes(self._map[at : at + 8], sys.byteorder) for at in (8, 16))
        # dictionary: ends of the terms' spellings, ends of their postings, the spellings
        text = offset + 8 * terms + 8 * terms
        if self._map[:8] != MAGIC or offset % 8 or text > size:
            raise DamagedSegmentError(f"`{path}` is no segment")
        self.terms = terms
        self._words = self._view[offset : offset + 8 * terms].cast("Q")
        self._ends = self._view[offset + 8 * terms : text].cast("Q")
        self._text = text
        self._limit = offset

    def close(self) -> None:
        """Let the mapping go, at the latest when the last postings handed out are let go."""
        with suppress(BufferError):
            for view in (self._words, self._ends, self._view):
                view.release()
            self._map.close()

    def term(self, at: int) -> bytes:
        """The spelling of the n-th term."""
        start = self._words[at - 1] if at else 0
        return self._map[self._text + start : self._text + self._words[at]]

    def find(self, term: bytes) -> Postings | None:
        """The postings of a term, or None."""
        at = bisect_left(range(self.terms), term, key=self.term)
        if at == self.terms or self.term(at) != term:
            return None
        return self.postings(at)

    def postings(self, at: int) -> Postings:
        """The postings of the n-th term."""
        start, end = (self._ends[at - 1] if at else HEADER), self._ends[at]
        if not HEADER <= start < end <= self._limit:
            raise DamagedSegmentError(f"`{self.path}` points outside itself")
        data = self._view[start:end]
        try:
            files = int.from_bytes(data[:4], sys.byteorder)
            head = 4 * (2 * files + 2)
            numbers = data[4:head].cast("I")
            total = numbers[-1]
            even = head + files + (files & 1)
            if even + 3 * total > len(data):
                raise DamagedSegmentError(f"`{self.path}` holds a torn posting list")
            return Postings(
                numbers[:files],
                numbers[files:],
                data[head : head + files],
                data[even : even + 2 * total].cast("H"),
                data[even + 2 * total : even + 3 * total],
            )
        except (TypeError, IndexError, ValueError) as error:
            raise DamagedSegmentError(f"`{self.path}` holds an unreadable posting list") from error

    def encode(self, dead: set[int]) -> Iterator[tuple[bytes, Column]]:
        """Every term with its postings, less those of dead files."""
        for at in range(self.terms):
            files, starts, weights, passages, within = self.postings(at)
            column = Column()
            for place, file in enumerate(files):
                if file not in dead:
                    low, high = starts[place], starts[place + 1]
                    column.files.append(file)
                    column.weights.append(weights[place])
                    column.numbers.append(high - low)
                    column.items += [passages[n] << 8 | within[n] for n in range(low, high)]
            if column.files:
                yield self.term(at), column


def write_segment(path: str, entries: Iterable[tuple[bytes, bytes]]) -> int:
    """Write sorted entries as a segment file, durably and all or nothing; returns its checksum."""
    temporary = path + ".new"
    words, ends, spellings = array("Q"), array("Q"), []
    at, spelled, check = HEADER, 0, 0
    with open(temporary, "wb") as file:
        file.write(b"\0" * HEADER)
        for term, data in entries:
            data += b"\0" * (-len(data) % 4)
            file.write(data)
            check = zlib.crc32(data, check)
            at += len(data)
            spelled += len(term)
            words.append(spelled)
            ends.append(at)
            spellings.append(term)
        pad = b"\0" * (-at % 8)
        tail = pad + words.tobytes() + ends.tobytes() + b"".join(spellings)
        file.write(tail)
        header = (
            MAGIC + len(spellings).to_bytes(8, sys.byteorder) + (at + len(pad)).to_bytes(8, sys.byteorder)
        )
        file.seek(0)
        file.write(header)
        file.flush()
        os.fsync(file.fileno())
    os.rename(temporary, path)
    return zlib.crc32(header, zlib.crc32(tail, check))


def check_segment(path: str) -> int:
    """The checksum of a segment file as it is now."""
    check = 0
    with open(path, "rb") as file:
        header = file.read(HEADER)
        while block := file.read(1 << 20):
            check = zlib.crc32(block, check)
    return zlib.crc32(header, check)


def merge_segments(segments: Sequence[Segment], dead: set[int]) -> Iterator[tuple[bytes, bytes]]:
    """The entries of several segments as one, files ascending, dead files dropped."""
    streams = [
        ((term, order, column) for term, column in segment.encode(dead))
        for order, segment in enumerate(sorted(segments, key=_first_file))
    ]
    current: bytes | None = None
    held: list[Column] = []
    for term, _, column in heapq.merge(*streams, key=lambda item: (item[0], item[1])):
        if term != current and current is not None:
            yield current, _join(held)
            held = []
        current = term
        held.append(column)
    if current is not None:
        yield current, _join(held)


def _first_file(segment: Segment) -> int:
    return segment.postings(0).files[0] if segment.terms else 0


def _join(columns: list[Column]) -> bytes:
    rows = (
        sorted((file, place, column) for column in columns for place, file in enumerate(column.files))
        if len(columns) > 1
        else None
    )
    if rows is None:
        return columns[0].encode()
    joined = Column()
    starts = {id(column): [0, *_running(column.numbers)] for column in columns}
    for file, place, column in rows:
        low, high = starts[id(column)][place], starts[id(column)][place + 1]
        joined.files.append(file)
        joined.weights.append(column.weights[place])
        joined.numbers.append(high - low)
        joined.items += column.items[low:high]
    return joined.encode()


def _running(numbers: Iterable[int]) -> Iterator[int]:
    total = 0
    for number in numbers:
        total += number
        yield total

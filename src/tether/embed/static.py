"""The built-in model: words of code to vectors by table and sum, the same to the bit on every machine."""

from __future__ import annotations

import json
import mmap
import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tether.errors import TetherError

MAGIC: Final = b"tether static 1\n"
WEIGHTS: Final = os.path.join(os.path.dirname(__file__), "weights", "code.bin")
LONGEST_WORD: Final = 64  # a longer one is data (a hash, base64), not a name
MOST_CHARS: Final = 40_000  # of one text; a passage of code has a tenth of it
MOST_KNOWN: Final = 300_000  # remembered words: a hostile tree must not fill the memory
MOST_HEADER: Final = 4_096

_WORD: Final = re.compile(r"[^\W_]+")
_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

Floats = NDArray[np.float32]
Bytes = NDArray[np.int8]


class Vocabulary(dict[str, tuple[int, ...]]):
    """Words to the numbers of their pieces; identifiers are split at camelCase and snake_case borders first.

    A part the table does not hold is read as the longest pieces it does hold.
    """

    def __init__(self, pieces: Iterable[str]) -> None:
        super().__init__()
        self._numbers = {piece: number for number, piece in enumerate(pieces)}
        self._longest = max(map(len, self._numbers), default=0)
        self.pieces = len(self._numbers)

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= MOST_KNOWN:
            self.clear()
        numbers: list[int] = []
        if len(word) <= LONGEST_WORD:
            parts = _PART.findall(word) if word.isascii() else [word]
            for part in parts:
                low = part.lower()
                number = self._numbers.get(low)
                if number is None:
                    self._cut(low, numbers)
                else:
                    numbers.append(number)
        found = self[word] = tuple(numbers)
        return found

    def _cut(self, part: str, numbers: list[int]) -> None:
        at = 0
        while at < len(part):
            for end in range(min(len(part), at + self._longest), at, -1):
                number = self._numbers.get(part[at:end])
                if number is not None:
                    numbers.append(number)
                    at = end
                    break
            else:
                at += 1  # a letter of a script the table does not know

    def count(self, text: str) -> Counter[int]:
        """How often each piece occurs in a text."""
        numbers: list[int] = []
        for word in _WORD.findall(text[:MOST_CHARS]):
            numbers += self[word]
        return Counter(numbers)


class StaticModel:
    """Token vectors, memory-mapped; a text is the weighted sum of its pieces.

    INVARIANT: every sum is of integers small enough to be exact in a double, whatever the order of adding,
    and every other operation is one IEEE rounding: the result does not depend on the machine.
    """

    local = True

    def __init__(self, path: str) -> None:
        try:
            with open(path, "rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:
            raise TetherError("EMBEDDING_FAILED", f"`{path}` cannot be opened as a model: {error}") from error
        about, start = _read_header(self._map, path)
        self.name: str = about["name"]
        self.dimension: int = about["dimension"]
        rows: int = about["rows"]
        text_size: int = about["vocabulary_bytes"]
        total = start + text_size + 2 * rows + rows * self.dimension
        if min(rows, self.dimension, text_size) < 1 or len(self._map) != total:
            raise TetherError(
                "EMBEDDING_FAILED", f"`{path}` is not whole: {len(self._map)} bytes, not {total}"
            )
        pieces = self._map[start : start + text_size].decode("utf-8").split("\n")
        if len(pieces) != rows:
            raise TetherError("EMBEDDING_FAILED", f"`{path}` names {len(pieces)} pieces for {rows} rows")
        self.vocabulary = Vocabulary(pieces)
        self._weights = np.frombuffer(self._map, "<u2", rows, start + text_size).astype(np.float64)
        self._rows: Bytes = np.frombuffer(
            self._map, np.int8, rows * self.dimension, start + text_size + 2 * rows
        ).reshape(rows, self.dimension)
        # how much a piece counts that occurs n times: its square root, in sixteenths
        self._times = np.rint(16 * np.sqrt(np.arange(256))).astype(np.float64)

    @classmethod
    def open(cls, path: str = WEIGHTS) -> StaticModel:
        """The model in this file; the built-in one unless told otherwise."""
        return cls(path)

    def words(self) -> list[str]:
        """The pieces that have a vector, in the order of their numbers."""
        return list(self.vocabulary._numbers)

    def table(self) -> Floats:
        """The vectors themselves, to go on training from."""
        table: Floats = (self._rows * (self._weights / 65535 / 127)[:, None]).astype(np.float32)
        return table

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Floats:
        """One unit vector for each text, asked or told; zero where a text holds no word at all."""
        out = np.zeros((len(texts), self.dimension), np.float32)
        for place, text in enumerate(texts):
            levels = self._sum(text)
            if levels is not None:
                out[place] = levels / np.sqrt((levels * levels).sum())
        return out

    def embed_int8(self, texts: Sequence[str]) -> tuple[Bytes, Floats]:
        """The same vectors in bytes, and the factor that makes each row of them a unit vector again."""
        out = np.zeros((len(texts), self.dimension), np.int8)
        factors = np.zeros(len(texts), np.float32)
        for place, text in enumerate(texts):
            levels = self._sum(text)
            if levels is not None:
                small = np.rint(levels * (127 / 32767))
                out[place] = small
                factors[place] = 1 / np.sqrt((small * small).sum())
        return out, factors

    def _sum(self, text: str) -> NDArray[np.float64] | None:
        """The text's vector in whole numbers up to 32,767, so that its length is exact too."""
        counts = self.vocabulary.count(text)
        if not counts:
            return None
        numbers = np.fromiter(counts.keys(), np.int64, len(counts))
        times = np.fromiter(counts.values(), np.int64, len(counts))
        weights = self._weights[numbers] * self._times[np.minimum(times, 255)]
        total: NDArray[np.float64] = weights @ self._rows[numbers].astype(np.float64)
        most = np.abs(total).max()
        return np.rint(total * (32767 / most)) if most else None


def write_model(path: str, name: str, words: Sequence[str], table: Floats) -> None:
    """Write a model that `StaticModel.open` reads: int8 rows, a 16-bit weight for each, the words before them."""
    peaks = np.maximum(np.abs(table).max(axis=1), 1e-9)
    rows = np.rint(table / peaks[:, None] * 127).astype(np.int8)
    weights = np.clip(np.rint(peaks / peaks.max() * 65535), 1, 65535).astype("<u2")
    text = "\n".join(words).encode()
    about = {"name": name, "dimension": table.shape[1], "rows": len(words), "vocabulary_bytes": len(text)}
    half = f"{path}.half"
    with open(half, "wb") as file:
        file.write(MAGIC + json.dumps(about, sort_keys=True).encode() + b"\n" + text)
        file.write(weights.tobytes() + rows.tobytes())
        file.flush()
        os.fsync(file.fileno())
    os.replace(half, path)


def _read_header(data: mmap.mmap, path: str) -> tuple[dict[str, Any], int]:
    end = data.find(b"\n", len(MAGIC), MOST_HEADER)
    if data[: len(MAGIC)] != MAGIC or end < 0:
        raise TetherError("EMBEDDING_FAILED", f"`{path}` is not a model of Tether's")
    try:
        about = json.loads(data[len(MAGIC) : end])
        if not all(isinstance(about[key], int) for key in ("dimension", "rows", "vocabulary_bytes")):
            raise TypeError
        about["name"] = str(about["name"])
    except (ValueError, KeyError, TypeError) as error:
        raise TetherError("EMBEDDING_FAILED", f"the header of `{path}` cannot be read") from error
    return about, end + 1

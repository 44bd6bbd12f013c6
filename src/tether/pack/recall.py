"""What was measured before, by content: a pack of an unchanged file costs no counting."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

from tether.pack.document import Facts
from tether.pack.skeleton import Omitted, Shaper, Skeleton

VERSION = 2
MOST = 400_000  # rows; beyond, the newest are kept
MOST_SHAPES = 100_000

_TYPES = [str, str, str, int, int, list, bool, bool, bool]


class Recall(dict[bytes, tuple[Any, ...]]):
    """Facts by content hash, and markup costs by text hash, kept in one file per project root.

    Nothing in it can make a pack wrong in a way that matters more than its number of tokens, and the file
    lies in the user's own cache directory, so no repository can bring one along.
    """

    def __init__(self, folder: str, root: str) -> None:
        super().__init__()
        name = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:24]
        self.path = os.path.join(folder, f"{name}.json")
        self._read = 0
        self.load()

    def load(self) -> None:
        """Take in what the file holds; what is not understood is not there."""
        try:
            with open(self.path, "rb") as file:
                data = json.loads(file.read())
            rows, costs = data["rows"], data["costs"]
            if data["version"] != VERSION or not isinstance(rows, dict) or not isinstance(costs, dict):
                return
            for key, row in rows.items():
                if [type(value) for value in row] == _TYPES:
                    if row[5]:
                        row[5] = tuple((int(a), int(b), str(c)) for a, b, c in row[5])
                    self[bytes.fromhex(key)] = tuple(row)
            for key, cost in costs.items():
                if type(cost) is int:
                    self[bytes.fromhex(key)] = (cost,)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            # A cache that cannot be read is an empty cache.
            self.clear()
        self._read = len(self)

    def save(self) -> None:
        """Keep what was learned; a file that cannot be written is only a slower next time."""
        if len(self) == self._read:
            return
        width = len(Facts._fields)
        items = list(self.items())[-MOST:]
        facts = _pairs((key.hex(), row) for key, row in items if len(row) == width)
        costs = _pairs((key.hex(), row[0]) for key, row in items if len(row) == 1)
        start = f'{{"version":{VERSION},"rows":{{'
        _write(self.path, chain([start], facts, ['},"costs":{'], costs, ["}}"]))


class Shapes:
    """Skeletons by content hash: a file that did not change is not parsed again."""

    def __init__(self, recall: Recall, shape: Shaper, fingerprint: Callable[..., str]) -> None:
        self.path = f"{recall.path.removesuffix('.json')}.shapes.json"
        self._shape = shape
        self._fingerprint = fingerprint
        self._version = ""
        self._rows: dict[str, Any] | None = None
        self._fresh = 0

    def __call__(self, text: str, path: str, language: str, brief: bool) -> Skeleton | None:
        """As the shaper itself, which is asked only for what is not known."""
        if self._rows is None:
            self._version = self._fingerprint("source", "source/languages", "pack/shape.py")
            self._rows = self._load()
        about = f"{path.rsplit('/', 1)[-1]}\0{language}\0{brief}\0{text}"
        key = hashlib.sha256(about.encode()).hexdigest()[:40]
        row = self._rows.get(key)
        if row is not None:
            return _revive(row)
        found = self._shape(text, path, language, brief)
        self._rows[key] = (
            []
            if found is None
            else [
                found.text,
                found.kept,
                [[o.kind, o.name, o.start, o.end] for o in found.omitted],
                found.parsed,
            ]
        )
        self._fresh += 1
        return found

    def _load(self) -> dict[str, Any]:
        try:
            with open(self.path, "rb") as file:
                data = json.loads(file.read())
            rows = data["rows"] if data["version"] == self._version else {}
            for row in rows.values():
                _revive(row)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}
        return dict(rows)

    def save(self) -> None:
        """Keep what was parsed."""
        if self._fresh and self._rows is not None:
            items = list(self._rows.items())[-MOST_SHAPES:]
            _write(self.path, [f'{{"version":{json.dumps(self._version)},"rows":{{', *_pairs(items), "}}"])


def _revive(row: Any) -> Skeleton | None:
    if not row:
        return None
    text, kept, omitted, parsed = row
    cut = tuple(Omitted(str(k), str(n), int(a), int(b)) for k, n, a, b in omitted)
    return Skeleton(str(text), int(kept), cut, bool(parsed))


def _write(path: str, pieces: Iterable[str]) -> None:
    """Replace a cache file; one that cannot be written is only a slower next time."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        fd, staged = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".pack-")
        with os.fdopen(fd, "w") as file:
            # Written piece by piece: the whole text would be the largest thing in memory.
            file.writelines(pieces)
        os.replace(staged, path)
    except OSError:
        return


def _pairs(items: Iterable[tuple[str, Any]]) -> Iterator[str]:
    between = ""
    for key, value in items:
        yield f'{between}"{key}":{json.dumps(value, separators=(",", ":"))}'
        between = ","

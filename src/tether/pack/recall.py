"""What was measured before, by content: a pack of an unchanged file costs no counting."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

from tether.pack.document import Facts

VERSION = 2
MOST = 400_000  # rows; beyond, only what this run used is kept

_TYPES = (str, str, str, int, int, list, bool, bool, bool)


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
                if len(row) == len(_TYPES) and all(type(v) is t for v, t in zip(row, _TYPES, strict=True)):
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
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            fd, staged = tempfile.mkstemp(dir=os.path.dirname(self.path), prefix=".pack-")
            with os.fdopen(fd, "w") as file:
                # Written piece by piece: the whole text would be the largest thing in memory.
                file.write(f'{{"version":{VERSION},"rows":{{')
                file.writelines(_pairs((key, row) for key, row in items if len(row) == width))
                file.write('},"costs":{')
                file.writelines(_pairs((key, row[0]) for key, row in items if len(row) == 1))
                file.write("}}")
            os.replace(staged, self.path)
        except OSError:
            return


def _pairs(items: Iterable[tuple[bytes, Any]]) -> Iterator[str]:
    between = ""
    for key, value in items:
        yield f'{between}"{key.hex()}":{json.dumps(value, separators=(",", ":"))}'
        between = ","

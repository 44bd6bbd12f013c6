"""Whose each line is: a map from line to record per path, carried forward through every change. HOOK PATH.

An owner is `author:record`, e.g. `ai:<record id>`; `human:` owns what changed between recorded changes,
`unknown:` what nothing recorded can tell. Maps are derived from the journal and may be deleted at any time.
"""

from __future__ import annotations

import fcntl
import json
import os
from hashlib import sha256
from itertools import groupby

from tether.record.patience import compare, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Final, Protocol

    from tether.types import Change

    class Contents(Protocol):
        """`record.contents.Contents`, or anything that gives bytes by their hash."""

        def get(self, sha: str) -> bytes | None: ...

    Runs = list[tuple[int, str]]
    # the recorded changes that touch a path, as destination or origin, after a journal position, in order
    History = Callable[[str, int], Iterable[Change]]
    # the names a file had before, newest first
    Renamed = Callable[[str], Iterable[str]]

HUMAN: Final = "human:"
UNKNOWN: Final = "unknown:"
_FORMAT: Final = 1
_VERSIONS: Final = 16  # contents remembered for each path, so that switching branches restores their maps
_TELLING: Final = 6  # lines a content needs before it identifies a renamed file
_NAMES_LIMIT: Final = 8 << 20


def expand(runs: Iterable[Sequence[Any]]) -> list[str]:
    """One owner a line."""
    owners: list[str] = []
    for count, owner in runs:
        owners += [owner] * count
    return owners


def compress(owners: Iterable[str]) -> Runs:
    """Owners as runs of equal ones."""
    return [(sum(1 for _ in group), owner) for owner, group in groupby(owners)]


def carry(old: Sequence[bytes], runs: Runs, new: Sequence[bytes], owner: str) -> Runs:
    """The map of `new`: lines that stayed keep their owner, lines that appeared are `owner`'s."""
    owners = expand(runs)
    carried = [owner] * len(new)
    for i, j, count in compare(old, new):
        carried[j : j + count] = owners[i : i + count]
    return compress(carried)


class State:
    """What is known of one path at one journal position."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.seq = 0
        # content hash → runs, oldest first; the last is the current one
        self.versions: dict[str, Runs] = {}
        self.certain = True  # False when contents are missing since the last version
        self.orphan = False  # began with a content nothing recorded explains
        self.tried: set[str] = set()  # former names that did not explain it either

    @property
    def hash(self) -> str:
        """The last content known; "" when the path is absent or was never seen."""
        return next(reversed(self.versions), "")

    @property
    def runs(self) -> Runs:
        """The map of that content."""
        return self.versions[self.hash] if self.versions else []

    def keep(self, sha: str, runs: Runs) -> None:
        """Make a content the current one."""
        self.versions.pop(sha, None)
        self.versions[sha] = runs
        while len(self.versions) > _VERSIONS:
            del self.versions[next(iter(self.versions))]
        self.certain = True

    def to_json(self) -> str:
        """The state as the store keeps it: owners once, versions as counts and owners' numbers in turn."""
        owners: dict[str, int] = {}
        versions = [
            (
                sha,
                [
                    number
                    for count, owner in runs
                    for number in (count, owners.setdefault(owner, len(owners)))
                ],
            )
            for sha, runs in self.versions.items()
        ]
        return json.dumps(
            {
                "format": _FORMAT,
                "path": self.path,
                "seq": self.seq,
                "certain": self.certain,
                "orphan": self.orphan,
                "tried": sorted(self.tried),
                "owners": list(owners),
                "versions": versions,
            },
            separators=(",", ":"),
        )

    @classmethod
    def from_json(cls, text: bytes | str, path: str) -> State | None:
        """The state the store kept; None when it cannot be used, for it can be derived again."""
        try:
            found = json.loads(text)
            if found["format"] != _FORMAT or found["path"] != path:
                return None
            state = cls(path)
            state.seq = int(found["seq"])
            state.certain = bool(found["certain"])
            state.orphan = bool(found["orphan"])
            state.tried = {str(name) for name in found["tried"]}
            owners = [str(owner) for owner in found["owners"]]
            for sha, numbers in found["versions"]:
                turns = zip(numbers[::2], numbers[1::2], strict=True)
                state.versions[str(sha)] = [(int(count), owners[number]) for count, number in turns]
        except (ValueError, KeyError, TypeError, IndexError):
            return None
        return state


class Lines:
    """The maps of one working tree, a file for each path; safe under many processes."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def advance(
        self,
        path: str,
        history: History,
        contents: Contents,
        renamed: Renamed | None = None,
    ) -> State:
        """Apply what the journal says of `path` since the map was last advanced.

        `renamed` tells the names a file had before, where someone knows (git): it is asked only about a
        file whose first recorded change began from a content that no recorded path ever had.
        """
        target = self._locate(path)
        os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
        lock = os.open(f"{target}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            state = self._load(path)
            names = list(renamed(path)) if state.orphan and renamed is not None else []
            again = not state.tried.issuperset(names)
            if again:
                state = State(path)
            known = state.seq
            self._replay(state, history, contents, renamed, None)
            if again or state.seq != known:
                if state.orphan and renamed is not None:
                    state.tried.update(renamed(path))
                self._save(state)
                self._name(state)
        finally:
            os.close(lock)
        return state

    def load(self, path: str) -> State:
        """The map as last advanced."""
        return self._load(path)

    def find(self, sha: str) -> str:
        """The path that last had this content; "" when none is known to."""
        found = ""
        for line in self._names():
            if line.startswith(sha.encode() + b" "):
                try:
                    found = str(json.loads(line[65:]))
                except ValueError:
                    continue  # cut off by a kill
        return found

    def hashes(self) -> set[str]:
        """Contents the maps still need: what pruning must keep."""
        needed: set[str] = set()
        for folder, _, names in os.walk(self.folder):
            for name in names:
                if name.endswith(".json"):
                    with open(os.path.join(folder, name), "rb") as file:
                        text = file.read()
                    try:
                        needed.update(sha for sha, _ in json.loads(text)["versions"])
                    except (ValueError, KeyError, TypeError):
                        continue  # unusable, so it needs nothing
        return needed - {""}

    def _replay(
        self,
        state: State,
        history: History,
        contents: Contents,
        renamed: Renamed | None,
        until: int | None,
    ) -> None:
        changes = [c for c in history(state.path, state.seq) if until is None or c.seq < until]
        # Within one entry a file leaves before another arrives under its name.
        for change in sorted(changes, key=lambda c: (c.seq, c.path == state.path)):
            if change.path != state.path:
                state.keep("", [])
            else:
                self._apply(state, change, history, contents, renamed)
            state.seq = change.seq

    def _apply(
        self,
        state: State,
        change: Change,
        history: History,
        contents: Contents,
        renamed: Renamed | None,
    ) -> None:
        if change.moved_from and change.moved_from != state.path:
            self._adopt(state, self._at(change.moved_from, change.seq, history, contents, renamed))
        elif not state.versions and change.before:
            for origin in (self.find(change.before), *(renamed(state.path) if renamed else ())):
                if origin and origin != state.path and not state.versions:
                    self._adopt(state, self._at(origin, change.seq, history, contents, renamed))
            state.orphan = not state.versions
        owner = f"{change.author}:{change.record}"
        reach(state, change.before, contents)
        new = b"" if not change.after else contents.get(change.after)
        if new is None:
            state.certain = False
        elif state.hash != change.before:
            # what was there before is lost: the new lines may be anyone's
            reach(state, change.after, contents)
        elif change.after != change.before:
            old = contents.get(change.before) or b""
            state.keep(change.after, carry(split(old), state.runs, split(new), owner))

    def _at(
        self,
        path: str,
        seq: int,
        history: History,
        contents: Contents,
        renamed: Renamed | None,
    ) -> State:
        """The state of another path just before a journal position."""
        state = self._load(path)
        if state.seq >= seq:
            state = State(path)
        self._replay(state, history, contents, renamed, seq)
        return state

    @staticmethod
    def _adopt(state: State, origin: State) -> None:
        if origin.versions:
            state.versions = dict(origin.versions)
            if "" in state.versions and origin.hash == "" and len(state.versions) > 1:
                # it left its old path before it arrived here
                del state.versions[""]
            state.certain = origin.certain
            state.orphan = origin.orphan

    def _load(self, path: str) -> State:
        try:
            with open(self._locate(path), "rb") as file:
                return State.from_json(file.read(), path) or State(path)
        except FileNotFoundError:
            return State(path)

    def _save(self, state: State) -> None:
        target = self._locate(state.path)
        temporary = f"{target}.{os.getpid()}"
        with open(temporary, "w", encoding="ascii") as file:
            file.write(state.to_json())
        os.replace(temporary, target)

    def _name(self, state: State) -> None:
        if sum(count for count, _ in state.runs) < _TELLING:
            return
        path = os.path.join(self.folder, "names")
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        try:
            if os.stat(path).st_size > _NAMES_LIMIT:
                os.replace(path, f"{path}.old")
        except FileNotFoundError:
            pass
        descriptor = os.open(path, flags, 0o600)
        try:
            os.write(descriptor, f"{state.hash} {json.dumps(state.path)}\n".encode("ascii"))
        finally:
            os.close(descriptor)

    def _names(self) -> Iterable[bytes]:
        for name in ("names.old", "names"):
            try:
                with open(os.path.join(self.folder, name), "rb") as file:
                    yield from file
            except FileNotFoundError:
                continue

    def _locate(self, path: str) -> str:
        name = sha256(path.encode("utf-8", "surrogateescape")).hexdigest()
        return os.path.join(self.folder, name[:2], f"{name[2:]}.json")


def reach(state: State, sha: str, contents: Contents) -> None:
    """Bring a state to the content found on disk: what differs was changed by someone unrecorded.

    Nothing happens when that content is not to be had; the state's hash then still is the old one.
    """
    if sha == state.hash and (state.versions or not sha):
        state.certain = True
        return
    if sha in state.versions:
        state.keep(sha, state.versions[sha])
        return
    new = b"" if not sha else contents.get(sha)
    if new is None:
        state.certain = False
        return
    old = b"" if not state.hash else contents.get(state.hash)
    if old is None or not state.versions or not state.certain:
        owner = UNKNOWN
    else:
        owner = HUMAN
    lines = split(new)
    if old is None:
        state.keep(sha, compress([owner] * len(lines)))
    else:
        state.keep(sha, carry(split(old), state.runs, lines, owner))

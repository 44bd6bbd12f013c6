"""A tree before and after something ran in it: what changed, and the bytes to change it back. HOOK PATH.

A sweep looks at every file's stat and reads none; only what differs between two sweeps is hashed. Folders
that git ignores, git's own store and this machine's state are left out, but never a tracked file, nor what
makes git run programs. The change time is compared too: unlike the other, no program can set it back.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat

from tether.source.git import find_repository, read_objects
from tether.source.repository import Level, add_rules, foreign, is_ignored, rules_above
from tether.source.tracked import is_blob, list_tracked, read_index
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from tether.source.root import Root

    Signature = tuple[int, int, int, int, int]

    class Store(Protocol):
        """Keeps bytes by their sha256."""

        def put(self, data: bytes) -> str: ...
        def get(self, sha: str) -> bytes | None: ...


MOST_FILES = 200_000
KEEP_FILE = 1 << 20  # bytes of one file, and of all files, that are kept for going back
KEEP_ALL = 64 << 20
# Where no repository says what to ignore, these are what every one would.
HEAVY = frozenset({"node_modules", "__pycache__", ".venv", "venv", ".mypy_cache", ".pytest_cache", ".tox"})

_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@noun
class Sweep:
    """Every file's signature (size, mtime, ctime, inode, mode), and where its bytes can be had again.

    kept: path → `sha:` of the store | `git:` blob | `link:` target; a path without it cannot be brought back.
    """

    entries: dict[str, Signature]
    kept: dict[str, str]
    complete: bool = True  # False when the tree has more files than a sweep takes
    ignored: tuple[str, ...] = ()  # folders left out


@noun
class Delta:
    """One file that differs between two sweeps. Hashes are sha256; "" = absent, None = not known."""

    path: str
    kind: str  # created | modified | deleted | mode
    before: str | None
    after: str | None


@noun
class Restored:
    """What going back achieved, and why not for the rest."""

    done: tuple[str, ...]
    failed: dict[str, str]


def take(root: Root) -> Sweep:
    """The signatures of all files under the root. Reads directories, never files."""
    walk = _Walk(root)
    if walk.complete:
        # A rule may ignore a folder whose files git tracks all the same: those are never left out.
        for path in list_tracked(root.path, walk.ignored):
            walk.add(path)
        for path in _list_watched(root, walk.repositories):
            walk.add(path)
    return Sweep(walk.entries, {}, walk.complete, tuple(walk.ignored))


def preserve(root: Root, sweep: Sweep, store: Store, previous: Sweep | None = None) -> Sweep:
    """The sweep with its bytes kept: git already has clean files, all others go into the store, up to a cap.

    What `previous` kept of a file that has not changed since is not read again.
    """
    known = previous or Sweep({}, {})
    kept = {
        path: known.kept[path]
        for path, signature in sweep.entries.items()
        if path in known.kept and known.entries[path] == signature
    }
    fresh = [path for path in sweep.entries if path not in kept]
    tracked = read_index(root.path) if fresh else {}
    room = KEEP_ALL
    for path in fresh:
        size, modified, changed, _, mode = sweep.entries[path]
        entry = tracked.get(path)
        if (
            entry
            and not entry.racy
            and (size, modified, changed) == (entry.size, entry.mtime_ns, entry.ctime_ns)
        ):
            kept[path] = f"git:{entry.blob}"
        elif stat.S_ISLNK(mode):
            target = _read_link(root, path)
            if target is not None:
                kept[path] = f"link:{target}"
        elif stat.S_ISREG(mode) and size <= KEEP_FILE:
            data = _read(root, path, KEEP_FILE)
            if data is not None and entry and is_blob(data, entry.blob):
                kept[path] = f"git:{entry.blob}"
            elif data is not None and len(data) <= room:
                room -= len(data)
                kept[path] = f"sha:{store.put(data)}"
    return Sweep(sweep.entries, kept, sweep.complete, sweep.ignored)


def compare(root: Root, before: Sweep, after: Sweep) -> list[Delta]:
    """Every file that was created, changed or deleted between two sweeps, by path.

    `after` must be fresh: what differs is hashed as it is on disk now. What the first sweep did not look at
    cannot be called new by the second.
    """
    unseen = tuple(folder + "/" for folder in before.ignored)
    differing = [path for path in before.entries if before.entries[path] != after.entries.get(path)]
    if before.complete:
        differing += [p for p in after.entries if p not in before.entries and not p.startswith(unseen)]
    differing.sort()
    was = _hashes_before(root, before, differing)
    deltas = []
    for path in differing:
        old, new = before.entries.get(path), after.entries.get(path)
        # Not seen is not gone: an ignore rule written meanwhile hides files, it does not delete them.
        new = new or look(root, path)
        if new is None or stat.S_ISDIR(new[4]):
            deltas.append(Delta(path, "deleted", was.get(path), ""))
            continue
        now = hash_entry(root, path, new)
        if old is None:
            deltas.append(Delta(path, "created", "", now))
        elif was.get(path) is None or was[path] != now:
            deltas.append(Delta(path, "modified", was.get(path), now))
        elif old[4] != new[4]:
            deltas.append(Delta(path, "mode", now, now))
    return deltas


def restore(root: Root, before: Sweep, deltas: Iterable[Delta], store: Store) -> Restored:
    """Each file as it was before, unless it has changed again since: then it is left alone and named."""
    from tether.errors import TetherError
    from tether.source.restore import put_back

    done, failed = [], {}
    chosen = list(deltas)
    blobs = _read_blobs(root, [before.kept.get(d.path, "")[4:] for d in chosen if _is_blob(before, d.path)])
    for delta in chosen:
        try:
            put_back(root, before.entries.get(delta.path), _fetch(before, delta, store, blobs), delta)
            done.append(delta.path)
        except (TetherError, OSError) as error:
            failed[delta.path] = getattr(error, "message", "") or str(error)
    return Restored(tuple(done), failed)


def recall(root: Root, before: Sweep, deltas: Iterable[Delta], store: Store) -> dict[str, bytes]:
    """The bytes that changed or deleted files had before, where they can still be had."""
    chosen = [delta for delta in deltas if delta.before]
    blobs = _read_blobs(root, [before.kept[d.path][4:] for d in chosen if _is_blob(before, d.path)])
    found = {delta.path: _fetch(before, delta, store, blobs) for delta in chosen}
    return {path: data for path, data in found.items() if data is not None}


def dump(sweep: Sweep) -> bytes:
    """The sweep as bytes, for another process to compare with."""
    rows = [[path, *signature, sweep.kept.get(path, "")] for path, signature in sweep.entries.items()]
    held = {"version": 1, "complete": sweep.complete, "ignored": sweep.ignored, "files": rows}
    return json.dumps(held, separators=(",", ":")).encode()


def load(data: bytes) -> Sweep | None:
    """A dumped sweep; None for anything else."""
    try:
        held = json.loads(data)
        if held["version"] != 1:
            return None
        rows = held["files"]
        entries: dict[str, Signature] = {row[0]: (row[1], row[2], row[3], row[4], row[5]) for row in rows}
        kept = {row[0]: row[6] for row in rows if row[6]}
        return Sweep(entries, kept, held["complete"], tuple(held["ignored"]))
    except (ValueError, KeyError, TypeError, IndexError):
        return None


def hash_entry(root: Root, path: str, signature: Signature) -> str | None:
    """The sha256 of a file's bytes, or of a link's target; None for what has none or is gone."""
    if stat.S_ISLNK(signature[4]):
        target = _read_link(root, path)
        return None if target is None else hashlib.sha256(os.fsencode(target)).hexdigest()
    fd = _open(root, path, _FILE) if stat.S_ISREG(signature[4]) else None
    if fd is None:
        return None
    try:
        digest = hashlib.sha256()
        while block := os.read(fd, 1 << 20):
            digest.update(block)
        return digest.hexdigest()
    except OSError:
        return None
    finally:
        os.close(fd)


def sign(about: os.stat_result) -> Signature:
    """What a sweep remembers of a file."""
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino, about.st_mode


def look(root: Root, path: str) -> Signature | None:
    """The signature of one path of a sweep as it is now; None when it is gone."""
    folder = open_folder(root, path)
    if folder is None:
        return None
    try:
        return sign(os.stat(path.rpartition("/")[2], dir_fd=folder, follow_symlinks=False))
    except OSError:
        return None
    finally:
        os.close(folder)


def open_folder(root: Root, path: str) -> int | None:
    """The directory of a path taken from a sweep, whatever its names are made of; no link is followed."""
    fd = os.dup(root.fd)
    for name in path.split("/")[:-1]:
        try:
            inner = os.open(name, _DIR, dir_fd=fd)
        except OSError:
            os.close(fd)
            return None
        os.close(fd)
        fd = inner
    return fd


class _Walk:
    """One pass over the tree: what was found, and which folders a rule left out."""

    def __init__(self, root: Root) -> None:
        self.entries: dict[str, Signature] = {}
        self.ignored: list[str] = []
        self.repositories: list[str] = []  # the git folders met on the way
        self.complete = True
        self._root = root
        self._inside = root.path.rstrip("/") + "/"
        self._repository = find_repository(root.path) is not None
        waiting = [(os.dup(root.fd), "", rules_above(root.path))]
        try:
            while waiting and self.complete:
                fd, base, level = waiting.pop()
                try:
                    self._enter(fd, base, level, waiting)
                finally:
                    os.close(fd)
                self.complete = len(self.entries) <= MOST_FILES
        finally:
            for fd, _, _ in waiting:
                os.close(fd)

    def add(self, path: str) -> None:
        """One file by name, if it is there."""
        signature = look(self._root, path)
        if signature is not None and not stat.S_ISDIR(signature[4]):
            self.entries[path] = signature

    def _enter(self, fd: int, base: str, level: Level, waiting: list[tuple[int, str, Level]]) -> None:
        try:
            with os.scandir(fd) as listing:
                found = list(listing)
        except OSError:
            return  # not ours to list: nothing in it can be compared
        names = {entry.name for entry in found}
        if ".git" in names and base and foreign(self._inside + base[:-1], True):
            return  # another worktree of the same repository is swept by its own project
        # what an agent may write must not hide what it does: `.tetherignore` is for looking, not for sweeping
        level = Level((), add_rules(level, self._inside + base, names, base, is_root=not base).git)
        entries = self.entries
        for entry in found:
            name = entry.name
            try:
                if not entry.is_dir(follow_symlinks=False):
                    entries[base + name] = sign(entry.stat(follow_symlinks=False))
                    continue
                path = base + name
                if name == ".git":
                    self.repositories.append(base + name)
                    continue
                if name == "local" and base == ".tether/":
                    continue
                if is_ignored(level, path, name, True) or (not self._repository and name in HEAVY):
                    self.ignored.append(path)
                    continue
                waiting.append((os.open(name, _DIR, dir_fd=fd), path + "/", level))
            except OSError:
                continue  # it went away, or may not be entered


def _list_watched(root: Root, repositories: list[str]) -> list[str]:
    """Those files of git's own stores that make git run programs or look away: who changes them changes what runs."""
    watched = []
    waiting = list(repositories)
    while waiting:
        store = waiting.pop()
        watched += [
            f"{store}/{name}" for name in ("config", "config.worktree", "info/attributes", "info/exclude")
        ]
        watched += [f"{store}/hooks/{name}" for name in _list_names(root, f"{store}/hooks")]
        if len(watched) > MOST_FILES:
            break
        # a submodule's store lies in that of its parent
        waiting += [f"{store}/modules/{name}" for name in _list_names(root, f"{store}/modules")]
    return watched


def _list_names(root: Root, path: str) -> list[str]:
    folder = open_folder(root, f"{path}/x")
    if folder is None:
        return []
    try:
        return os.listdir(folder)
    except OSError:
        return []
    finally:
        os.close(folder)


def _hashes_before(root: Root, before: Sweep, paths: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    blobs = _read_blobs(root, [before.kept[path][4:] for path in paths if _is_blob(before, path)])
    for path in paths:
        kind, _, value = before.kept.get(path, "").partition(":")
        if kind == "sha":
            found[path] = value
        elif kind == "link":
            found[path] = hashlib.sha256(os.fsencode(value)).hexdigest()
        elif kind == "git":
            data = _check_size(before, path, blobs.get(value))
            if data is not None:
                found[path] = hashlib.sha256(data).hexdigest()
    return found


def _fetch(before: Sweep, delta: Delta, store: Store, blobs: dict[str, bytes]) -> bytes | None:
    kind, _, value = before.kept.get(delta.path, "").partition(":")
    if kind == "link":
        return os.fsencode(value)
    if kind == "git":
        return _check_size(before, delta.path, blobs.get(value))
    return store.get(value) if kind == "sha" else None


def _check_size(before: Sweep, path: str, data: bytes | None) -> bytes | None:
    """A blob only if it is what lay on disk: with newline conversion or a filter it is not."""
    return data if data is not None and len(data) == before.entries[path][0] else None


def _is_blob(before: Sweep, path: str) -> bool:
    return before.kept.get(path, "").startswith("git:")


def _read_blobs(root: Root, blobs: list[str]) -> dict[str, bytes]:
    repo = find_repository(root.path) if blobs else None
    if repo is None:
        return {}
    found = zip(blobs, read_objects(repo, blobs), strict=True)
    return {blob: data for blob, data in found if data is not None}


def _read(root: Root, path: str, limit: int) -> bytes | None:
    fd = _open(root, path, _FILE)
    if fd is None:
        return None
    try:
        data = b""
        while len(data) <= limit and (block := os.read(fd, 1 << 20)):
            data += block
        return data if len(data) <= limit else None
    except OSError:
        return None
    finally:
        os.close(fd)


def _open(root: Root, path: str, flags: int) -> int | None:
    folder = open_folder(root, path)
    if folder is None:
        return None
    try:
        return os.open(path.rpartition("/")[2], flags, dir_fd=folder)
    except OSError:
        return None
    finally:
        os.close(folder)


def _read_link(root: Root, path: str) -> str | None:
    folder = open_folder(root, path)
    if folder is None:
        return None
    try:
        return os.readlink(path.rpartition("/")[2], dir_fd=folder)
    except OSError:
        return None
    finally:
        os.close(folder)

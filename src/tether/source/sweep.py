"""A tree before and after something ran in it: what changed, and the bytes to change it back. HOOK PATH.

A sweep looks at every file's stat and reads none; only what differs between two sweeps is hashed. What git
ignores as a whole directory, git's own store and this machine's state are left out. The change time is part
of the comparison because, unlike the modification time, a program cannot set it back.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat

from tether.source.git import find_repository, read_objects, run_git
from tether.source.repository import Level, add_rules, foreign, is_ignored, rules_above
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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
    entries: dict[str, Signature] = {}
    repository = find_repository(root.path) is not None
    waiting: list[tuple[int, str, Level]] = [(os.dup(root.fd), "", rules_above(root.path))]
    inside = root.path.rstrip("/") + "/"
    try:
        while waiting:
            fd, base, level = waiting.pop()
            try:
                _take_directory(fd, base, level, inside, repository, entries, waiting)
            finally:
                os.close(fd)
            if len(entries) > MOST_FILES:
                return Sweep(entries, {}, False)
    finally:
        for fd, _, _ in waiting:
            os.close(fd)
    return Sweep(entries, {})


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
    tracked = _read_index(root) if fresh else {}
    room = KEEP_ALL
    for path in fresh:
        signature = sweep.entries[path]
        entry = tracked.get(path)
        if entry and entry[:2] == (signature[1], signature[0]):
            kept[path] = f"git:{entry[2]}"
            continue
        if stat.S_ISLNK(signature[4]):
            target = _read_link(root, path)
            if target is not None:
                kept[path] = f"link:{target}"
        elif stat.S_ISREG(signature[4]) and signature[0] <= min(KEEP_FILE, room):
            data = _read(root, path, KEEP_FILE)
            if data is not None:
                room -= len(data)
                kept[path] = f"sha:{store.put(data)}"
    return Sweep(sweep.entries, kept, sweep.complete)


def compare(root: Root, before: Sweep, after: Sweep) -> list[Delta]:
    """Every file that was created, changed or deleted between two sweeps, by path.

    `after` must be fresh: what differs is hashed as it is on disk now.
    """
    differing = [
        path
        for path in sorted(before.entries.keys() | after.entries.keys())
        if before.entries.get(path) != after.entries.get(path)
    ]
    was = _hashes_before(root, before, differing)
    deltas = []
    for path in differing:
        old, new = before.entries.get(path), after.entries.get(path)
        if new is None:
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


def dump(sweep: Sweep) -> bytes:
    """The sweep as bytes, for another process to compare with."""
    rows = [[path, *signature, sweep.kept.get(path, "")] for path, signature in sweep.entries.items()]
    return json.dumps(
        {"version": 1, "complete": sweep.complete, "files": rows}, separators=(",", ":")
    ).encode()


def load(data: bytes) -> Sweep | None:
    """A dumped sweep; None for anything else."""
    try:
        held = json.loads(data)
        if held["version"] != 1:
            return None
        rows = held["files"]
        entries: dict[str, Signature] = {row[0]: (row[1], row[2], row[3], row[4], row[5]) for row in rows}
        kept = {row[0]: row[6] for row in rows if row[6]}
        return Sweep(entries, kept, held["complete"])
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


def _take_directory(
    fd: int,
    base: str,
    level: Level,
    inside: str,
    repository: bool,
    entries: dict[str, Signature],
    waiting: list[tuple[int, str, Level]],
) -> None:
    try:
        with os.scandir(fd) as listing:
            found = list(listing)
    except OSError:
        return  # not ours to list: nothing in it can be compared
    names = {entry.name for entry in found}
    if ".git" in names and base and foreign(inside + base[:-1], True):
        return  # another worktree of the same repository is swept by its own project
    level = add_rules(level, inside + base, names, base, is_root=not base)
    for entry in found:
        name = entry.name
        try:
            if not entry.is_dir(follow_symlinks=False):
                entries[base + name] = sign(entry.stat(follow_symlinks=False))
                continue
            path = base + name
            if name == ".git" or (name == "local" and base == ".tether/"):
                continue
            if is_ignored(level, path, name, True) or (not repository and name in HEAVY):
                continue
            waiting.append((os.open(name, _DIR, dir_fd=fd), path + "/", level))
        except OSError:
            continue  # it went away, or may not be entered


def _read_index(root: Root) -> dict[str, tuple[int, int, str]]:
    """path → (mtime, size, blob) of what the index holds and its own clock can vouch for.

    INVARIANT: the working tree is never compared by git itself: that would run the repository's filters.
    """
    repo = find_repository(root.path)
    if repo is None or repo.root != root.path:
        return {}
    output = run_git(repo, "ls-files", "--stage", "--debug", "-z")
    if not output:
        return {}
    try:
        written = os.stat(os.path.join(repo.git_dir, "index")).st_mtime_ns
    except OSError:
        return {}
    return dict(_parse_index(output, written))


def _parse_index(output: bytes, written: int) -> Iterator[tuple[str, tuple[int, int, str]]]:
    import re

    record = re.compile(
        rb"(100\d{3}) ([0-9a-f]{40,64}) 0\t([^\0]+)\0"
        rb"  ctime: [^\n]*\n  mtime: (\d+):(\d+)\n  dev: [^\n]*\n  uid: [^\n]*\n"
        rb"  size: (\d+)\tflags: [^\n]*\n"
    )
    for _, blob, path, seconds, nanos, size in record.findall(output):
        changed = int(seconds) * 1_000_000_000 + int(nanos)
        # A file written in the same instant as the index may have changed after git looked at it.
        if changed < written:
            yield os.fsdecode(path), (changed, int(size), blob.decode())


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

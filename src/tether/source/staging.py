"""Compare-and-rename: staged bytes change places with a file's, under lock, all files or none. HOOK PATH.

A write never touches a file in place: the new bytes are staged and fsynced, then exchanged with the old under
a per-path lock, and the displaced bytes are hashed again, so that an editor that wrote meanwhile is put back.
What a change needs to be finished or undone is in `Staged`, as data: whoever reads it from a journal can do
either. Writing by rename severs hard links: other names of the same file keep the old bytes.
"""

from __future__ import annotations

import fcntl
import os
import time
from hashlib import sha256

from tether.errors import TetherError
from tether.source.root import Root
from tether.source.swap import Staged, StaleError, apply, exchange, hash_at, is_settled, judge, undo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from tether.source.swap import Swap

    Known = Callable[[str], bytes | None]

STAGE = ".tether/local/tmp/stage"
LOCKS = ".tether/local/locks"
BESIDE = ".tether-stage-"  # staged next to the target where the stage is on another file system
PATIENCE = 10.0  # seconds to wait for a lock; it is held for milliseconds

DIFF_LINES = 40
ORPHAN_AGE = 3600.0


class Locks:
    """Holds the locks of some paths, taken in one order by everyone; they vanish with their holder."""

    def __init__(
        self, root: Root, paths: Iterable[str], where: str = LOCKS, patience: float = PATIENCE
    ) -> None:
        self._root = root
        self._names = {sha256(os.fsencode(path)).hexdigest(): path for path in paths}
        self._where = where
        self._patience = patience
        self._held: list[int] = []

    def __enter__(self) -> Locks:
        until = time.monotonic() + self._patience
        try:
            for name in sorted(self._names):
                self._take(name, until)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        while self._held:
            os.close(self._held.pop())

    def _take(self, name: str, until: float) -> None:
        pause = 0.0002
        while True:
            fd = self._open(name)
            self._held.append(fd)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # INVARIANT: the lock held is the one others find; `git clean` may have taken its file away.
                again = self._open(name)
                same = os.path.samestat(os.fstat(fd), os.fstat(again))
                os.close(again)
                if same:
                    return
            except BlockingIOError:
                pass  # someone holds it; wait a little
            os.close(self._held.pop())
            if time.monotonic() > until:
                path = self._names[name]
                raise TetherError("COLLISION", f"`{path}` is being written", path=path)
            time.sleep(pause)
            pause = min(pause * 1.5, 0.005)

    def _open(self, name: str) -> int:
        parent, leaf = self._root.open_parent(f"{self._where}/{name}", create=True, mode=0o700)
        try:
            return os.open(leaf, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=parent)
        finally:
            os.close(parent)


def stage(
    root: Root,
    path: str,
    data: bytes | None,
    *,
    expect: str | None = None,
    mode: int | None = None,
    staged: str = "",
) -> Staged:
    """The bytes put durably aside, with the mode, owner and attributes of the file they will replace.

    `data=None` stages a deletion. `expect` is the hash the file must have; None takes the one it has now.
    `staged` is a name from `name_aside` that a journal already carries.
    """
    before = hash_at(root, path) if expect is None else expect
    staged = staged or name_aside(root, path)
    if data is None:
        return Staged(path=path, before=before, after="", staged=staged)
    parent, leaf = root.open_parent(staged, create=True, mode=0o700)
    try:
        fd = os.open(
            leaf, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=parent
        )
        try:
            _copy_attributes(root, path, fd, mode)
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        except BaseException:
            os.unlink(leaf, dir_fd=parent)
            raise
        finally:
            os.close(fd)
    finally:
        os.close(parent)
    return Staged(path=path, before=before, after=sha256(data).hexdigest(), staged=staged)


def commit(
    root: Root,
    items: Sequence[Staged],
    *,
    locks: str = LOCKS,
    known: Known | None = None,
    swap: Swap | None = None,
) -> None:
    """Makes every change or none: STALE_FILE when a file no longer holds what its change was made for.

    The displaced bytes stay staged until `forget`. `known` finds bytes by hash, to show what changed.
    """
    swap = swap or exchange
    paths = [item.path for item in items]
    if len(set(paths)) != len(paths):
        raise ValueError("a path is staged twice")
    made: list[str] = []
    with Locks(root, paths, locks):
        try:
            waiting = [item for item in items if _must_apply(root, item)]
            _apply_all(root, waiting, swap, made)
        except StaleError as stale:
            raise _tell_stale(root, stale, known) from None
    sync_parents(root, (*paths, *made))


def roll_forward(root: Root, items: Sequence[Staged], *, locks: str = LOCKS, swap: Swap | None = None) -> str:
    """Finishes changes whose process died: `forward` if each is staged or already made, else all `back`."""
    swap = swap or exchange
    with Locks(root, [item.path for item in items], locks):
        states = {item.path: judge(root, item) for item in items}
        direction = "back"
        if all(state in ("pending", "applied") for state in states.values()):
            try:
                _apply_all(root, [item for item in items if states[item.path] == "pending"], swap, [])
                direction = "forward"
            except StaleError:
                pass  # an editor was faster: what was applied has been undone, the rest follows
        if direction == "back":
            _undo_all(root, items, swap)
    sync_parents(root, [item.path for item in items])
    return direction


def roll_back(
    root: Root, items: Sequence[Staged], *, locks: str = LOCKS, swap: Swap | None = None
) -> list[str]:
    """Undoes changes, made or half made; the paths returned were changed by someone since and left alone."""
    with Locks(root, [item.path for item in items], locks):
        left = _undo_all(root, items, swap or exchange)
    sync_parents(root, [item.path for item in items])
    return left


def forget(root: Root, items: Iterable[Staged]) -> None:
    """Drops what was kept for undoing. Harmless to repeat."""
    for item in items:
        # INVARIANT: only what `stage` could have named is removed, whatever a journal says.
        folder, _, leaf = item.staged.rpartition("/")
        if folder != STAGE and not leaf.startswith(BESIDE):
            raise TetherError("SECURITY_VIOLATION", f"`{item.staged}` is not a staged file")
        try:
            parent, leaf = root.open_parent(item.staged)
        except TetherError as error:
            if error.code != "NOT_FOUND":
                raise
            continue
        try:
            for name in (leaf, leaf + ".old"):
                try:
                    os.unlink(name, dir_fd=parent)
                except FileNotFoundError:
                    pass  # nothing was displaced, or it was forgotten before
        finally:
            os.close(parent)


def discard_orphans(root: Root, keep: Iterable[str], age: float = ORPHAN_AGE) -> list[str]:
    """Removes staged files that no journal entry in `keep` names and that are too old to be under way."""
    try:
        folder, _ = root.open_parent(f"{STAGE}/x")
    except TetherError as error:
        if error.code != "NOT_FOUND":
            raise
        return []
    named = frozenset(keep)
    removed = []
    try:
        for name in sorted(os.listdir(folder)):
            about = os.stat(name, dir_fd=folder, follow_symlinks=False)
            path = f"{STAGE}/{name}"
            if path.removesuffix(".old") not in named and about.st_ctime < time.time() - age:
                os.unlink(name, dir_fd=folder)
                removed.append(path)
    finally:
        os.close(folder)
    return removed


def sync_parents(root: Root, paths: Iterable[str]) -> None:
    """Makes renames durable: fsyncs each directory that still exists once."""
    for parent in {path.rpartition("/")[0] for path in paths}:
        try:
            fd, _ = root.open_parent(f"{parent}/x" if parent else "x")
        except TetherError:
            continue  # gone with its last file
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def name_aside(root: Root, path: str) -> str:
    """A fresh name on the same file system as `path`: only there can names be exchanged."""
    above = path.split("/")[:-1]
    while True:
        fd = -1
        try:
            fd, _ = root.open_parent("/".join((*above, "x")))
            device = os.fstat(fd).st_dev
            break
        except TetherError as error:
            if error.code != "NOT_FOUND":
                raise
            above.pop()
        finally:
            if fd >= 0:
                os.close(fd)
    token = os.urandom(12).hex()
    fd, _ = root.open_parent(f"{STAGE}/x", create=True, mode=0o700)
    try:
        if os.fstat(fd).st_dev == device:
            return f"{STAGE}/{token}"
    finally:
        os.close(fd)
    return "/".join((*above, BESIDE + token))


def _copy_attributes(root: Root, path: str, fd: int, mode: int | None) -> None:
    """The staged file gets the mode, owner, group and extended attributes of the one it replaces."""
    old = _open_old(root, path)
    if old is None:
        if mode is not None:
            os.fchmod(fd, mode & 0o777)
        return
    try:
        was = os.fstat(old)
        now = os.fstat(fd)
        if (was.st_uid, was.st_gid) != (now.st_uid, now.st_gid):
            # Only root may give files away; otherwise the writer owns what it wrote.
            _try(os.fchown, fd, was.st_uid, was.st_gid)
        # Set-user-id bits are not passed on to new bytes, as when a file is written in place.
        os.fchmod(fd, (was.st_mode if mode is None else mode) & 0o777)
        if hasattr(os, "listxattr"):
            for name in _try(os.listxattr, old) or ():
                value = _try(os.getxattr, old, name)
                if value is not None:
                    _try(os.setxattr, fd, name, value)
    finally:
        os.close(old)


def _open_old(root: Root, path: str) -> int | None:
    try:
        parent, leaf = root.open_parent(path)
    except TetherError:
        return None  # its directory does not exist yet
    try:
        return os.open(leaf, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    except OSError:
        return None  # absent, or nothing whose attributes matter: the compare at commit decides
    finally:
        os.close(parent)


def _try(call: Callable[..., Any], *args: Any) -> Any:
    """An attribute the file system or the user's rights do not allow is not worth losing a write for."""
    try:
        return call(*args)
    except OSError:
        return None


def _must_apply(root: Root, item: Staged) -> bool:
    if judge(root, item) == "pending":
        return True
    if is_settled(root, item):
        return False  # a recovery finished it first
    found = hash_at(root, item.path)
    if found == item.before and item.after:
        raise TetherError(
            "STORE_CORRUPT",
            f"the bytes staged for `{item.path}` are gone or altered; nothing was changed",
            action="Retry the call",
        )
    raise StaleError(item, found)


def _apply_all(root: Root, items: Sequence[Staged], swap: Swap, made: list[str]) -> None:
    done: list[Staged] = []
    try:
        for item in items:
            apply(root, item, swap, made)
            done.append(item)
    except BaseException:
        _undo_all(root, done, swap)
        _remove_empty(root, made)
        raise


def _undo_all(root: Root, items: Sequence[Staged], swap: Swap) -> list[str]:
    return [item.path for item in reversed(items) if not undo(root, item, swap)]


def _remove_empty(root: Root, made: list[str]) -> None:
    """Takes back the directories a failed commit created, innermost first, unless something else moved in."""
    while made:
        parent, leaf = root.open_parent(made.pop())
        try:
            os.rmdir(leaf, dir_fd=parent)
        except OSError:
            pass  # not empty any more, so no longer ours
        finally:
            os.close(parent)


def _tell_stale(root: Root, stale: StaleError, known: Known | None) -> TetherError:
    item = stale.item
    what = "is gone" if not stale.found else "exists already" if not item.before else "has changed"
    message = f"`{item.path}` {what} since it was read"
    data: dict[str, Any] = {"path": item.path, "expected": item.before, "found": stale.found}
    old = known(item.before) if known and item.before else None
    if old is not None and stale.found and not stale.found.startswith("!"):
        diff = _show_change(old, root.read(item.path, follow=False)[0])
        if diff:
            data["diff"] = diff
    return TetherError("STALE_FILE", message, **data)


def _show_change(old: bytes, new: bytes) -> str:
    from difflib import unified_diff

    try:
        was, now = old.decode().splitlines(), new.decode().splitlines()
    except UnicodeDecodeError:
        return ""
    lines = list(unified_diff(was, now, "as you read it", "as it is now", lineterm="", n=1))
    cut = [f"… {len(lines) - DIFF_LINES} more lines"] if len(lines) > DIFF_LINES else []
    return "\n".join(lines[:DIFF_LINES] + cut)

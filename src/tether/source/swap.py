"""One file's change: what state it is in, making it, undoing it. Callers hold the path's lock. HOOK PATH."""

from __future__ import annotations

import errno
import functools
import os
import stat
import sys

from tether.errors import TetherError
from tether.source.root import Root
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Swap = Callable[[int, str, int, str], bool]

_NO_SWAP = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
_NO_LINK = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


@noun
class Staged:
    """One file's change, ready to be made. `staged` holds the new bytes before, the displaced ones after."""

    path: str  # canonical, root-relative
    before: str  # sha256 hex the file must have; "" = absent
    after: str  # sha256 hex it will have; "" = deleted
    staged: str  # canonical, root-relative


class StaleError(Exception):
    """The file does not hold what its change was made for; it has been left, or put back, as it was."""

    def __init__(self, item: Staged, found: str) -> None:
        super().__init__(item.path)
        self.item = item
        self.found = found


class _Ends:
    """The two names of a change and their directories, held open together."""

    def __init__(self, root: Root, item: Staged, made: list[str] | None = None) -> None:
        self.a_dir, self.a = root.open_parent(item.staged)
        try:
            self.b_dir, self.b = root.open_parent(item.path, create=made is not None, made=made)
        except BaseException:
            os.close(self.a_dir)
            raise

    def __enter__(self) -> _Ends:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.a_dir)
        os.close(self.b_dir)


def hash_at(root: Root, path: str) -> str:
    """The sha256 of a canonical path's bytes, "" when absent, `!problem` when it is no regular file."""
    spot = root.look(path, follow=False)
    if spot.problem:
        return f"!{spot.problem}"
    return "!dir" if spot.kind == "dir" else spot.hash


def judge(root: Root, item: Staged) -> str:
    """How far a change got: pending | applied | clobbered | astray.

    `clobbered`: made over bytes it was not made for, so to be undone. `astray`: not made, and cannot be now.
    Either name alone may have been changed by someone else since; the other one tells.
    """
    here = hash_at(root, item.path)
    held = _held(root, item)
    if item.before == item.after:  # only the mode changes
        return "astray" if here != item.after else "pending" if held else "applied"
    if not item.before:
        if held != item.after:
            return "applied" if here and not held else "astray"
        return "pending" if not here else "applied" if _same_file(root, item.path, item.staged) else "astray"
    if held == item.before:
        return "applied"
    if held == item.after:  # "" for a deletion: nothing displaced yet
        return "pending" if here == item.before else "applied" if here == held == "" else "astray"
    if held:
        return "clobbered" if here == item.after else "astray"
    return "astray" if here == item.before else "applied"


def is_settled(root: Root, item: Staged) -> bool:
    """Whether the change was certainly made: a recovery may be faster than the change's own process."""
    if judge(root, item) != "applied":
        return False
    displaced = item.before != "" and _held(root, item) == item.before
    return displaced or (item.after != "" and hash_at(root, item.path) == item.after)


def apply(root: Root, item: Staged, swap: Swap, made: list[str]) -> None:
    """Makes a pending change, or leaves everything as it was and raises StaleError."""
    if item.before == item.after:
        with _Ends(root, item) as ends:
            os.rename(ends.a, ends.b, src_dir_fd=ends.a_dir, dst_dir_fd=ends.b_dir)
        return
    with _Ends(root, item, made) as ends:
        try:
            if not item.before:
                if not _link(ends.a_dir, ends.a, ends.b_dir, ends.b):
                    raise StaleError(item, hash_at(root, item.path))
                _unlink(ends.a_dir, ends.a)
            elif not item.after:
                os.rename(ends.b, ends.a, src_dir_fd=ends.b_dir, dst_dir_fd=ends.a_dir)
                found = hash_at(root, item.staged)
                if found != item.before:
                    _put_back(ends)
                    raise StaleError(item, found)
            else:
                _trade(ends, swap)
                found = hash_at(root, item.staged)
                if found != item.before:
                    _trade_back(root, item.staged, item.after, ends, swap)
                    raise StaleError(item, found)
        except FileNotFoundError as error:
            raise StaleError(item, hash_at(root, item.path)) from error


def undo(root: Root, item: Staged, swap: Swap) -> bool:
    """Takes a made change back; False when someone has changed the file since, and it is left alone."""
    state = judge(root, item)
    if state in ("pending", "astray") or item.before == item.after:
        return True
    here = hash_at(root, item.path)
    if here != item.after:
        return False
    _recover_old(root, item)
    with _Ends(root, item, made=[]) as ends:
        try:
            if not item.before:
                _unlink(ends.a_dir, ends.a)
                os.rename(ends.b, ends.a, src_dir_fd=ends.b_dir, dst_dir_fd=ends.a_dir)
                if hash_at(root, item.staged) != item.after:
                    _put_back(ends)
                    return False
            elif not item.after:
                return _put_back(ends)
            else:
                _trade(ends, swap)
                if hash_at(root, item.staged) != item.after:
                    _trade_back(root, item.staged, item.before, ends, swap)
                    return False
        except FileNotFoundError:
            return False
    return True


def exchange(a_dir: int, a: str, b_dir: int, b: str) -> bool:
    """Two files trade names in one step; False where the system has no such call."""
    call = _find_exchange()
    if call is None:
        return False
    import ctypes

    if call(a_dir, os.fsencode(a), b_dir, os.fsencode(b), 2) == 0:
        return True
    code = ctypes.get_errno()
    if code in _NO_SWAP:
        return False
    raise OSError(code, os.strerror(code), b)


@functools.cache
def _find_exchange() -> Callable[..., int] | None:
    import ctypes

    name = {"linux": "renameat2", "darwin": "renameatx_np"}.get(sys.platform)
    call = getattr(ctypes.CDLL(None, use_errno=True), name, None) if name else None
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call


def _trade(ends: _Ends, swap: Swap) -> None:
    """The staged and the real file trade places; without an exchange call, through a third name."""
    if swap(ends.a_dir, ends.a, ends.b_dir, ends.b):
        return
    old = ends.a + ".old"
    _unlink(ends.a_dir, old)
    if not _link(ends.b_dir, ends.b, ends.a_dir, old):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), old)
    os.rename(ends.a, ends.b, src_dir_fd=ends.a_dir, dst_dir_fd=ends.b_dir)
    os.rename(old, ends.a, src_dir_fd=ends.a_dir, dst_dir_fd=ends.a_dir)


def _trade_back(root: Root, staged: str, own: str, ends: _Ends, swap: Swap) -> None:
    """Undoes a trade that displaced another's bytes, but never revives them over what was written since."""
    _trade(ends, swap)
    if hash_at(root, staged) != own:
        _trade(ends, swap)


def _held(root: Root, item: Staged) -> str:
    """The hash of what the staged name holds, or of what an unfinished trade left under its third name."""
    held = hash_at(root, item.staged)
    return held or (hash_at(root, item.staged + ".old") if item.before and item.after else "")


def _recover_old(root: Root, item: Staged) -> None:
    """Finishes the last step of a trade that died before its third name was renamed."""
    if hash_at(root, item.staged) or not (item.before and item.after):
        return
    folder, leaf = root.open_parent(item.staged)
    try:
        os.rename(leaf + ".old", leaf, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        pass  # nothing was displaced
    finally:
        os.close(folder)


def _put_back(ends: _Ends) -> bool:
    """Gives displaced bytes their name again, unless someone took it meanwhile."""
    if stat.S_ISDIR(os.stat(ends.a, dir_fd=ends.a_dir, follow_symlinks=False).st_mode):
        os.rename(ends.a, ends.b, src_dir_fd=ends.a_dir, dst_dir_fd=ends.b_dir)
        return True
    if not _link(ends.a_dir, ends.a, ends.b_dir, ends.b):
        return False
    _unlink(ends.a_dir, ends.a)
    return True


def _link(a_dir: int, a: str, b_dir: int, b: str) -> bool:
    """A second name for a file; False if it is taken. Where links are not supported, the file moves there."""
    try:
        os.link(a, b, src_dir_fd=a_dir, dst_dir_fd=b_dir, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
        try:
            os.close(os.open(b, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600, dir_fd=b_dir))
        except FileExistsError:
            return False
        os.rename(a, b, src_dir_fd=a_dir, dst_dir_fd=b_dir)
    return True


def _unlink(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass  # already gone


def _same_file(root: Root, one: str, other: str) -> bool:
    found = []
    for path in (one, other):
        try:
            folder, leaf = root.open_parent(path)
        except TetherError:
            return False
        try:
            found.append(os.stat(leaf, dir_fd=folder, follow_symlinks=False))
        except OSError:
            return False
        finally:
            os.close(folder)
    return os.path.samestat(found[0], found[1])

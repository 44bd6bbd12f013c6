"""One file put back as a sweep found it, unless someone has changed it again."""

from __future__ import annotations

import os
import stat

from tether.errors import TetherError
from tether.source import staging
from tether.source.names import find_fault
from tether.source.sweep import hash_entry, look, open_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.source.root import Root
    from tether.source.sweep import Delta, Signature


def put_back(root: Root, was: Signature | None, data: bytes | None, delta: Delta) -> None:
    """Removes what was created, rewrites what was changed or deleted, mode included."""
    now = look(root, delta.path)
    if delta.kind == "created":
        if now is not None:
            _expect_unchanged(root, delta, now)
            _remove(root, delta.path)
        return
    if data is None or was is None:
        raise TetherError("NOT_FOUND", f"the old bytes of `{delta.path}` were not kept", path=delta.path)
    if now is not None:
        _expect_unchanged(root, delta, now)
    elif delta.after != "":
        raise TetherError("STALE_FILE", f"`{delta.path}` is gone since", path=delta.path)
    if stat.S_ISLNK(was[4]):
        _relink(root, delta.path, os.fsdecode(data), now)
        return
    if now is not None and not stat.S_ISREG(now[4]):
        _remove(root, delta.path)
        now = None
    expect = "" if now is None else delta.after
    item = staging.stage(root, delta.path, data, expect=expect, mode=stat.S_IMODE(was[4]))
    try:
        staging.commit(root, [item])
    finally:
        staging.forget(root, [item])


def _expect_unchanged(root: Root, delta: Delta, now: Signature) -> None:
    if stat.S_ISDIR(now[4]) or hash_entry(root, delta.path, now) != delta.after:
        raise TetherError("STALE_FILE", f"`{delta.path}` has changed again since", path=delta.path)


def _remove(root: Root, path: str) -> None:
    """A regular file goes by compare-and-rename; a link, or a name no agent could give, goes at once."""
    honest = not any(find_fault(name, root.protected)[0] for name in path.split("/"))
    now = look(root, path)
    if honest and now is not None and stat.S_ISREG(now[4]):
        item = staging.stage(root, path, None)
        staging.commit(root, [item])
        staging.forget(root, [item])
        return
    folder = open_folder(root, path)
    if folder is None:
        return
    try:
        os.unlink(path.rpartition("/")[2], dir_fd=folder)
    except FileNotFoundError:
        pass  # someone else removed it: the same result
    finally:
        os.close(folder)


def _relink(root: Root, path: str, target: str, now: Signature | None) -> None:
    if now is not None:
        _remove(root, path)
    folder, leaf = root.open_parent(path, create=True)
    try:
        os.symlink(target, leaf, dir_fd=folder)
    finally:
        os.close(folder)

"""Whether the index still speaks of the tree: by stat for all of it, by hash for what is answered."""

from __future__ import annotations

import math
import os
import time
from typing import Final

from tether.index.reading import SetAsideError, read_bytes
from tether.index.store import FileRow, Store
from tether.source.root import Root
from tether.types import noun

HALF_STALE: Final = 0.5
DAY: Final = 86_400


@noun
class Changes:
    """What differs between the index and the tree."""

    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()  # in which files appeared or went

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone or self.folders)


def find_changes(root: Root, store: Store) -> Changes:
    """Compare sizes and times of all that is indexed with the tree, reading no file."""
    changed, gone, folders = [], [], []
    look, fd = os.stat, root.fd
    for path, size, mtime in store.db.execute("SELECT path, size, mtime_ns FROM file"):
        try:
            about = look(path, dir_fd=fd, follow_symlinks=False)
        except OSError:
            gone.append(path)
            continue
        if about.st_size != size or about.st_mtime_ns != mtime:
            changed.append(path)
    for path, mtime in store.db.execute("SELECT path, mtime_ns FROM folder"):
        try:
            if look(path or ".", dir_fd=fd, follow_symlinks=False).st_mtime_ns != mtime:
                folders.append(path)
        except OSError:
            folders.append(path)
    return Changes(tuple(changed), tuple(gone), tuple(folders))


def is_fresh(root: Root, row: FileRow) -> bool:
    """Whether a file on disk still has the content that was indexed."""
    try:
        about = os.stat(row.path, dir_fd=root.fd, follow_symlinks=False)
    except OSError:
        return False
    if row.mtime_ns and (about.st_size, about.st_mtime_ns) == (row.size, row.mtime_ns):
        return True
    try:
        return read_bytes(root, row.path)[1] == row.hash
    except SetAsideError:
        return False


def days_old(row: FileRow, now: float | None = None) -> float:
    """Days since the source file was last modified, as far as the index knows."""
    modified = row.mtime_ns / 1e9 or row.created_at
    return max(0.0, ((time.time() if now is None else now) - modified) / DAY)


def decay(days: float) -> float:
    """e^(-days / 30)."""
    return math.exp(-days / 30)

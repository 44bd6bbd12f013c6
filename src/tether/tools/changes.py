"""What a verb wants done to files, as data; the gate stages, records and commits it."""

from __future__ import annotations

import os
import stat
from typing import Protocol

from tether.errors import TetherError
from tether.source import staging
from tether.source.root import Root
from tether.source.swap import Staged
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


@noun
class FileChange:
    """These bytes go there. `data` None deletes the file."""

    path: str  # canonical, root-relative
    data: bytes | None
    expect: str | None = None  # hash the file must have; "" = absent; None = the one that was decided upon
    mode: int | None = None  # None keeps the mode of the file replaced
    moved_from: str = ""


class Context(Protocol):
    """What a running verb may ask of whoever runs it."""

    def commit(self, changes: Sequence[FileChange]) -> None:
        """Makes all the changes or none; STALE_FILE when a file is not what was expected."""

    def remember(self, path: str, sha: str) -> None:
        """Notes the content the caller is being shown, for its later writes to be checked against."""

    def emit(self, text: str) -> None:
        """Passes progress on to whoever watches."""

    def cancelled(self) -> bool:
        """Whether the caller has given up; long work asks often and ends at once."""


class Direct:
    """A context that commits at once, with no decision and no record: for trying verbs on their own."""

    def __init__(self, root: Root) -> None:
        self.root = root
        self.emitted: list[str] = []
        self.seen: dict[str, str] = {}

    def commit(self, changes: Sequence[FileChange]) -> None:
        apply(self.root, changes)

    def remember(self, path: str, sha: str) -> None:
        self.seen[path] = sha

    def emit(self, text: str) -> None:
        self.emitted.append(text)

    def cancelled(self) -> bool:
        return False


def apply(root: Root, changes: Sequence[FileChange]) -> None:
    """Stages and commits the changes, all or none, and keeps nothing to undo them by."""
    staged: list[Staged] = []
    try:
        staged.extend(
            staging.stage(root, change.path, change.data, expect=change.expect, mode=change.mode)
            for change in changes
        )
        staging.commit(root, staged)
    finally:
        staging.forget(root, staged)


def expect_present(path: str, kind: str) -> None:
    """Raises unless a verb that needs an existing regular file has one."""
    if kind == "dir":
        raise TetherError("NOT_A_FILE", f"`{path}` is a directory", path=path)
    if kind != "file":
        raise TetherError("NOT_FOUND", f"`{path}` does not exist", path=path)


def mode_of(root: Root, path: str) -> int | None:
    """The permission bits of a canonical path; None when there is nothing."""
    parent, leaf = root.open_parent(path)
    try:
        return stat.S_IMODE(os.stat(leaf, dir_fd=parent, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return None
    finally:
        os.close(parent)

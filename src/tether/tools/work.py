"""What a running verb may use: files change only through `commit`, and what it saw and did is kept."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tether.errors import TetherError
from tether.source.staging import commit, forget, stage
from tether.types import Change

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    from tether.admit import Verdict
    from tether.project import Project
    from tether.source.swap import Staged
    from tether.tools.changes import FileChange
    from tether.types import Call


class Work:
    """One admitted call being done."""

    def __init__(
        self,
        project: Project,
        call: Call,
        verdict: Verdict,
        emit: Callable[[str], None],
        until: float | None,
        stop: threading.Event,
    ) -> None:
        self.project = project
        self.root = project.root
        self.call = call
        self.verdict = verdict
        self.emit = emit
        self.until = until
        self.saw: dict[str, str] = {}
        self.changes: list[Change] = []
        self.notes: list[str] = []
        self.findings: list[dict[str, Any]] = []
        self.outside: list[str] = []
        self._staged: list[Staged] = []
        self._stop = stop

    def cancelled(self) -> bool:
        """Whether whoever asked no longer waits, or the deadline has passed."""
        return self._stop.is_set() or (self.until is not None and time.monotonic() > self.until)

    def late(self) -> bool:
        """Whether it is the deadline that ends the call, and not whoever asked."""
        return not self._stop.is_set() and self.until is not None and time.monotonic() > self.until

    def commit(self, changes: Sequence[FileChange]) -> None:
        """Makes all changes or none, exactly those that were admitted, on exactly the contents that were judged."""
        planned = {write.path: write for write in self.verdict.writes}
        for change in changes:
            if change.path not in planned:
                # INVARIANT: nothing is done that was not decided
                raise TetherError("SECURITY_VIOLATION", f"`{change.path}` was not among the admitted writes")
        if self.cancelled():
            raise TetherError("CANCELLED", "the call was cancelled before it changed anything")
        for change in changes:
            write = planned[change.path]
            # the bytes were made for one content; if another was judged, the comparison refuses both
            expect = write.before if change.expect is None else change.expect
            self._staged.append(
                stage(
                    self.root, change.path, change.data, expect=expect, mode=change.mode, staged=write.staged
                )
            )
        commit(self.root, self._staged, known=self.project.contents.get)
        made = {item.path: item for item in self._staged}
        moved = {change.moved_from for change in changes if change.moved_from}
        for change in changes:
            item = made[change.path]
            if change.data is not None:
                self.project.contents.put(change.data)
            if change.moved_from:
                self.changes.append(
                    Change(
                        item.path, made[change.moved_from].before, item.after, moved_from=change.moved_from
                    )
                )
            elif item.path not in moved:
                self.changes.append(Change(item.path, item.before, item.after))

    def remember(self, path: str, sha: str) -> None:
        """Notes the content the caller is being shown."""
        self.saw[path] = sha

    def forget(self) -> None:
        """Lets go of the displaced bytes, once what happened is written down."""
        forget(self.root, self._staged)

"""Keep the index at the tree's heels: changes settle for half a second, then only what differs is indexed."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from tether.index.code import CodeIndex
from tether.index.freshness import Changes
from tether.index.indexer import BATCH, list_files
from tether.index.vectors import RETRY_SECONDS
from tether.types import noun

DEBOUNCE_MS: Final = 500
MANY: Final = 50  # more changes than this are indexed in batches
RULES: Final = frozenset({".gitignore", ".tetherignore", ".ignore"})


@noun
class Event:
    """One file followed. kind: file_reindexed | file_dropped."""

    kind: str
    path: str
    milliseconds: float = 0.0


class Watcher:
    """Turns raw changes of a tree into an up-to-date index. It holds the lease while it lives."""

    def __init__(self, index: CodeIndex) -> None:
        self.index = index
        self._open: frozenset[str] = frozenset()
        self._ignored: set[str] = set()  # folders in which nothing of ours was found
        self._embedded = -float(RETRY_SECONDS)

    def mark_open(self, paths: Iterable[str]) -> None:
        """The files an editor has open: they are indexed first."""
        self._open = frozenset(paths)

    def follow(self, paths: Iterable[str]) -> Iterator[Event]:
        """Index these changed paths, root-relative; events come as the work is committed."""
        store = self.index.store()
        if store is None:
            self.index.index()
            return
        known = store.known()
        changed: list[str] = []
        gone: list[str] = []
        strange: list[str] = []
        for path in dict.fromkeys(paths):
            if self._is_foreign(path):
                continue
            full = os.path.join(self.index.root.path, path)
            if path.rsplit("/", 1)[-1] in RULES:
                yield from self._resettle()
                return
            if path in known:
                (changed if os.path.isfile(full) else gone).append(path)
            elif os.path.isdir(full) and not os.path.islink(full):
                strange.append(path)  # a whole folder came, perhaps by a rename
            elif os.path.isfile(full):
                if path.rpartition("/")[0] not in self._ignored:
                    strange.append(path)
            else:
                prefix = path + "/"
                gone += [name for name in known if name.startswith(prefix)]
        changed += self._admit(strange, known)
        yield from self._apply(changed, gone)

    def _is_foreign(self, path: str) -> bool:
        parts = path.split("/")
        skipped = {name.strip("/") for name in self.index.exclude} | {".git"}
        return any(part in skipped for part in parts) or path.startswith(".tether/local/")

    def _admit(self, strange: Sequence[str], known: dict[str, tuple[int, int, str]]) -> list[str]:
        """Those of the unknown paths that no rule ignores, folders unfolded."""
        if not strange:
            return []
        wanted = set(strange)
        prefixes = tuple(path + "/" for path in strange)
        found = [
            entry.path
            for entry in list_files(self.index.root.path, self.index.exclude)
            if entry.reason is None and (entry.path in wanted or entry.path.startswith(prefixes))
        ]
        homes = {path.rpartition("/")[0] for path in (*found, *known)}
        self._ignored.update(
            path.rpartition("/")[0] for path in strange if path.rpartition("/")[0] not in homes
        )
        self._ignored.difference_update(homes)
        return [path for path in found if path not in known]

    def _resettle(self) -> Iterator[Event]:
        """The rules changed: what is ours is asked anew."""
        self._ignored.clear()
        began = time.perf_counter()
        report = self.index.index()
        self.index.lease.take(wait=5.0)
        spent = (time.perf_counter() - began) * 1000 / max(1, len(report.indexed) + len(report.gone))
        for path in report.indexed:
            yield Event("file_reindexed", path, spent)
        for path in report.gone:
            yield Event("file_dropped", path, spent)

    def _apply(self, changed: list[str], gone: list[str]) -> Iterator[Event]:
        changed.sort(key=lambda path: (path not in self._open, path))
        size = BATCH if len(changed) + len(gone) > MANY else max(1, len(changed))
        for at in range(0, max(1, len(changed)), size):
            batch = changed[at : at + size]
            if not batch and not gone:
                return
            began = time.perf_counter()
            report = self.index.apply(Changes(changed=tuple(batch), gone=tuple(gone)))
            gone = []
            spent = (time.perf_counter() - began) * 1000 / max(1, len(batch))
            for path in report.indexed:
                yield Event("file_reindexed", path, spent)
            for path in report.gone:
                yield Event("file_dropped", path)

    def embed(self, changed: bool, now: float | None = None) -> bool:
        """Fill in vectors after a change, and every five minutes for what could not be embedded before."""
        semantic, store = self.index.semantic, self.index.store()
        if semantic is None or store is None:
            return False
        at = time.monotonic() if now is None else now
        if not changed and at - self._embedded < RETRY_SECONDS:
            return False
        self._embedded = at
        semantic.fill(store)
        return True


def watch(index: CodeIndex, *, stop: threading.Event | None = None) -> Iterator[Event]:
    """Follow the tree until stopped. Waits for the lease: one process watches, others only read."""
    import watchfiles

    stop = stop or threading.Event()
    watcher = Watcher(index)
    while not index.lease.take(wait=0.5):
        if stop.is_set():
            return
    index.watched = True
    base = index.root.path
    try:
        # What changed between the last indexing and the first event is caught by a look of our own.
        index.index()
        index.lease.take(wait=5.0)
        for changes in watchfiles.watch(
            base,
            debounce=DEBOUNCE_MS,
            step=50,
            stop_event=stop,
            watch_filter=None,
            rust_timeout=5_000,
            yield_on_timeout=True,
        ):
            if changes:
                yield from watcher.follow(os.path.relpath(path, base) for _, path in sorted(changes))
            watcher.embed(bool(changes))
    finally:
        index.watched = False
        index.lease.release()

"""Bringing the index up to the tree: only what changed is read, only what differs is parsed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from tether.index.reading import SetAsideError, read_file, settle_mtime
from tether.index.store import DamagedIndexError, NewFile, Store, destroy
from tether.index.terms import Lexicon
from tether.source.root import Root
from tether.source.walk import DEFAULT_EXCLUDED, Found, walk
from tether.types import noun

FLUSH_TERMS: Final = 800_000  # postings gathered before they are written: bounds the memory
BATCH: Final = 10  # files of a change that are committed together when many change at once


@noun
class Progress:
    """How far indexing has come."""

    done: int
    total: int
    path: str
    seconds: float

    @property
    def rate(self) -> float:
        """Files a second."""
        return self.done / self.seconds if self.seconds else 0.0

    @property
    def left(self) -> float:
        """Seconds still to go at this rate."""
        return (self.total - self.done) / self.rate if self.rate else 0.0


@noun
class Report:
    """What a run changed."""

    total: int = 0  # files in the index now
    indexed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    touched: int = 0
    aside: dict[str, int] = {}  # noqa: RUF012
    unparsed: tuple[tuple[str, str], ...] = ()  # path and reason, for files indexed without a syntax tree
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


Listen = Callable[[Progress], None]


def open_store(folder: str) -> tuple[Store, str]:
    """The store of a folder, made anew where it is damaged or of another version, and what was wrong with it.

    Only the holder of the lease may call this.
    """
    try:
        return Store(folder, create=True), ""
    except DamagedIndexError as error:
        destroy(folder)
        return Store(folder, create=True), f"the index was damaged and is made again: {error}"


def list_files(root: str, exclude: Sequence[str] = DEFAULT_EXCLUDED) -> Iterator[Found]:
    """The files of a tree that may be indexed, and those set aside by name and size alone."""
    return walk(root, exclude=exclude, read=False)


def bring_up(
    root: Root,
    store: Store,
    lexicon: Lexicon,
    *,
    exclude: Sequence[str] = DEFAULT_EXCLUDED,
    listen: Listen | None = None,
) -> Report:
    """Walk the tree and index what is new or differs. Interrupted, it keeps what was committed."""
    began = time.monotonic()
    store.sweep()
    known = store.known()
    present: dict[str, Found] = {}
    aside: dict[str, str] = {}
    for found in list_files(root.path, exclude):
        if found.reason is None and _storable(found.path):
            present[found.path] = found
        else:
            aside[found.path] = found.reason or "bad_name"
    gone = [path for path in known if path not in present]
    suspects = [f for f in present.values() if known.get(f.path, (0, 0, ""))[:2] != (f.size, f.mtime_ns)]
    report = update(
        root, store, lexicon, [f.path for f in suspects], gone=gone, listen=listen, aside=aside, began=began
    )
    with store.transaction():
        _keep_folders(root, store, present, exclude)
        store.write_meta("last_indexed_at", str(time.time()))
        store.write_meta("complete", "1")
    store.merge()
    return report


def update(
    root: Root,
    store: Store,
    lexicon: Lexicon,
    paths: Sequence[str],
    *,
    gone: Iterable[str] = (),
    listen: Listen | None = None,
    aside: dict[str, str] | None = None,
    began: float | None = None,
    batch: int = 0,
) -> Report:
    """Index these paths as they are on disk now; what cannot be read or is no text any more is dropped."""
    began = time.monotonic() if began is None else began
    ready: list[NewFile] = []
    dropped = list(gone)
    indexed: list[str] = []
    unparsed: list[tuple[str, str]] = []
    touched = 0
    weight = 0
    put_aside: dict[str, str] = dict(aside or {})

    def flush() -> None:
        nonlocal weight
        if ready or dropped:
            store.put(ready, dropped)
        indexed.extend(file.path for file in ready)
        ready.clear()
        dropped_all.extend(dropped)
        dropped.clear()
        weight = 0

    dropped_all: list[str] = []
    for number, path in enumerate(paths, 1):
        row = store.file(path)
        try:
            new = read_file(root, path, lexicon, known_hash=row.hash if row else "")
        except SetAsideError as refusal:
            put_aside[path] = refusal.reason
            if row is not None:
                dropped.append(path)
            new = None
        else:
            if new is None and row is not None:
                touched += 1
                _touch(root, store, path)
        if new is not None:
            ready.append(new)
            weight += 2 * sum(map(len, new.terms))
            if new.note:
                unparsed.append((path, new.note))
        if weight > FLUSH_TERMS or (batch and len(ready) >= batch):
            flush()
        if listen is not None:
            listen(Progress(number, len(paths), path, time.monotonic() - began))
    flush()
    with store.transaction():
        if aside is not None:
            store.db.execute("DELETE FROM aside")
        store.db.executemany("INSERT OR REPLACE INTO aside VALUES(?, ?)", _printable(put_aside.items()))
        store.db.executemany("DELETE FROM aside WHERE path = ?", ((path,) for path in indexed))
    reasons: dict[str, int] = {}
    for reason in put_aside.values():
        reasons[reason] = reasons.get(reason, 0) + 1
    return Report(
        total=store.total_files(),
        indexed=tuple(indexed),
        gone=tuple(dropped_all),
        touched=touched,
        aside=reasons,
        unparsed=tuple(unparsed),
        seconds=time.monotonic() - began,
    )


def _touch(root: Root, store: Store, path: str) -> None:
    try:
        about = os.stat(path, dir_fd=root.fd, follow_symlinks=False)
    except OSError:
        return  # gone since: the next look will see it
    store.touch(path, about.st_size, settle_mtime(about))


def _storable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printable(items: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for path, reason in items:
        yield path.encode("utf-8", "backslashreplace").decode(), reason


def _keep_folders(root: Root, store: Store, present: Iterable[str], exclude: Sequence[str]) -> None:
    """Remember when each folder last changed: a new or removed file shows there without walking the tree."""
    folders = {""}
    for path in present:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    skipped = {name.strip("/") for name in exclude} | {".git", ".tether"}
    rows: dict[str, int] = {}
    for folder in folders:
        try:
            rows[folder] = os.stat(folder or ".", dir_fd=root.fd, follow_symlinks=False).st_mtime_ns
            with os.scandir(os.path.join(root.path, folder)) as entries:
                # A folder without a file of ours may get one: it is watched too.
                for entry in entries:
                    path = f"{folder}/{entry.name}" if folder else entry.name
                    if (
                        entry.name not in skipped
                        and path not in folders
                        and entry.is_dir(follow_symlinks=False)
                    ):
                        rows[path] = entry.stat(follow_symlinks=False).st_mtime_ns
        except OSError:
            rows[folder] = 0  # vanished or shut: found changed at the next look
    store.db.execute("DELETE FROM folder")
    store.db.executemany(
        "INSERT INTO folder VALUES(?, ?)", (row for row in rows.items() if _storable(row[0]))
    )

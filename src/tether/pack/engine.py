"""Files in, one pack out: measured first, then written, and never more than the budget."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Protocol

from tether.errors import TetherError
from tether.pack.budget import check_strategy
from tether.pack.compose import Composer, Record, Settings, check_paths
from tether.pack.document import File, make_file
from tether.pack.entry import Pack
from tether.pack.fitting import fit
from tether.pack.lenses import find_lens
from tether.pack.report import Run, finish, make_report, note, waits

Memory = dict[bytes, tuple[Any, ...]]
Sink = Callable[[bytes], object]


class Spool(Protocol):
    """Where bodies wait for the metadata that must precede them."""

    def write(self, data: bytes, /) -> object: ...

    def seek(self, offset: int, /) -> object: ...

    def read(self, size: int, /) -> bytes: ...


def pack(
    files: Iterable[File | tuple[str, str | bytes] | dict[str, str]],
    budget: int | None = None,
    lens: str = "",
    settings: Settings | None = None,
) -> Pack:
    """A pack of `{path, content}` pairs, in memory: pure, and the same wherever it runs."""
    settings = settings or Settings()
    if budget is not None:
        settings = replace(settings, budget=budget)
    if lens:
        settings = replace(settings, lens=find_lens(lens))
    out: list[bytes] = []
    run = write_pack([_as_file(file) for file in files], settings, out.append)
    text = b"".join(out).decode()
    return Pack(text, run.report, tuple(run.entries), tuple(run.dropped))


def _as_file(given: File | tuple[str, str | bytes] | dict[str, str]) -> File:
    if isinstance(given, File):
        return given
    if isinstance(given, dict):
        if not isinstance(given.get("path"), str) or not isinstance(given.get("content"), str):
            raise TetherError("BAD_ARGUMENTS", "each file needs a `path` and a `content`, both strings")
        return make_file(given["path"], given["content"])
    return make_file(given[0], given[1])


def write_pack(
    files: Iterable[File],
    settings: Settings,
    sink: Sink,
    spool: Spool | None = None,
    memory: Memory | None = None,
) -> Run:
    """Write a pack piece by piece. Without a budget, no more than one file is held at a time.

    Metadata that must precede the files waits until all are measured: their bodies go to `spool`.
    """
    check_strategy(settings.strategy)
    composer = Composer(settings, memory)
    chosen = choose(files, composer)
    run = Run()
    if settings.budget is not None:
        records = fit(chosen, composer, run)
        finish(run, composer, settings.budget, lambda: sum(r.units for r in records), records)
        sink(composer.format.head(run.report).encode())
        for record in records:
            emit(record, sink)
    elif waits(settings):
        waiting: Spool = io.BytesIO() if spool is None else spool
        for record in render(chosen, composer, run):
            emit(record, waiting.write)
            del record
        finish(run, composer, None, lambda: run.units)
        sink(composer.format.head(run.report).encode())
        waiting.seek(0)
        while block := waiting.read(1 << 20):
            sink(block)
    else:
        sink(composer.format.head(make_report(run, composer)).encode())
        for record in render(chosen, composer, run):
            emit(record, sink)
            del record
        finish(run, composer, None, lambda: run.units)
    sink(composer.format.tail(run.report).encode())
    return run


def emit(record: Record, sink: Callable[[bytes], object]) -> None:
    sink(record.head)
    sink(record.body)
    sink(record.tail)


def choose(files: Iterable[File], composer: Composer) -> list[File]:
    """The files the lens and the arguments admit, in the order they are to be read."""
    settings = composer.settings
    chosen = [file for file in files if composer.admits(file.path)]
    check_paths([file.path for file in chosen])
    sort_by = settings.sort_by or settings.lens.sort_by
    order = settings.sort_order or (settings.lens.sort_order if not settings.sort_by else "asc")
    # INVARIANT: a frozen pack depends on paths and contents alone, never on times.
    chosen.sort(key=lambda file: file.path)
    if not settings.frozen:
        if sort_by in ("mtime", "ctime"):
            chosen.sort(key=lambda file: getattr(file, sort_by), reverse=order == "desc")
        elif order == "desc":
            chosen.reverse()
    return chosen


def render(chosen: list[File], composer: Composer, run: Run) -> Iterator[Record]:
    """Every file as the lens shows it, one at a time."""
    for file in chosen:
        document = composer.open(file)
        if document is None:
            run.skipped.append(file.path)
            continue
        mode, limit = composer.plan(file.path)
        record = composer.render(file, document, composer.rank(file.path), mode, limit, first=not run.entries)
        run.shas.append((file.path, record.sha))
        note(run, record.entry, record.size, record.units)
        yield record
        # Held a moment longer, this file would be in memory together with the next.
        del document, record

"""One pack as several files, cut at file borders."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable

from tether.errors import TetherError
from tether.pack.budget import check_strategy, parse_budget
from tether.pack.compose import Composer, Record, Settings
from tether.pack.document import File
from tether.pack.engine import Memory, Sink, Spool, choose, emit, render
from tether.pack.fitting import fit, reserve
from tether.pack.report import Run, finish, note


def parse_split(text: str) -> tuple[str, int]:
    """`4` is four parts; `50k`, or any number from 1000, is that many tokens in each part."""
    number = parse_budget(text)
    if number < 1:
        raise TetherError("BAD_ARGUMENTS", f"split `{text}`: give a number of parts, or tokens such as 50k")
    return ("parts" if number < 1000 and re.fullmatch(r"[0-9]+", text) else "tokens"), number


def write_parts(
    files: Iterable[File],
    settings: Settings,
    open_part: Callable[[int, int], Sink],
    split: tuple[str, int],
    spool: Spool | None = None,
    memory: Memory | None = None,
) -> Run:
    """Write a pack as several, each complete in itself and cut at file borders.

    `split` is ("parts", how many) or ("tokens", how many at most in each); `open_part` is told the number of
    a part and of all.
    """
    check_strategy(settings.strategy)
    composer = Composer(settings, memory)
    chosen = choose(files, composer)
    run = Run()
    waiting: Spool = io.BytesIO() if spool is None else spool
    records: Iterable[Record] = (
        render(chosen, composer, run) if settings.budget is None else fit(chosen, composer, run)
    )
    for record in records:
        emit(record, waiting.write)
    waiting.seek(0)
    kind, number = split
    frame = reserve(run, composer, len(run.entries))
    most = (
        number * settings.tokenizer.per_token - frame if kind == "tokens" else -(-run.units // max(1, number))
    )
    ranges = divide([units for _, units in run.sizes], most)
    for index, (start, end) in enumerate(ranges, 1):
        part = Run(dropped=run.dropped if index == 1 else [], shas=run.shas)
        for entry, (size, units) in zip(run.entries[start:end], run.sizes[start:end], strict=True):
            note(part, entry, size, units)
        data = [waiting.read(size) for size, _ in run.sizes[start:end]]
        if settings.format == "json" and data and data[0].startswith(b","):
            data[0] = data[0][1:]
            part.units += settings.tokenizer.units(data[0].decode()) - run.sizes[start][1]
        limit = number if kind == "tokens" else None
        units = part.units
        finish(part, composer, limit, lambda units=units: units, part=f"{index}/{len(ranges)}")  # type: ignore[misc]
        sink = open_part(index, len(ranges))
        sink(composer.format.head(part.report).encode())
        for block in data:
            sink(block)
        sink(composer.format.tail(part.report).encode())
        run.report = part.report
    return run


def divide(costs: list[int], most: int) -> list[tuple[int, int]]:
    """Consecutive ranges that cost no more than `most` each; what alone costs more stands alone."""
    ranges: list[tuple[int, int]] = []
    start = total = 0
    for at, cost in enumerate(costs):
        if at > start and total + cost > most:
            ranges.append((start, at))
            start, total = at, 0
        total += cost
    ranges.append((start, len(costs)))
    return ranges

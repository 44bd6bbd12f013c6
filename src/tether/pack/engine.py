"""Files in, one pack out: measured first, then written, and never more than the budget."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from tether.errors import TetherError
from tether.pack.budget import LARGE_SHARE, check_strategy, plan_forms
from tether.pack.compose import EPOCH, Composer, Record, Settings, check_paths
from tether.pack.document import File, make_file
from tether.pack.entry import Entry, Pack, Report, Spot
from tether.pack.lens import PLAIN, Priority
from tether.pack.lenses import find_lens

HOT = 80  # a higher priority makes a file a hotspot
MOST_SPOTS = 200  # of each kind; more would be noise, and their number is given
MAP_SHARE = 10  # at most a tenth of a budget goes to the attention map

Memory = dict[bytes, tuple[Any, ...]]
Sink = Callable[[bytes], object]


class Spool(Protocol):
    """Where bodies wait for the metadata that must precede them."""

    def write(self, data: bytes, /) -> object: ...

    def seek(self, offset: int, /) -> object: ...

    def read(self, size: int, /) -> bytes: ...


@dataclass(slots=True)
class Run:
    """What one run has seen so far: small things only, never contents."""

    entries: list[Entry] = field(default_factory=list)
    dropped: list[Spot] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    shas: list[tuple[str, str]] = field(default_factory=list)
    sizes: list[tuple[int, int]] = field(default_factory=list)  # of each record: bytes, units
    units: int = 0
    report: Report = field(default_factory=Report)


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
        _finish(run, composer, lambda: sum(r.units for r in records), records)
        sink(composer.format.head(run.report).encode())
        for record in records:
            _emit(record, sink)
    elif _waits(settings):
        waiting: Spool = io.BytesIO() if spool is None else spool
        for record in render(chosen, composer, run):
            _emit(record, waiting.write)
        _finish(run, composer, lambda: run.units)
        sink(composer.format.head(run.report).encode())
        waiting.seek(0)
        while block := waiting.read(1 << 20):
            sink(block)
    else:
        sink(composer.format.head(make_report(run, composer)).encode())
        for record in render(chosen, composer, run):
            _emit(record, sink)
        _finish(run, composer, lambda: run.units)
    sink(composer.format.tail(run.report).encode())
    return run


def _emit(record: Record, sink: Callable[[bytes], object]) -> None:
    sink(record.head)
    sink(record.body)
    sink(record.tail)


def _waits(settings: Settings) -> bool:
    """Whether the head of this format depends on the files."""
    return settings.format in ("claude-xml", "json") or (
        settings.format == "plus-minus" and settings.lens is not PLAIN
    )


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
        _note(run, record)
        yield record


def _note(run: Run, record: Record) -> None:
    run.entries.append(record.entry)
    size = len(record.head) + len(record.body) + len(record.tail)
    run.sizes.append((size, record.units))
    run.units += record.units


def fit(chosen: list[File], composer: Composer, run: Run) -> list[Record]:
    """As much as the budget holds, most important first, each file as full as still fits."""
    settings = composer.settings
    budget = settings.budget or 0
    tokenizer = settings.tokenizer
    ranked: list[tuple[int, str, Priority, File]] = sorted(
        ((-(p := composer.rank(file.path)).value, file.path, p, file) for file in chosen),
        key=lambda item: item[:2],
    )
    room = budget * tokenizer.per_token
    left = room - _reserve(run, composer, len(chosen))
    if left < 0:
        least = tokenizer.tokens(room - left)
        raise TetherError(
            "BAD_ARGUMENTS",
            f"budget `{budget}` is smaller than an empty pack in format `{settings.format}`: "
            f"give at least {least} tokens",
        )
    left -= left // MAP_SHARE if _waits(settings) else 0
    taken: list[Record] = []
    shortened: list[tuple[int, File]] = []
    for _, _, priority, file in ranked:
        document = composer.open(file)
        if document is None:
            run.skipped.append(file.path)
            continue
        run.shas.append((file.path, document.facts.sha))
        record = _try_forms(file, document, priority, composer, left, not taken)
        if record is None:
            tokens = tokenizer.tokens(document.facts.units)
            run.dropped.append(Spot(file.path, priority.value, tokens, dropped=True))
            continue
        left -= record.units
        if record.entry.truncated:
            shortened.append((len(taken), file))
        taken.append(record)
    _restore(taken, shortened, composer, left)
    if settings.frozen:
        taken.sort(key=lambda record: record.entry.path)
        taken = _lead(taken, composer)
    for record in taken:
        _note(run, record)
    return taken


def _restore(taken: list[Record], shortened: list[tuple[int, File]], composer: Composer, left: int) -> None:
    """Give room that was left over back to the files that were shortened, most important first."""
    for at, file in shortened:
        now = taken[at]
        if now.entry.original_tokens - now.entry.tokens > composer.settings.tokenizer.tokens(left):
            continue
        document = composer.open(file)
        if document is None:
            continue
        mode, limit = composer.plan(file.path)
        fuller = composer.render(file, document, now.entry.priority, mode, limit, first=at == 0)
        if now.units < fuller.units <= now.units + left:
            left -= fuller.units - now.units
            taken[at] = fuller


def _lead(records: list[Record], composer: Composer) -> list[Record]:
    """Records in a new order: in JSON, a comma leads every one but the first."""
    if composer.settings.format != "json":
        return records
    led: list[Record] = []
    for record in records:
        head = (b"," if led else b"") + record.head.removeprefix(b",")
        units = composer.settings.tokenizer.units((head + record.body + record.tail).decode())
        led.append(replace(record, head=head, units=units))
    return led


def _try_forms(
    file: File, document: Any, priority: Priority, composer: Composer, left: int, first: bool
) -> Record | None:
    settings = composer.settings
    mode, limit = composer.plan(file.path)
    record = composer.render(file, document, priority, mode, limit, first)
    share = (settings.budget or 0) * settings.tokenizer.per_token // LARGE_SHARE
    large = record.units > share and file.path not in settings.whole
    forms = plan_forms(settings.strategy, mode, large)
    for form in forms:
        made: Record | None = record
        if form != mode:
            made = composer.degrade(file, document, priority, form, first)
        if made is not None and made.units <= left and made.units <= record.units:
            return made
    # A large file that has no shorter form is still better kept than dropped.
    return record if large and settings.strategy != "drop" and record.units <= left else None


def _reserve(run: Run, composer: Composer, files: int) -> int:
    """The most that head and tail can cost with an empty attention map."""
    digits = max(files, composer.settings.budget or 0, 10**6)
    worst = replace(
        make_report(run, composer),
        utilized=digits,
        truncated_files=digits,
        dropped_files=digits,
        redactions=digits,
        unlisted=digits,
        snapshot="",
    )
    cost = composer.cost_of(composer.format.head(worst)) + composer.cost_of(composer.format.tail(worst))
    # A hexadecimal digest, snapshot or MD5, costs at most a token a character.
    digest = 120 if composer.settings.frozen else 40
    return cost + digest * composer.settings.tokenizer.per_token if _waits(composer.settings) else cost


def make_report(run: Run, composer: Composer) -> Report:
    """The report without its map and sums."""
    settings = composer.settings
    lensed = settings.lens is not PLAIN
    return Report(
        lens=settings.lens.name if lensed else "",
        focus=settings.lens.description,
        budget=settings.budget,
        version=settings.version,
        frozen=settings.frozen,
        timestamp=EPOCH if settings.frozen else settings.timestamp,
        snapshot=_snapshot(run) if settings.frozen else "",
        tokenizer=settings.tokenizer.name,
        structure=settings.structure,
        strategy=settings.strategy if settings.budget is not None else "",
        truncated_files=sum(1 for entry in run.entries if entry.truncated),
        dropped_files=len(run.dropped),
        redactions=sum(entry.redacted for entry in run.entries),
        about=settings.about,
    )


def _snapshot(run: Run) -> str:
    """One hash over every path and content that was looked at, whatever was kept of it."""
    digest = hashlib.sha256()
    for path, sha in sorted(run.shas):
        digest.update(f"{path}\0{sha}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def find_hotspots(entries: Iterable[Entry]) -> list[Spot]:
    """Files of high priority, and files of which something is missing."""
    hot = [
        Spot(e.path, e.priority.value, e.tokens, truncated=e.truncated)
        for e in entries
        if e.truncated or e.priority.value > HOT
    ]
    hot.sort(key=lambda spot: (-spot.priority, spot.path))
    return hot


def _finish(
    run: Run, composer: Composer, body: Callable[[], int], records: list[Record] | None = None
) -> None:
    """The final report: the map that fits, and the number of tokens that will really be written."""
    tokenizer = composer.settings.tokenizer
    budget = composer.settings.budget
    room = None if budget is None else budget * tokenizer.per_token
    hot = find_hotspots(run.entries)
    cold = sorted(run.dropped, key=lambda spot: (-spot.priority, spot.path))
    spots = [*hot[:MOST_SPOTS], *cold[:MOST_SPOTS]]
    while True:
        shown = [s for s in spots if not s.dropped], [s for s in spots if s.dropped]
        report = replace(
            make_report(run, composer),
            hotspots=tuple(shown[0]),
            coldspots=tuple(shown[1]),
            unlisted=len(hot) + len(cold) - len(spots),
        )
        report = _settle(report, composer, body())
        used = report.utilized * tokenizer.per_token
        if room is None or report.utilized <= (budget or 0):
            run.report = report
            return
        if spots:
            # Each spot costs at least a few tokens: drop the least important of what is too much.
            spots = spots[: max(0, len(spots) - max(1, (used - room) // (40 * tokenizer.per_token)))]
        elif records:
            least = max(records, key=lambda r: (-r.entry.priority.value, r.entry.path))
            records.remove(least)
            records[:] = _lead(records, composer)
            entry = least.entry
            run.entries.remove(entry)
            run.dropped.append(Spot(entry.path, entry.priority.value, entry.original_tokens, dropped=True))
        else:
            raise TetherError(
                "BAD_ARGUMENTS", f"budget `{budget}` is too small: give at least {report.utilized}"
            )


def _settle(report: Report, composer: Composer, body: int) -> Report:
    """The report whose `utilized` counts itself.

    INVARIANT: a number costs no less than a shorter one, so the sum only grows until it agrees.
    """
    tail = composer.cost_of(composer.format.tail(report))
    while True:
        head = composer.settings.tokenizer.units(composer.format.head(report))
        total = composer.settings.tokenizer.tokens(head + body + tail)
        if total <= report.utilized:
            return report
        report = replace(report, utilized=total)

"""What a pack says of itself: the numbers, the map of where to look, and its own cost."""

from __future__ import annotations

import hashlib
from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tether.errors import TetherError
from tether.pack.compose import EPOCH, Composer, Record, Settings
from tether.pack.entry import Entry, Report, Spot
from tether.pack.lens import PLAIN

HOT = 80  # a higher priority makes a file a hotspot
MOST_SPOTS = 100  # of each kind; more would be noise, and their number is given


@dataclass(slots=True)
class Run:
    """What one run has seen so far: small things only, never contents."""

    entries: list[Entry] = field(default_factory=list)
    dropped: list[Spot] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    shas: list[tuple[str, str]] = field(default_factory=list)
    sizes: list[tuple[int, int]] = field(default_factory=list)  # of each record: bytes, units
    units: int = 0
    truncated: int = 0
    redactions: int = 0
    hot: list[tuple[int, str, Spot]] = field(default_factory=list)  # the first few, in their order
    hot_files: int = 0
    report: Report = field(default_factory=Report)


def lead(records: list[Record], composer: Composer) -> list[Record]:
    """Records in a new order: in JSON, a comma leads every one but the first."""
    if composer.settings.format != "json":
        return records
    led: list[Record] = []
    for record in records:
        head = (b"," if led else b"") + record.head.removeprefix(b",")
        units = composer.settings.tokenizer.units((head + record.body + record.tail).decode())
        led.append(replace(record, head=head, units=units))
    return led


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
        truncated_files=run.truncated,
        dropped_files=len(run.dropped),
        redactions=run.redactions,
        about=settings.about,
    )


def _snapshot(run: Run) -> str:
    """One hash over every path and content that was looked at, whatever was kept of it."""
    digest = hashlib.sha256()
    for path, sha in sorted(run.shas):
        digest.update(f"{path}\0{sha}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def finish(
    run: Run,
    composer: Composer,
    limit: int | None,
    body: Callable[[], int],
    records: list[Record] | None = None,
    part: str = "",
) -> None:
    """The final report: the map that fits, and the number of tokens that will really be written."""
    hot = [spot for _, _, spot in run.hot]
    cold = sorted(run.dropped, key=lambda spot: (-spot.priority, spot.path))
    spots = [*hot, *cold[:MOST_SPOTS]]
    while True:
        shown = [s for s in spots if not s.dropped], [s for s in spots if s.dropped]
        report = replace(
            make_report(run, composer),
            hotspots=tuple(shown[0]),
            coldspots=tuple(shown[1]),
            unlisted=run.hot_files + len(run.dropped) - len(spots),
            part=part,
        )
        run.report = report = _settle(report, composer, body())
        excess = 0 if limit is None else report.utilized - limit
        if excess <= 0:
            return
        if spots:
            # A spot costs some twenty tokens: let the least important of what is too much go.
            spots = spots[: max(0, len(spots) - max(1, excess // 40))]
        elif records:
            least = max(records, key=lambda r: (-r.entry.priority.value, r.entry.path))
            records.remove(least)
            records[:] = lead(records, composer)
            entry = least.entry
            run.entries.remove(entry)
            run.truncated -= entry.truncated
            run.redactions -= entry.redacted
            run.hot_files -= _is_hot(entry)
            run.hot = [item for item in run.hot if item[1] != entry.path]
            run.dropped.append(Spot(entry.path, entry.priority.value, entry.original_tokens, dropped=True))
        elif records is None:
            return  # a part is cut at file borders: one file may be larger than a part should be
        else:
            raise TetherError(
                "BAD_ARGUMENTS", f"budget `{limit}` is too small: give at least {report.utilized}"
            )


def _settle(report: Report, composer: Composer, body: int) -> Report:
    """The report whose `utilized` counts itself.

    INVARIANT: a number costs no less than a shorter one, so the sum only grows until it agrees.
    """
    tail = composer.costs.of_markup(composer.format.tail(report))
    while True:
        head = composer.costs.of_markup(composer.format.head(report))
        total = composer.settings.tokenizer.tokens(head + body + tail)
        if total <= report.utilized:
            return report
        report = replace(report, utilized=total)


def waits(settings: Settings) -> bool:
    """Whether the head of this format depends on the files."""
    return settings.format in ("claude-xml", "json") or (
        settings.format == "plus-minus" and settings.lens is not PLAIN
    )


def note(run: Run, entry: Entry, size: int, units: int) -> None:
    """Count a record that will be written, so that the report needs no second look at the files."""
    run.entries.append(entry)
    run.sizes.append((size, units))
    run.units += units
    run.redactions += entry.redacted
    if _is_hot(entry):
        run.truncated += entry.truncated
        run.hot_files += 1
        priority = entry.priority.value
        # Only what the map can show is kept, so that the report is ready when the last file is.
        if len(run.hot) < MOST_SPOTS or (-priority, entry.path) < run.hot[-1][:2]:
            spot = Spot(entry.path, priority, entry.tokens, truncated=entry.truncated)
            insort(run.hot, (-priority, entry.path, spot), key=lambda item: item[:2])
            del run.hot[MOST_SPOTS:]


def _is_hot(entry: Entry) -> bool:
    return entry.truncated or entry.priority.value > HOT

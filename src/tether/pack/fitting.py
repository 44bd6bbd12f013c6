"""As much as a budget holds: most important files first, each as full as still fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby

from tether.errors import TetherError
from tether.pack.budget import LARGE_SHARE, plan_forms
from tether.pack.compose import Composer, Record
from tether.pack.document import Document, File
from tether.pack.entry import Spot
from tether.pack.lens import Priority
from tether.pack.report import Run, lead, make_report, note, waits

MAP_SHARE = 10  # at most a tenth of a budget goes to the attention map


@dataclass(frozen=True, slots=True)
class Slot:
    """A file that asks for room."""

    file: File
    priority: Priority


@dataclass(slots=True)
class Room:
    """What is taken so far, and what is left."""

    composer: Composer
    run: Run
    left: int
    taken: list[Record]
    files: list[File]  # of `taken`, in the same order

    def take(self, slot: Slot, record: Record) -> None:
        """Give a record its room."""
        self.left -= record.units
        self.taken.append(record)
        self.files.append(slot.file)

    def drop(self, slot: Slot, tokens: int) -> None:
        """List a file only."""
        self.run.dropped.append(Spot(slot.file.path, slot.priority.value, tokens, dropped=True))

    def open(self, slot: Slot) -> Document | None:
        """The document, noted once as looked at."""
        document = self.composer.open(slot.file)
        if document is None:
            self.run.skipped.append(slot.file.path)
        else:
            self.run.shas.append((slot.file.path, document.facts.sha))
        return document


def fit(chosen: list[File], composer: Composer, run: Run) -> list[Record]:
    """The records that go in, in the order they are written.

    `drop` and `truncate` go file by file. `hybrid` goes by priority: of files that matter alike it would
    rather show the shape of all than the whole of some.
    """
    settings = composer.settings
    budget = settings.budget or 0
    slots = sorted(
        (Slot(file, composer.rank(file.path)) for file in chosen),
        key=lambda slot: (-slot.priority.value, slot.file.path),
    )
    size = budget * settings.tokenizer.per_token
    left = size - reserve(run, composer, len(chosen))
    if left < 0:
        raise TetherError(
            "BAD_ARGUMENTS",
            f"budget `{budget}` is smaller than an empty pack in format `{settings.format}`: "
            f"give at least {settings.tokenizer.tokens(size - left)} tokens",
        )
    left -= left // MAP_SHARE if waits(settings) else 0
    room = Room(composer, run, left, [], [])
    if settings.strategy == "hybrid":
        for _, tier in groupby(slots, key=lambda slot: slot.priority.value):
            _fit_tier(room, list(tier))
    else:
        for slot in slots:
            _fit_one(room, slot)
    _restore(room)
    taken = room.taken
    if settings.frozen:
        taken.sort(key=lambda record: record.entry.path)
    taken = lead(taken, composer)
    for record in taken:
        note(run, record.entry, record.size, record.units)
    return taken


def _fit_one(room: Room, slot: Slot) -> None:
    """The fullest form of one file that still fits."""
    document = room.open(slot)
    if document is None:
        return
    mode, _ = room.composer.plan(slot.file.path)
    planned = _plan(room, slot, document)
    for form in plan_forms(room.composer.settings.strategy, mode):
        made = planned if form == mode else _degrade(room, slot, document, form, planned)
        if made is not None and made.units <= room.left:
            room.take(slot, made)
            return
    room.drop(slot, planned.entry.original_tokens)


def _fit_tier(room: Room, slots: list[Slot]) -> None:
    """Files of one priority: all as planned, else all as structure, else as signatures while they fit."""
    share = (room.composer.settings.budget or 0) * room.composer.settings.tokenizer.per_token // LARGE_SHARE
    seen: list[tuple[Slot, int]] = []  # each with the tokens of the whole file
    floor = 0  # what a record costs before its first line
    kept: list[Record] | None = []
    total = 0
    for slot in slots:
        document = room.open(slot)
        if document is None:
            continue
        record = _plan(room, slot, document)
        markup = max(1, record.units - room.composer.settings.tokenizer.per_token * record.entry.tokens)
        floor = min(floor or markup, markup)
        if record.units > share and slot.file.path not in room.composer.settings.whole:
            record = _degrade(room, slot, document, "structure", record) or record
        seen.append((slot, record.entry.original_tokens))
        total += record.units
        if kept is not None:
            kept.append(record)
            if total > room.left:
                kept = None
    if kept is None and floor * len(seen) <= room.left:
        kept = _shorten(room, seen, "structure") or _shorten(room, seen, "signature")
    if kept is not None:
        for (slot, _), record in zip(seen, kept, strict=True):
            room.take(slot, record)
        return
    for slot, tokens in seen:
        made: Record | None = None
        document = room.composer.open(slot.file) if room.left >= floor else None
        if document is not None:
            made = _smallest(room, slot, document)
        if made is not None and made.units <= room.left:
            room.take(slot, made)
        else:
            room.drop(slot, tokens)


def _shorten(room: Room, seen: list[tuple[Slot, int]], form: str) -> list[Record] | None:
    """Every file of a tier in one form, if they fit together."""
    kept: list[Record] = []
    total = 0
    for slot, _ in seen:
        document = room.composer.open(slot.file)
        if document is None:
            return None
        planned = _plan(room, slot, document)
        record = _degrade(room, slot, document, form, planned) or planned
        total += record.units
        if total > room.left:
            return None
        kept.append(record)
    return kept


def _smallest(room: Room, slot: Slot, document: Document) -> Record:
    planned = _plan(room, slot, document)
    for form in ("signature", "structure"):
        found = _degrade(room, slot, document, form, planned)
        if found is not None:
            return found
    return planned


def _plan(room: Room, slot: Slot, document: Document) -> Record:
    """The file as the lens and the arguments show it, without regard to the budget."""
    mode, limit = room.composer.plan(slot.file.path)
    return room.composer.render(slot.file, document, slot.priority, mode, limit, not room.taken)


def _degrade(room: Room, slot: Slot, document: Document, form: str, planned: Record) -> Record | None:
    """A shorter form, if there is one that is shorter."""
    made = room.composer.degrade(slot.file, document, slot.priority, form, not room.taken)
    return made if made is not None and made.units < planned.units else None


def _restore(room: Room) -> None:
    """Give room that was left over back to the files that were shortened, most important first."""
    for at, file in enumerate(room.files):
        now = room.taken[at]
        if not now.entry.truncated or room.left <= 0:
            continue
        document = room.composer.open(file)
        if document is None:
            continue
        slot = Slot(file, now.entry.priority)
        fuller = [_plan(room, slot, document)]
        if now.entry.form == "signature":
            shape = room.composer.degrade(file, document, now.entry.priority, "structure", at == 0)
            fuller += [shape] if shape else []
        for record in fuller:
            if now.units < record.units <= now.units + room.left:
                room.left -= record.units - now.units
                room.taken[at] = record
                break


def reserve(run: Run, composer: Composer, files: int) -> int:
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
    cost = composer.costs.of_markup(composer.format.head(worst)) + composer.costs.of_markup(
        composer.format.tail(worst)
    )
    # A hexadecimal digest, snapshot or MD5, costs at most a token a character.
    digest = 120 if composer.settings.frozen else 40
    return cost + digest * composer.settings.tokenizer.per_token if waits(composer.settings) else cost

"""One file in one form: its entry, its three strings, and exactly what they cost."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tether.errors import TetherError
from tether.pack.costs import Costs
from tether.pack.document import Document, Facts, File, Lexicon, Redactor
from tether.pack.entry import Entry, Zoom
from tether.pack.escape import escape_path
from tether.pack.formats import find_format
from tether.pack.glob import matches_any
from tether.pack.lens import PLAIN, Lens, Priority, admits, choose_mode, learn, rank
from tether.pack.measure import ESTIMATE, Tokenizer
from tether.pack.skeleton import Shaper
from tether.pack.text import LARGEST, count_lines, hash_md5, is_binary, name_language
from tether.pack.truncate import Cut, cut, cut_simple, cut_smart
from tether.pack.zooming import zoom_file, zoom_symbol

EPOCH = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a pack depends on besides the files. The core reads no clock, file or environment."""

    format: str = "claude-xml"
    lens: Lens = PLAIN
    budget: int | None = None
    strategy: str = "hybrid"
    mode: str = ""  # full | simple | smart | structure; "" leaves it to the lens
    truncate: int | None = None  # lines; None leaves it to the lens
    truncate_exclude: tuple[str, ...] = ()
    notes: bool = True
    frozen: bool = False
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    sort_by: str = ""
    sort_order: str = ""
    timestamp: str = EPOCH
    version: str = ""
    about: tuple[tuple[str, str], ...] = (("project_root", "."),)
    utilities: Mapping[str, tuple[float, str]] | None = None  # path → learned utility, and from where
    whole: frozenset[str] = frozenset()  # always in full, whatever the lens says
    outlined: frozenset[str] = frozenset()  # always as structure
    tokenizer: Tokenizer = ESTIMATE
    redact: Redactor | None = None
    redactor: str = ""  # names the redactor's rules, for the cache
    shape: Shaper | None = None
    structure: str = "regex"  # names the shaper, for the metadata


@dataclass(frozen=True, slots=True)
class Record:
    """A rendered file and its exact cost."""

    entry: Entry
    head: bytes
    body: bytes
    tail: bytes
    units: int
    sha: str

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.head) + len(self.body) + len(self.tail)


class Composer:
    """Turns files into records under one set of settings."""

    def __init__(self, settings: Settings, memory: dict[bytes, tuple[Any, ...]] | None = None) -> None:
        self.settings = settings
        self.format = find_format(settings.format)
        salt = hashlib.sha256(f"{settings.tokenizer.name}\0{settings.redactor}".encode()).digest()[:8]
        kept = {} if memory is None else memory
        self.lexicon = Lexicon(settings.tokenizer, settings.redact, kept, salt)
        self.costs = Costs(settings.tokenizer, kept, salt)

    # ── choosing ──

    def admits(self, path: str) -> bool:
        """Whether the settings and the lens let this path in; excluding always wins."""
        settings = self.settings
        if matches_any(settings.exclude, path):
            return False
        if path in settings.whole or path in settings.outlined:
            return True
        if settings.include:
            return matches_any(settings.include, path) and admits(replace(settings.lens, include=()), path)
        return admits(settings.lens, path)

    def rank(self, path: str) -> Priority:
        """The priority of a path, with what was learned about it."""
        settings = self.settings
        static = rank(settings.lens, path)
        if settings.frozen or not settings.utilities:
            return static
        utility, source = settings.utilities.get(path, (0.5, "unknown file"))
        return learn(static, utility, source)

    def plan(self, path: str) -> tuple[str, int]:
        """The mode and line limit a file gets before any budget: arguments, then lens."""
        settings = self.settings
        if path in settings.whole or matches_any(settings.truncate_exclude, path):
            return "full", 0
        if path in settings.outlined:
            return "structure", 0
        mode, limit = choose_mode(settings.lens, path)
        if settings.truncate is not None:
            limit = settings.truncate
            if not settings.mode and mode == "full" and limit:
                mode = "simple"
            if not limit and not settings.mode:
                mode = "full"
        return settings.mode or mode, limit

    # ── rendering ──

    def open(self, file: File) -> Document | None:
        """The document, or None for what is no text or too large to be read by anyone."""
        data = file.load()
        if data is None or len(data) > LARGEST or is_binary(data):
            return None
        return Document(file.path, data, self.lexicon)

    def render(
        self, file: File, document: Document, priority: Priority, mode: str, limit: int, first: bool
    ) -> Record:
        """The file in one mode; more than asked where the mode finds nothing to leave out."""
        facts = document.facts
        language = name_language(file.path)
        found = None
        if mode != "full":
            found = self._cut(file.path, document.clean, language, mode, limit, facts)
        if found is None:
            return self._full(file, document, priority, language, first)
        return self._shortened(file, facts, priority, language, found, first)

    def degrade(
        self, file: File, document: Document, priority: Priority, form: str, first: bool
    ) -> Record | None:
        """A shorter form for a budget; where a file has no structure, its most telling lines."""
        facts = document.facts
        language = name_language(file.path)
        text = document.clean
        found = self._cut(file.path, text, language, form, 0, facts)
        if found is None:
            command = self._zoom(file.path, facts).command
            share = facts.lines // 5
            if form == "structure" and share >= 10:
                found = cut_smart(text, file.path, language, share, command)
            elif form == "signature" and facts.lines > 6:
                found = cut_simple(text, file.path, min(5, facts.lines // 2), command)
        return self._shortened(file, facts, priority, language, found, first) if found else None

    def _cut(self, path: str, text: str, language: str, mode: str, limit: int, facts: Facts) -> Cut | None:
        command = self._zoom(path, facts).command
        return cut(text, escape_path(path), language, mode, limit, command, self.settings.shape)

    def _zoom(self, path: str, facts: Facts) -> Zoom:
        return zoom_file(path, self.settings.tokenizer.tokens(facts.units))

    def _full(self, file: File, document: Document, priority: Priority, language: str, first: bool) -> Record:
        facts = document.facts
        tokens = self.settings.tokenizer.tokens
        escaped = file.escaped
        units: int | None = facts.units
        if facts.verbatim and self.format.verbatim:
            body = ""
            data = document.data
        else:
            text = document.clean
            text = text if facts.ended else text + "\n"
            body, made = self.format.body(text)
            escaped += made
            data = body.encode()
            units = facts.units if body == text else None
        entry = Entry(
            file.path,
            priority,
            language,
            tokens(facts.units),
            facts.checksum,
            facts.md5,
            original_tokens=tokens(facts.units),
            original_lines=facts.lines,
            final_lines=facts.lines,
            redacted=facts.redacted,
            escaped=escaped,
            ended=facts.ended,
        )
        head, tail = self.format.frame(entry, body or self._fence(document), first)
        cost = self.costs.of_record(
            head,
            tail,
            f"{facts.md5}{facts.sha}{self.format.name}",
            lambda: body or document.clean + ("" if facts.ended else "\n"),
            units,
            facts.seam,
        )
        return Record(entry, head.encode(), data, tail.encode(), cost, facts.sha)

    def _fence(self, document: Document) -> str:
        # Only Markdown looks at the body to frame it.
        return document.clean if self.format.name == "markdown" else ""

    def _shortened(
        self, file: File, facts: Facts, priority: Priority, language: str, found: Cut, first: bool
    ) -> Record:
        tokenizer = self.settings.tokenizer
        text = found.text
        if self.format.noted and self.settings.notes:
            text += found.note
        ended = text.endswith("\n")
        written = text if ended else text + "\n"
        units = self.costs.of_text(written)
        body, escaped = self.format.body(written)
        original = tokenizer.tokens(facts.units)
        zooms: tuple[Zoom, ...] = (zoom_file(file.path, original),)
        if found.omitted and original > 500:
            widest = sorted(found.omitted, key=lambda o: (o.start - o.end, o.start))[:2]
            zooms += tuple(zoom_symbol(o, file.path, original, facts.lines) for o in widest)
        entry = Entry(
            file.path,
            priority,
            language,
            tokenizer.tokens(units),
            facts.checksum,
            hash_md5(text),
            form=found.mode,
            original_tokens=original,
            original_lines=found.lines,
            final_lines=count_lines(text),
            redacted=facts.redacted,
            escaped=escaped + file.escaped,
            ended=ended,
            message=found.message,
            zooms=zooms,
            parsed=found.parsed,
        )
        head, tail = self.format.frame(entry, body, first)
        identity = f"{entry.md5}{facts.sha}{self.format.name}"
        cost = self.costs.of_record(head, tail, identity, lambda: body, units if body == written else None)
        return Record(entry, head.encode(), body.encode(), tail.encode(), cost, facts.sha)


def check_paths(paths: list[str]) -> None:
    """Refuse a set of files in which one path occurs twice: a reader could not tell them apart."""
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            raise TetherError(
                "BAD_ARGUMENTS", f"path `{escape_path(path)}` is given twice: give each file once"
            )
        seen.add(path)

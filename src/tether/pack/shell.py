"""The thin shell around the core: a directory, its files, its learned store, its cache."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import tether
from tether.errors import TetherError
from tether.pack.compose import Settings
from tether.pack.engine import Sink, write_pack
from tether.pack.lens import Lens
from tether.pack.lenses import find_lens
from tether.pack.parts import write_parts
from tether.pack.privacy import describe_origin
from tether.pack.recall import Recall, Shapes
from tether.pack.redaction import find_secrets
from tether.pack.report import Run
from tether.pack.selection import Query, Reader, Selected, select
from tether.pack.skeleton import Skeleton
from tether.pack.store import Store
from tether.pack.tokenizers import find_tokenizer

SPOOLED = 1024 * 1024  # bodies up to this many bytes wait in memory, more on disk


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a pack of one directory."""

    root: str = "."
    query: Query = field(default_factory=Query)
    lens: str = ""
    lenses: dict[str, Lens] = field(default_factory=dict)
    tokenizer: str = "o200k"
    sensitive: bool = False
    cache: str = ""  # the user's cache folder; "" remembers nothing
    settings: Settings = field(default_factory=Settings)
    timestamp: str = ""
    notes: str = ""
    config: str = ""


@dataclass(slots=True)
class Job:
    """A request made ready: files chosen, settings complete, nothing read but names."""

    reader: Reader
    selected: Selected
    settings: Settings
    memory: dict[bytes, tuple[Any, ...]]
    notices: list[str] = field(default_factory=list)
    shapes: Shapes | None = None

    def write(self, sink: Sink) -> Run:
        """Write the pack."""
        with tempfile.SpooledTemporaryFile(SPOOLED) as spool:
            run = write_pack(self.selected.files, self.settings, sink, spool, self.memory)
        return self._done(run)

    def write_parts(self, open_part: Callable[[int, int], Sink], split: tuple[str, int]) -> Run:
        """Write the pack in parts."""
        with tempfile.SpooledTemporaryFile(SPOOLED) as spool:
            run = write_parts(self.selected.files, self.settings, open_part, split, spool, self.memory)
        return self._done(run)

    def _done(self, run: Run) -> Run:
        if isinstance(self.memory, Recall):
            self.memory.save()
        if self.shapes is not None:
            self.shapes.save()
        return run

    def close(self) -> None:
        """Let go of the directory."""
        self.reader.close()


def prepare(request: Request) -> Job:
    """Choose the files and complete the settings; a frozen request opens no store."""
    settings = request.settings
    try:
        reader = Reader(request.root)
    except OSError as error:
        raise TetherError("NOT_FOUND", f"cannot open the directory `{request.root}`") from error
    lens = find_lens(request.lens, request.lenses)
    selected = select(reader, replace(request.query, sensitive=request.sensitive))
    notices: list[str] = []
    utilities = None
    if not settings.frozen:
        store = Store.read(reader.root)
        utilities = store.utilities(lens.name) or None
        notices += store.notices
    settings = replace(
        settings,
        lens=lens,
        tokenizer=find_tokenizer(request.tokenizer),
        utilities=utilities,
        version=tether.__version__,
        timestamp=request.timestamp or settings.timestamp,
        about=describe_origin(
            reader.root,
            sensitive=request.sensitive,
            frozen=settings.frozen,
            notes=request.notes,
            config=request.config,
        ),
        whole=settings.whole | selected.whole,
        outlined=settings.outlined | selected.outlined,
        **_tools(request),
    )
    job = Job(reader, selected, settings, {}, notices)
    if request.cache:
        job.memory = recall = Recall(request.cache, reader.root)
        job.shapes = Shapes(recall, _shape, fingerprint)
        job.settings = replace(settings, shape=job.shapes)
    return job


def _tools(request: Request) -> dict[str, Any]:
    """What of this machine helps the core: parsers, and the redactor unless secrets are allowed."""
    tools: dict[str, Any] = {"shape": _shape, "structure": "tree-sitter"}
    if not request.sensitive:
        tools |= {"redact": find_secrets, "redactor": fingerprint("source", "pack/redaction.py")}
    return tools


def _shape(text: str, path: str, language: str, brief: bool) -> Skeleton | None:
    # A pack of whole files needs no parser: it is loaded for the first file that is shortened.
    from tether.pack.shape import shape_by_outline

    return shape_by_outline(text, path, language, brief)


def fingerprint(*names: str) -> str:
    """A hash of the code that a remembered answer came from: other code, and nothing is remembered.

    INVARIANT: a file judged free of secrets by older rules is judged again.
    """
    digest = hashlib.sha256(tether.__version__.encode())
    top = os.path.dirname(os.path.abspath(tether.__file__))
    for name in names:
        path = os.path.join(top, name)
        found = sorted(os.listdir(path)) if os.path.isdir(path) else [""]
        for entry in found:
            if entry.endswith(".py") or not entry:
                with open(os.path.join(path, entry).rstrip("/"), "rb") as file:
                    digest.update(file.read())
    return digest.hexdigest()[:16]


def default_cache(environment: dict[str, str]) -> str:
    """Where a user's caches lie."""
    home = environment.get("XDG_CACHE_HOME") or os.path.join(environment.get("HOME", ""), ".cache")
    return os.path.join(home, "tether", "pack") if os.path.isabs(home) else ""

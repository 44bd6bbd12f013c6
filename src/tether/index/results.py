"""What a search answers with."""

from __future__ import annotations

import json

from tether.index.fragments import Fragment
from tether.index.store import FileRow, fragment_id
from tether.types import noun


@noun
class Hit:
    """One fragment that answers, and why it is thought to."""

    id: str
    file_path: str
    language: str
    content: str
    start_line: int
    end_line: int
    relevance_score: float  # 0 … 1
    parent_symbol: str | None = None
    imports: tuple[str, ...] = ()
    kind: str = "text"
    name: str = ""
    signature: str = ""
    doc: str = ""
    file_hash: str = ""
    cos: float | None = None
    freshness: float = 1.0
    lang_boost: float = 1.0
    lanes: dict[str, float] = {}  # noqa: RUF012
    stale: bool = False  # the file changed after it was indexed: `content` is what it holds now


@noun
class Answer:
    """Hits, best first, and anything the asker should know about them."""

    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = "index"  # index | disk
    milliseconds: float = 0.0


@noun
class ContextChunk:
    """A hit as agents are given it."""

    id: str
    file_path: str
    language: str
    content: str
    start_line: int
    end_line: int
    relevance_score: float
    parent_symbol: str | None
    imports: tuple[str, ...]


def to_chunk(hit: Hit) -> ContextChunk:
    return ContextChunk(
        hit.id,
        hit.file_path,
        hit.language,
        hit.content,
        hit.start_line,
        hit.end_line,
        hit.relevance_score,
        hit.parent_symbol,
        hit.imports,
    )


def make_hit(row: FileRow, fragment: Fragment, ordinal: int, text: str, score: float, **more: object) -> Hit:
    """A fragment of a file as a hit."""
    return Hit(
        id=fragment_id(row.base, ordinal),
        file_path=row.path,
        language=row.language,
        content=text[fragment.start_char : fragment.end_char],
        start_line=fragment.start_line,
        end_line=fragment.end_line,
        relevance_score=min(1.0, max(0.0, score)),
        parent_symbol=fragment.parent_symbol or None,
        imports=modules_of(row),
        kind=fragment.kind,
        name=fragment.name,
        signature=fragment.signature,
        doc=fragment.doc,
        file_hash=row.hash,
        **more,  # type: ignore[arg-type]
    )


def modules_of(row: FileRow) -> tuple[str, ...]:
    """The modules a file takes in, each once."""
    return tuple(dict.fromkeys(module for module, _, _ in json.loads(row.imports)))

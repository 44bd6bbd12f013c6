"""The index's operations under the names agents and dashboards call them by."""

from __future__ import annotations

import posixpath

from tether.errors import TetherError
from tether.index.code import CodeIndex, IndexStatus
from tether.index.freshness import Changes
from tether.index.metrics import Measured
from tether.index.results import ContextChunk, to_chunk
from tether.source.redact import redact
from tether.types import replace


def query_context(
    index: CodeIndex, query: str, top_k: int = 5, language: str | None = None
) -> list[ContextChunk]:
    """The fragments that answer a question best, as they are on disk now, secrets taken out."""
    answer = index.search(query, top_k, language=language or "")
    return [to_chunk(replace(hit, content=redact(hit.content).text)) for hit in answer.hits]


def reindex_file(index: CodeIndex, path: str) -> None:
    """Index one file again, or drop it if it is gone."""
    clean = posixpath.normpath(path.strip())
    spot = index.root.look(clean, hash=False)
    if spot.problem:
        raise TetherError("SECURITY_VIOLATION", f"`{path}` cannot be indexed: {spot.problem}", path=path)
    if spot.kind == "dir":
        raise TetherError(
            "NOT_A_FILE", f"`{path}` is a directory", action="Name a file, or reindex the project"
        )
    with index.lease:
        if spot.kind == "absent":
            index.apply(Changes(gone=(spot.path or clean,)))
        else:
            index.apply(Changes(changed=(spot.path,)))


def reindex_project(index: CodeIndex) -> IndexStatus:
    """Bring the whole index up to the tree."""
    index.index()
    return index.status()


def get_index_metrics(index: CodeIndex) -> Measured:
    """Search latency, index hit rate, re-index frequency and embedding latency of this process."""
    semantic = index.semantic
    if semantic is None:
        return index.metrics.look()
    return index.metrics.look(semantic.latencies, semantic.vectors.count_pending())


def get_index_status(index: CodeIndex) -> IndexStatus:
    """How the index stands against the tree."""
    return index.status()

"""The operations under the names agents call them by."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tether.errors import TetherError
from tether.index.code import CodeIndex
from tether.index.operations import (
    get_index_metrics,
    get_index_status,
    query_context,
    reindex_file,
    reindex_project,
)
from tether.types import plain

Write = Callable[..., Path]


def test_context_chunks_have_exactly_the_agreed_fields(index: CodeIndex) -> None:
    chunks = query_context(index, "cart total", top_k=2)
    assert len(chunks) == 2
    assert set(plain(chunks[0])) == {
        "id", "file_path", "language", "content", "start_line", "end_line", "relevance_score",
        "parent_symbol", "imports",
    }  # fmt: skip
    assert all(0 <= chunk.relevance_score <= 1 for chunk in chunks)
    assert {c.language for c in query_context(index, "session", language="typescript")} == {"typescript"}


def test_one_file_is_indexed_again_or_dropped(index: CodeIndex, write: Write, project: Path) -> None:
    index.watched = True
    write("src/shop/prices.py", "def other_price():\n    return 1\n")
    reindex_file(index, "src/shop/prices.py")
    assert index.search("other_price").hits[0].name == "other_price"
    os.unlink(project / "src/shop/prices.py")
    reindex_file(index, "./src/shop/prices.py")
    assert "src/shop/prices.py" not in {hit.file_path for hit in index.search("other_price").hits}


@pytest.mark.parametrize("path", ["../outside.py", "/etc/passwd", "src/../../x", "src"])
def test_paths_that_lead_elsewhere_are_refused(index: CodeIndex, path: str) -> None:
    with pytest.raises(TetherError):
        reindex_file(index, path)


def test_the_project_is_brought_up(index: CodeIndex, write: Write) -> None:
    write("src/more.py", "x = 1\n")
    status = reindex_project(index)
    assert (status.total_files, status.stale_files) == (7, 0)
    assert set(plain(get_index_status(index))) >= {
        "total_files", "indexed_files", "pending_files", "stale_files", "last_indexed_at", "index_size_bytes",
    }  # fmt: skip


def test_metrics_count_searches_hits_and_what_was_read_again(index: CodeIndex, write: Write) -> None:
    before = get_index_metrics(index)
    assert (before.searches, before.reindexed_files, before.index_hit_rate) == (0, 6, 1.0)
    index.search("cart total")
    index.watched = True
    write("src/shop/cart.py", "class Cart:\n    total = 'changed'\n")
    index.search("cart total")
    measured = get_index_metrics(index)
    assert measured.searches == 2 == sum(measured.latency_ms.values())
    assert 0 < measured.index_hit_rate < 1
    assert measured.latency_p99_ms >= measured.latency_p50_ms > 0
    assert measured.embedding_latency_ms is None and measured.reindexed_per_hour > 0


def test_an_edit_is_seen_by_the_very_next_question(index: CodeIndex, write: Write) -> None:
    for n in range(5):
        write("src/shop/prices.py", f"def price_number_{n}():\n    return {n}\n", age=60 + n)
        assert index.search(f"price_number_{n}").hits[0].name == f"price_number_{n}"

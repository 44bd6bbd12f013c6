"""Search without an index: read the tree itself, slower and plainer, so that an answer always comes."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Sequence
from typing import Final

from tether.index.fragments import WINDOW
from tether.index.freshness import decay
from tether.index.indexer import list_files
from tether.index.query import Query
from tether.index.reading import SetAsideError, read_bytes, read_text
from tether.index.results import Hit
from tether.index.terms import Lexicon
from tether.index.traits import DOCUMENT, TEST, traits_of
from tether.source.classify import HEAD_BYTES, classify_file
from tether.source.root import Root

SECONDS: Final = 5.0


def scan_tree(
    root: Root, query: Query, lexicon: Lexicon, *, k: int, exclude: Sequence[str], seconds: float = SECONDS
) -> tuple[list[Hit], bool]:
    """The files on disk that hold most of a question's words, and whether all could be read in time."""
    from tether.source.syntax import language_of

    deadline = time.monotonic() + seconds
    counted: list[tuple[str, dict[str, int], int]] = []
    held: dict[str, int] = {}
    complete = True
    for found in list_files(root.path, exclude):
        if found.reason is not None:
            continue
        if time.monotonic() > deadline:
            complete = False
            break
        try:
            data, _, _ = read_bytes(root, found.path)
            if classify_file(found.path, data[:HEAD_BYTES], len(data)) is not None:
                continue
            counts = lexicon.count(found.path + "\n" + read_text(data, found.path))
        except SetAsideError:
            continue
        mine = {term: counts[term] for term in query.terms if term in counts}
        for term in mine:
            held[term] = held.get(term, 0) + 1
        if mine:
            counted.append((found.path, mine, sum(counts.values())))
    total = len(counted) + 1
    scored = []
    for path, counts, length in counted:
        norm = 1.2 * (0.6 + 0.4 * length / 1000)
        score = sum(
            query.terms[term] * math.log(1 + total / held[term]) * n * 2.2 / (n + norm)
            for term, n in counts.items()
        )
        traits = traits_of(path, 1, language_of(path) or "")
        if traits & TEST and not query.wants_tests:
            score *= 0.4
        if traits & DOCUMENT:
            score *= 0.5
        scored.append((score, path))
    best = heapq.nlargest(k, scored)
    return [hit for score, path in best if (hit := _window(root, path, query, lexicon, score))], complete


def _window(root: Root, path: str, query: Query, lexicon: Lexicon, score: float) -> Hit | None:
    """The lines of a file that hold most of the question."""
    from tether.source.syntax import language_of

    try:
        data, digest, _ = read_bytes(root, path)
        lines = read_text(data, path).split("\n")
    except SetAsideError:
        return None
    weights = [sum(query.terms.get(term, 0.0) for term in lexicon.count(line)) for line in lines]
    running = sum(weights[:WINDOW])
    best, at = running, 0
    for start in range(1, max(1, len(lines) - WINDOW + 1)):
        running += weights[start + WINDOW - 1] - weights[start - 1]
        if running > best:
            best, at = running, start
    end = min(len(lines), at + WINDOW)
    return Hit(
        id="",
        file_path=path,
        language=language_of(path, data[:HEAD_BYTES]) or "",
        content="\n".join(lines[at:end]),
        start_line=at + 1,
        end_line=end,
        relevance_score=score / (score + 10),
        file_hash=digest,
        freshness=decay(0),
        lanes={"lexical": score},
    )

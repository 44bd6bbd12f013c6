"""Code like a given piece of code."""

from __future__ import annotations

from typing import Final

from tether.errors import TetherError
from tether.index.code import CodeIndex
from tether.index.query import Query
from tether.index.results import Hit

TERMS: Final = 30


def find_similar(index: CodeIndex, path: str, line: int, k: int = 5) -> list[Hit]:
    """The fragments most like the one at a line, that one left out."""
    index.refresh()
    store = index.store()
    row = store.file(path) if store is not None else None
    if store is None or row is None:
        raise TetherError("NOT_FOUND", f"`{path}` is not indexed", path=path)
    fragments, _ = store.fragments_at(row.id, line)
    if not fragments:
        raise TetherError("NOT_FOUND", f"`{path}` has no code at line {line}", path=path, line=line)
    text = index.text_of(store, row.id)[fragments[0].start_char : fragments[0].end_char]
    segments, _ = store.segments()
    total = store.total_files()
    weights: dict[str, float] = {}
    for term, count in index.lexicon.count(text).items():
        held = sum(len(p.files) for s in segments if (p := s.find(term.encode())) is not None)
        if 1 < held <= max(2, total // 3):  # what only this file says, or every file says, tells nothing
            weights[term] = 1 + min(count, 4) / 4
    rare = sorted(weights, key=lambda term: (-weights[term], term))[:TERMS]
    if not rare:
        return []
    terms = {term: weights[term] for term in rare}
    query = Query(text, terms, {}, (), (), True, False, True, tuple(terms))
    found = index.ask(query, k + 1)
    own = (path, fragments[0].start_line)
    return [hit for hit in found if (hit.file_path, hit.start_line) != own][:k]

"""Exact text in the code: what grep would find, without reading files that cannot hold it."""

from __future__ import annotations

import re
from typing import Final

from tether.errors import TetherError
from tether.index.code import CodeIndex
from tether.index.reading import SetAsideError, read_bytes, read_text
from tether.source.ignore import Rules
from tether.types import noun

MOST: Final = 1_000
LINE_CHARS: Final = 400
_INNER: Final = re.compile(r"(?<=[^\w])[^\W\d]\w*(?=[^\w])")


@noun
class Match:
    """One line that holds the text."""

    file_path: str
    line: int
    column: int  # in characters, from 1
    text: str


@noun
class Matches:
    """Lines found, in the order of paths and lines."""

    matches: tuple[Match, ...]
    files_read: int
    complete: bool


def search_codebase_text(
    index: CodeIndex,
    text: str,
    *,
    path: str = "",
    ignore_case: bool = False,
    word: bool = False,
    limit: int = 100,
) -> Matches:
    """Every line of an indexed file that holds `text`, as the files are on disk now."""
    if not text or "\n" in text:
        raise TetherError("BAD_ARGUMENTS", "the text must be one line and not empty")
    limit = max(1, min(limit, MOST))
    index.refresh()
    pattern = re.compile(
        rf"(?<!\w){re.escape(text)}(?!\w)" if word else re.escape(text), re.IGNORECASE if ignore_case else 0
    )
    rules = Rules((path,)) if path else None
    matches: list[Match] = []
    read = 0
    for name in _candidates(index, text, word):
        if rules is not None and not rules.decide(name, name.rsplit("/", 1)[-1], False):
            continue
        try:
            content = read_text(read_bytes(index.root, name)[0], name)
        except SetAsideError:
            continue
        read += 1
        if pattern.search(content) is None:
            continue
        for number, line in enumerate(content.split("\n"), 1):
            found = pattern.search(line)
            if found is not None:
                if len(matches) >= limit:
                    return Matches(tuple(matches), read, False)
                low = max(0, found.start() - LINE_CHARS // 2) if len(line) > LINE_CHARS else 0
                matches.append(
                    Match(name, number, found.start() + 1, line[low : low + LINE_CHARS].rstrip("\r"))
                )
    return Matches(tuple(matches), read, True)


def _candidates(index: CodeIndex, text: str, word: bool) -> list[str]:
    """Files that may hold the text: all, unless it has whole words, which the index knows."""
    store = index.store()
    if store is None:
        from tether.index.indexer import list_files

        return [found.path for found in list_files(index.root.path, index.exclude) if found.reason is None]
    whole = _INNER.findall(f" {text} " if word else text)
    ids: set[int] | None = None
    segments, dead = store.segments()
    for name in whole:
        for term in index.lexicon.split(name):
            lists = (segment.find(term.encode()) for segment in segments)
            holding = {file for postings in lists if postings is not None for file in postings.files}
            ids = holding if ids is None else ids & holding
    if ids is None:
        return [row[0] for row in store.db.execute("SELECT path FROM file ORDER BY path")]
    return sorted(row.path for row in store.files(ids - dead).values())

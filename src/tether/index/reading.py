"""One file, read and taken apart into what the store keeps."""

from __future__ import annotations

import codecs
import os
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from tether.errors import TetherError
from tether.index.fragments import cut_file
from tether.index.store import NewFile
from tether.index.terms import Lexicon
from tether.index.traits import stem_of, traits_of
from tether.source.classify import HEAD_BYTES, HUGE_BYTES, classify_file
from tether.source.text import decode

if TYPE_CHECKING:
    from tether.source.outline import Outline
    from tether.source.root import Root

NAME_WEIGHT: Final = 2
PATH_WEIGHT: Final = 2
STEM_WEIGHT: Final = 2
MOST_SYMBOLS: Final = 5_000  # of one file
MOST_IMPORTS: Final = 200
RACY_NS: Final = 2_000_000_000
_KEYED: Final = frozenset({"json", "yaml", "toml", "html", "css", "xml"})


class SetAsideError(Exception):
    """A file that is not indexed; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_bytes(root: Root, path: str, limit: int = HUGE_BYTES) -> tuple[bytes, str, os.stat_result | None]:
    """A file's bytes, their hash and its stat, read without leaving the root; SetAsideError if not."""
    try:
        about: os.stat_result | None = os.stat(path, dir_fd=root.fd, follow_symlinks=False)
    except (OSError, ValueError):
        about = None
    try:
        data, spot = root.read(path, limit, follow=False)
    except TetherError as error:
        reasons = {"NOT_FOUND": "vanished", "TOO_LARGE": "huge", "NOT_A_FILE": "special"}
        raise SetAsideError(reasons.get(error.code, "refused")) from error
    except OSError as error:
        raise SetAsideError("unreadable") from error
    return data, spot.hash, about


def read_text(data: bytes, path: str) -> str:
    """The text of a file's bytes; SetAsideError when it is none."""
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode()
    except UnicodeDecodeError:
        try:
            return decode(data, path).text
        except TetherError as error:
            raise SetAsideError("binary") from error


def read_file(root: Root, path: str, lexicon: Lexicon, *, known_hash: str = "") -> NewFile | None:
    """A file ready to be stored; None when its content has the hash already known."""
    data, digest, about = read_bytes(root, path)
    if digest == known_hash:
        return None
    reason = classify_file(path, data[:HEAD_BYTES], len(data))
    if reason is not None:
        raise SetAsideError(reason)
    text = read_text(data, path)
    mtime = settle_mtime(about)
    return take_apart(path, text, digest, len(data), mtime, lexicon)


def settle_mtime(about: os.stat_result | None) -> int:
    """A modification time to trust later; 0 while the file is so young that a change could hide."""
    if about is None or time.time_ns() - about.st_mtime_ns < RACY_NS:
        return 0
    return about.st_mtime_ns


def take_apart(path: str, text: str, digest: str, size: int, mtime_ns: int, lexicon: Lexicon) -> NewFile:
    """Fragments, symbols and terms of one text."""
    # Loaded here: a search that finds everything fresh parses nothing, and should not pay for parsers.
    from tether.source.outline import outline
    from tether.source.syntax import LANGUAGES, language_of

    data = text.encode("utf-8", "surrogatepass")
    language = language_of(path, data[:HEAD_BYTES]) or ""
    shape: Outline | None = None
    note = ""
    if language in LANGUAGES:
        shape = outline(data, language)
        note = shape.reason
    cuts = cut_file(text, shape, data)
    fragments, begins = cuts.fragments, cuts.passages
    names = _names_by_line(shape, language, lexicon)
    terms = []
    at = 0
    for place, first in enumerate(begins):
        last = begins[place + 1] if place + 1 < len(begins) else len(fragments)
        low, high = fragments[first], fragments[last - 1]
        inner = lexicon.count(text[low.start_char : high.end_char])
        end = fragments[last].start_line if last < len(fragments) else 1 << 60
        while at < len(names) and names[at][0] < end:
            for term in names[at][1]:
                inner[term] = inner.get(term, 0) + NAME_WEIGHT
            at += 1
        terms.append(inner)
    extra: dict[str, int] = {}
    for words, weight in ((path, PATH_WEIGHT), (stem_of(path), STEM_WEIGHT)):
        for term, count in lexicon.count(words).items():
            extra[term] = extra.get(term, 0) + weight * count
    symbols = _symbols(shape, language, data)
    return NewFile(
        path,
        language,
        traits_of(path, len(symbols), language),
        size,
        mtime_ns,
        digest,
        text,
        tuple((i.module, i.start_line, i.end_line) for i in shape.imports[:MOST_IMPORTS]) if shape else (),
        fragments,
        tuple(
            sha256(text[f.start_char : f.end_char].encode("utf-8", "surrogatepass")).digest()
            for f in fragments
        ),
        begins,
        symbols,
        extra,
        tuple(terms),
        note,
    )


def _names_by_line(
    shape: Outline | None, language: str, lexicon: Lexicon
) -> list[tuple[int, dict[str, int]]]:
    """The terms of the names defined in a file, each with its line, in order."""
    if shape is None or language in _KEYED:
        return []
    return sorted(
        ((symbol.start_line, lexicon.count(symbol.name)) for symbol in shape.symbols),
        key=lambda item: item[0],
    )


def _symbols(shape: Outline | None, language: str, data: bytes) -> tuple[tuple[object, ...], ...]:
    if shape is None:
        return ()
    rows: list[tuple[object, ...]] = []
    for symbol in shape.symbols[:MOST_SYMBOLS]:
        if language in _KEYED and symbol.parent.count(".") > 0:
            continue  # keys deep in data are not names anyone looks up
        start, end = symbol.signature
        rows.append(
            (
                symbol.name.lower(),
                symbol.name,
                symbol.qualified,
                symbol.kind,
                symbol.start_line,
                symbol.end_line,
                int(symbol.exported),
                " ".join(data[start : min(end, start + 400)].decode("utf-8", "replace").split())[:240],
                symbol.doc.summary if symbol.doc else "",
            )
        )
    return tuple(rows)

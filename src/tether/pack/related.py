"""Where names are defined and called, found in the text of the files asked about and no others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tether.pack.document import File
from tether.pack.shape import as_type, read_outline
from tether.pack.summary import categorise
from tether.pack.text import is_binary, name_language
from tether.source.outline import Outline, Symbol
from tether.source.references import references

MOST_PARSED = 300  # files parsed for one question


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or class and its lines; `around` is what it stands on: imports and enclosing heads."""

    kind: str
    name: str
    qualified: str
    path: str
    start: int
    end: int
    signature_end: int
    start_byte: int
    end_byte: int
    around: tuple[tuple[int, int], ...] = ()


def is_test(path: str) -> bool:
    """Whether a file holds tests, by its name and folder."""
    return categorise(path, name_language(path)) == "test"


def _parse(files: Sequence[File], word: str) -> Iterator[tuple[File, bytes, Outline]]:
    """Files that hold the word, parsed; the nearest to the top of the tree first."""
    mark = re.compile(rb"(?<![\w])" + re.escape(word.encode("utf-8", "surrogatepass")) + rb"(?![\w])")
    parsed = 0
    for file in sorted(files, key=lambda f: (is_test(f.path), f.path.count("/"), f.path)):
        data = file.load()
        if data is None or (word and not mark.search(data)) or is_binary(data):
            continue
        found = read_outline(file.path, data)
        if found is None:
            continue
        yield file, data, found
        parsed += 1
        if parsed >= MOST_PARSED:
            return


def list_definitions(files: Sequence[File], name: str) -> list[Definition]:
    """Every function and class of that name, plain or qualified; all of them for an empty name."""
    last = name.rpartition(".")[2]
    return [
        _define(file.path, data, symbol, outline)
        for file, data, outline in _parse(files, last)
        for symbol in outline.symbols
        if as_type(symbol) and (not name or _is_named(symbol, name))
    ]


def _is_named(symbol: Symbol, name: str) -> bool:
    return symbol.name == name or symbol.qualified == name or symbol.qualified.endswith(f".{name}")


def _define(path: str, data: bytes, symbol: Symbol, outline: Outline) -> Definition:
    signature_end = symbol.start_line + data.count(b"\n", symbol.start_byte, symbol.signature[1])
    around = [(item.start_line, item.end_line) for item in outline.imports]
    for other in outline.symbols:
        if symbol.parent and (
            other.qualified == symbol.parent or symbol.parent.startswith(f"{other.qualified}.")
        ):
            head = other.start_line + data.count(b"\n", other.start_byte, other.signature[1])
            around.append((other.start_line, head))
    return Definition(
        as_type(symbol),
        symbol.name,
        symbol.qualified,
        path,
        symbol.start_line,
        symbol.end_line,
        signature_end,
        symbol.start_byte,
        symbol.end_byte,
        tuple(sorted(set(around))),
    )


def find_callees(files: Sequence[File], place: Definition, most: int) -> list[Definition]:
    """What a definition calls, as far as it is defined here: in the same file, else in exactly one other."""
    file = next(f for f in files if f.path == place.path)
    data = file.load()
    outline = read_outline(place.path, data) if data else None
    if data is None or outline is None:
        return []
    called = [
        ref.name
        for ref in references(data, outline.language, outline)
        if ref.kind == "call" and place.start_byte <= ref.start_byte < place.end_byte
    ]
    found: list[Definition] = []
    kin = _same_language(files, place.path)
    for name in dict.fromkeys(called):
        if len(found) >= most:
            break
        here = [s for s in outline.symbols if s.name == name and as_type(s)]
        here = [s for s in here if s.start_byte != place.start_byte]
        if here:
            found.append(_define(place.path, data, here[0], outline))
        elif len(name) > 2:
            elsewhere = [d for d in list_definitions(kin, name) if not is_test(d.path)]
            if len(elsewhere) == 1 and elsewhere[0].path != place.path:
                found.append(elsewhere[0])
    return found


def find_callers(
    files: Sequence[File], place: Definition, most: int, *, tests: bool = False
) -> list[Definition]:
    """The definitions that call a name, those outside tests first."""
    found: dict[tuple[str, str], Definition] = {}
    for file, data, outline in _parse(_same_language(files, place.path), place.name):
        if is_test(file.path) and not tests:
            continue
        symbols = {symbol.qualified: symbol for symbol in outline.symbols}
        for ref in references(data, outline.language, outline):
            if ref.kind != "call" or ref.name != place.name or ref.enclosing not in symbols:
                continue
            symbol = symbols[ref.enclosing]
            itself = (file.path, symbol.qualified) == (place.path, place.qualified)
            if as_type(symbol) and not itself:
                found.setdefault((file.path, symbol.qualified), _define(file.path, data, symbol, outline))
        if len(found) >= most:
            break
    return list(found.values())[:most]


_FAMILIES = ({"javascript", "typescript", "tsx"}, {"c", "cpp", "objc"}, {"java", "kotlin", "scala", "groovy"})


def _same_language(files: Sequence[File], path: str) -> list[File]:
    language = name_language(path)
    kin = next((family for family in _FAMILIES if language in family), {language})
    return [file for file in files if name_language(file.path) in kin]

"""Outlines as text: the cases under `outlines/`, one file for each language, and how they are written.

A case is a title after `===`, the source, and after `--- outline` what must be found in it, one line each:

    kind qualified.name lines [not exported] [level n] | signature | doc
    import module: name as bound @line
    block kind lines / expression kind lines
    call name @line in qualified.name     (and `type …`; plain uses are listed by name alone)
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tether.source.outline import Outline, outline
from tether.source.references import references

FOLDER = Path(__file__).with_name("outlines")


class Case(NamedTuple):
    language: str
    title: str
    source: str
    expected: str


def read_cases(folder: Path = FOLDER) -> list[Case]:
    cases = []
    for path in sorted(folder.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("\n=== ")[1:]:
            title, _, rest = part.partition("\n")
            source, _, expected = rest.partition("\n--- outline\n")
            cases.append(Case(path.stem, title, source + "\n", expected.strip("\n")))
    return cases


def write(source: str, language: str) -> str:
    """The outline and references of a source, in the form the cases are written in."""
    data = source.encode()
    shape = outline(data, language)
    lines = [*_symbols(shape, data), *_imports(shape)]
    for statement in shape.statements:
        word = "block" if statement.level == 2 else "expression"
        lines.append(f"{word} {statement.kind} {statement.start_line}-{statement.end_line}")
    refs = references(data, language, shape)
    for ref in refs:
        if ref.kind != "use":
            place = f" in {ref.enclosing}" if ref.enclosing else ""
            lines.append(f"{ref.kind} {ref.name} @{ref.line}{place}")
    uses = dict.fromkeys(ref.name for ref in refs if ref.kind == "use")
    if uses:
        lines.append("uses " + " ".join(uses))
    if shape.errors:
        lines.append("errors")
    return "\n".join(lines)


def _symbols(shape: Outline, data: bytes) -> list[str]:
    lines = []
    for symbol in shape.symbols:
        signature = data[slice(*symbol.signature)].decode().replace("\n", "⏎")
        line = f"{symbol.kind} {symbol.qualified} {symbol.start_line}-{symbol.end_line}"
        line += "" if symbol.exported else " not exported"
        line += f" level {symbol.level}" if symbol.level else ""
        line += f" | {signature}"
        line += f" | {symbol.doc.summary}" if symbol.doc else ""
        lines.append(line)
    return lines


def _imports(shape: Outline) -> list[str]:
    lines = []
    for taken in shape.imports:
        line = f"import {taken.module}: {' '.join(taken.names)}"
        line += f" as {' '.join(taken.bound)}" if taken.bound not in ((), taken.names) else ""
        lines.append(f"{line.rstrip().rstrip(':')} @{taken.start_line}")
    return lines

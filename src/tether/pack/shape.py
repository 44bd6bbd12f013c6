"""A file's shape from its syntax tree: whole signatures, first lines of documentation, no bodies."""

from __future__ import annotations

from tether.pack.skeleton import Omitted, Skeleton
from tether.source.outline import CALLABLE, HOLDER, Doc, Outline, Symbol, outline
from tether.source.syntax import language_of

_LONGEST = 400  # characters of a constant or documentation line worth keeping


def read_outline(path: str, data: bytes) -> Outline | None:
    """The outline of a file; None where no grammar knows it or the text cannot be parsed in time."""
    language = language_of(path, data[:512])
    if language is None:
        return None
    found = outline(data, language)
    return None if found.reason else found


def shape_by_outline(text: str, path: str, language: str, brief: bool) -> Skeleton | None:
    """The skeleton a parser sees; None leaves it to the patterns."""
    data = text.encode()
    found = read_outline(path, data)
    if found is None or not (found.symbols or found.imports):
        return None
    if found.language in ("markdown", "json", "yaml", "toml", "html", "css"):
        return _shape_document(found, data, brief)
    spans = _choose(found, data, brief)
    lines = [_cut_span(data, start, end) for start, end in _order(spans)]
    kept = "\n".join(line for line in lines if line.strip())
    if not kept:
        return None
    return Skeleton(kept, kept.count("\n") + 1, _omitted(found), parsed=True)


def _shape_document(found: Outline, data: bytes, brief: bool) -> Skeleton | None:
    """Headings and top-level keys; a document's leaves are its text, and not kept."""
    symbols = [s for s in found.symbols if not s.parent or (not brief and s.parent.count(".") < 1)]
    spans = [s.signature for s in symbols]
    lines = [_cut_span(data, start, _line_end(data, start, end)) for start, end in _order(spans)]
    kept = "\n".join(line[:_LONGEST] for line in lines if line.strip())
    return Skeleton(kept, kept.count("\n") + 1, (), parsed=True) if kept else None


def _choose(found: Outline, data: bytes, brief: bool) -> list[tuple[int, int]]:
    kinds = {symbol.qualified: symbol.kind for symbol in found.symbols}
    spans: list[tuple[int, int]] = []
    if not brief:
        if found.doc is not None:
            spans.append(_first_line(data, found.doc))
        spans += [(item.start_byte, item.end_byte) for item in found.imports]
    for symbol in found.symbols:
        # Of what is defined inside a function only the heads are kept: the rest belongs to its body.
        local = kinds.get(symbol.parent, "") in CALLABLE
        headed = symbol.kind in CALLABLE or symbol.kind in HOLDER
        if (brief or local) and (not headed or (brief and local)):
            continue
        start, end = symbol.signature
        spans.append((start, end if headed else _line_end(data, start, end)))
        if headed and symbol.doc is not None and not (brief or local):
            spans.append(_first_line(data, symbol.doc))
    return spans


def _first_line(data: bytes, doc: Doc) -> tuple[int, int]:
    end = _line_end(data, doc.start_byte, doc.end_byte)
    line = data[doc.start_byte : end].strip(b"\"'/*#!-<> \t{}|")
    if not line:
        # The opener stands alone: the first sentence is on the next line.
        end = _line_end(data, min(doc.end_byte, end + 1), doc.end_byte)
    return doc.start_byte, end


def _line_end(data: bytes, start: int, end: int) -> int:
    newline = data.find(b"\n", start, end)
    return min(end if newline < 0 else newline, start + _LONGEST)


def _order(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """In the order of the text, without what lies within another."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(set(spans)):
        if merged and start < merged[-1][1]:
            if end > merged[-1][1]:
                merged[-1] = (merged[-1][0], end)
            continue
        merged.append((start, end))
    return merged


def _cut_span(data: bytes, start: int, end: int) -> str:
    """A span with the indentation of its first line."""
    line = data.rfind(b"\n", 0, start) + 1
    indent = data[line:start]
    if indent.strip():
        indent = indent[: len(indent) - len(indent.lstrip())]
    return (indent + data[start:end]).decode("utf-8", "replace").rstrip()


def _omitted(found: Outline) -> tuple[Omitted, ...]:
    return tuple(
        Omitted(as_type(symbol), symbol.qualified, symbol.start_line, symbol.end_line)
        for symbol in found.symbols
        if symbol.body is not None and as_type(symbol)
    )


def as_type(symbol: Symbol) -> str:
    """function | class, or "" for what is neither."""
    if symbol.kind in CALLABLE:
        return "function"
    return "class" if symbol.kind in HOLDER or symbol.kind in ("type", "module", "namespace") else ""

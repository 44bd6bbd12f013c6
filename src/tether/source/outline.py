"""What a file defines, takes in and mentions, with exact byte and line ranges."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from tether.source.languages import rules_of
from tether.source.languages.rules import Parent
from tether.source.syntax import MAX_BYTES, TIMEOUT_MS, attempt, kind_ids

if TYPE_CHECKING:
    from tree_sitter import Node, Tree

    from tether.source.languages.rules import Found, Rules

CALLABLE: Final = frozenset({"function", "method", "constructor", "macro"})
VALUED: Final = frozenset({"constant", "property", "type", "macro", "table"})
SILENT: Final = frozenset(
    {
        "attribute_item",
        "doctype",
        "file_scoped_namespace_declaration",
        "header",
        "inner_attribute_item",
        "namespace_definition",
        "package_clause",
        "package_declaration",
        "package_header",
        "php_tag",
    }
)
HOLDER: Final = frozenset({"class", "interface", "struct", "enum", "trait", "impl"})


@dataclass(frozen=True, slots=True)
class Doc:
    """A leading comment or docstring."""

    summary: str  # its first sentence
    start_byte: int
    end_byte: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition. Lines count from 1, both ends included; bytes from 0, end excluded."""

    kind: str
    name: str
    qualified: str  # the names of all that encloses it, joined by `.`
    parent: str  # the qualified name of what encloses it, or ""
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    name_range: tuple[int, int]
    signature: tuple[int, int]  # decorators and modifiers included, body excluded
    body: tuple[int, int] | None
    doc: Doc | None = None
    exported: bool = True
    level: int = 0  # of a heading


@dataclass(frozen=True, slots=True)
class Import:
    """One module taken in: the names asked of it, and the names they go by here."""

    module: str
    names: tuple[str, ...]
    bound: tuple[str, ...]
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Statement:
    """A top-level statement that defines nothing: a block (level 2) or a bare expression (level 3)."""

    kind: str
    level: int
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Outline:
    """What one file holds. Without a tree, `reason` says why and everything else is empty."""

    language: str
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    statements: tuple[Statement, ...] = ()
    doc: Doc | None = None  # of the file itself
    errors: bool = False  # the text does not wholly follow the grammar
    reason: str = ""
    tree: Tree | None = field(default=None, compare=False, repr=False)


class Lines:
    """Byte offsets as line numbers, counted from the offset asked for last."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at, self._line = data, 0, 1

    def at(self, offset: int) -> int:
        """The line, counted from 1, on which this byte stands."""
        if offset >= self._at:
            self._line += self._data.count(b"\n", self._at, offset)
        else:
            self._line -= self._data.count(b"\n", offset, self._at)
        self._at = offset
        return self._line

    def last(self, start: int, end: int) -> int:
        """The line on which a range that starts at `start` ends."""
        return self.at(start) + self._data.count(b"\n", start, max(start, end - 1))


def outline(
    data: bytes, language: str, *, timeout_ms: float = TIMEOUT_MS, max_bytes: int = MAX_BYTES
) -> Outline:
    """Everything `data` defines and imports, in the order of the text."""
    rules = rules_of(language)
    if rules is None:
        return Outline(language, reason=f"no grammar for `{language}`")
    parsed = attempt(data, language, timeout_ms=timeout_ms, max_bytes=max_bytes)
    if parsed.tree is None:
        return Outline(language, reason=parsed.reason)
    return _Reading(data, language, rules, parsed.tree).outline()


@dataclass(slots=True)
class _Scope:
    end: int
    qualified: str
    symbol: Parent


class _Reading:
    """One pass over one tree."""

    def __init__(self, data: bytes, language: str, rules: Rules, tree: Tree) -> None:
        self.data, self.language, self.rules, self.tree = data, language, rules, tree
        self.lines = Lines(data)
        self.symbols: list[Symbol] = []
        self.imports: list[Import] = []
        self.scopes: list[_Scope] = []
        self.leads: list[tuple[int, int, bool]] = []  # start, end, is a comment
        self.wraps: list[tuple[int, int, int]] = []  # depth, start, end
        self.doc: Doc | None = None
        self.given = rules.exports(tree.root_node, data) if rules.exports else None

    def outline(self) -> Outline:
        root = self.tree.root_node
        self._walk()
        docstring = self.rules.docstring(root, self.data) if self.rules.docstring else None
        if docstring is not None:
            self.doc = self._doc_of(docstring.start_byte, docstring.end_byte)
        return Outline(
            self.language,
            tuple(self.symbols),
            tuple(self.imports),
            self._statements(root),
            self.doc,
            root.has_error,
            tree=self.tree,
        )

    def _walk(self) -> None:
        rules = self.rules
        known = rules.comments | rules.attributes | rules.wrappers | rules.opaque
        kinds = kind_ids(self.language, known | frozenset(rules.definitions) | frozenset(rules.imports))
        opaque = rules.opaque
        cursor = self.tree.walk()
        down, along, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
        find = kinds.get
        depth = 0
        while True:
            node: Node = cursor.node  # type: ignore[assignment]
            kind = find(node.kind_id)
            if kind is not None:
                self._visit(node, kind, depth)
                if kind not in opaque and down():
                    depth += 1
                    continue
            elif down():
                depth += 1
                continue
            while not along():
                if not up():
                    return
                depth -= 1

    def _visit(self, node: Node, kind: str, depth: int) -> None:
        rules = self.rules
        count = len(self.symbols)
        if kind in rules.imports:
            for taken in rules.imports[kind](node, self.data):
                start, end = node.start_byte, node.end_byte
                last = self.imports[-1] if self.imports else None
                if (
                    last is not None
                    and last.module == taken.module
                    and start > last.start_byte
                    and end <= last.end_byte
                ):
                    continue  # `x = require("m")` was read as a whole already
                lines = self.lines.at(start), self.lines.last(start, end)
                self.imports.append(Import(taken.module, taken.names, taken.bound, start, end, *lines))
        if kind in rules.definitions:
            several = tuple(rules.definitions[kind](node, self.data))
            for found in several:
                self._add(found, depth, holds=found.holds and (len(several) == 1 or found.level > 0))
        if kind in rules.comments or (kind in rules.attributes and count == len(self.symbols)):
            self.leads.append((node.start_byte, node.end_byte, kind in rules.comments))
        if kind in rules.wrappers:
            self.wraps.append((depth, node.start_byte, node.end_byte))

    def _add(self, found: Found, depth: int, *, holds: bool) -> None:
        start, end = found.node.start_byte, found.end or found.node.end_byte
        while self.scopes and self.scopes[-1].end <= start:
            self.scopes.pop()
        scope = self.scopes[-1] if self.scopes else None
        kind = _kind_within(found.kind, scope.symbol.kind if scope else "")
        if self.rules.constructors and kind == "method" and scope is not None:
            kind = "constructor" if scope.qualified.endswith(found.name) else kind
        if not kind or not found.name or (self.rules.nesting and self._is_data(scope)):
            return
        qualified = ".".join(filter(None, (scope.qualified if scope else "", found.owner)))
        parent = qualified
        qualified = f"{parent}.{found.name}" if parent else found.name
        if self.rules.equations and self._joins(kind, qualified, end, found.body):
            return
        inner = end
        start, end = self._widen(start, end, depth)
        start, lead = self._lead_in(start)
        end = self._trim(start, end)
        body = (found.body.start_byte, found.body.end_byte) if found.body is not None else None
        if body is not None:
            body = (body[0], self._trim(body[0], inner if found.to_end else body[1]))
            body = body if body[0] < body[1] else None
        name = (found.at.start_byte, found.at.end_byte) if found.at is not None else (start, start)
        head = self.data[start : name[0]].decode("utf-8", "replace")
        exported = self.rules.exported(found.name, head, scope.symbol if scope else None)
        if self.given is not None and scope is None:
            exported = found.name in self.given or (exported and not self.rules.exports_all)
        if holds:
            self.scopes.append(_Scope(inner, qualified, Parent(kind, head, exported)))
        docstring = self.rules.docstring(found.node, self.data) if self.rules.docstring else None
        if docstring is not None:
            lead = docstring.start_byte, docstring.end_byte
        self.symbols.append(
            Symbol(
                kind,
                found.name,
                qualified,
                parent,
                start,
                end,
                self.lines.at(start),
                self.lines.last(start, end),
                name,
                (start, self._end_of_signature(kind, start, body[0] if body else end, name[1], body is None)),
                body,
                self._doc_of(*lead) if lead else None,
                exported,
                found.level,
            )
        )

    def _is_data(self, scope: _Scope | None) -> bool:
        return len(self.scopes) >= self.rules.nesting or (
            scope is not None and scope.symbol.kind == "property"
        )

    def _joins(self, kind: str, qualified: str, end: int, body: Node | None) -> bool:
        """Lengthen the neighbour of the same name by this equation, if there is one."""
        at = len(self.symbols) - 1
        while at >= 0 and self.symbols[at].parent.startswith(qualified):
            at -= 1
        last = self.symbols[at] if at >= 0 else None
        if last is None or kind not in CALLABLE or last.qualified != qualified:
            return False
        whole = (last.body[0], body.end_byte) if last.body is not None and body is not None else last.body
        self.symbols[at] = replace(
            last, end_byte=end, end_line=self.lines.last(last.start_byte, end), body=whole
        )
        return True

    def _widen(self, start: int, end: int, depth: int) -> tuple[int, int]:
        """Take in the nodes that hold this one definition alone."""
        wraps = self.wraps
        while wraps and wraps[-1][0] >= depth:
            wraps.pop()
        above = depth - 1
        for outer, from_, to in reversed(wraps):
            if outer != above or to < end:
                break
            rest = self.data[end:to].strip(b"; \t\r\n")
            if rest and not rest.startswith(b","):
                break
            if self.symbols and self.symbols[-1].name_range[0] >= from_:
                break  # the wrapper's beginning belongs to an earlier name: `let a = 1, b = 2`
            start, above = from_, above - 1
            if not rest:
                end = to
        return start, end

    def _lead_in(self, start: int) -> tuple[int, tuple[int, int] | None]:
        """The start with the attributes before it, and the comment that leads in to it."""
        data, edge = self.data, start
        comment: tuple[int, int] | None = None
        for lead_start, lead_end, is_comment in reversed(self.leads):
            if lead_start >= edge:
                continue  # inside the definition's own extent
            gap = data[lead_end:edge]
            if lead_end > edge or gap.strip():
                break
            if gap.count(b"\n") + data[lead_start:lead_end].endswith(b"\n") > 1:
                break
            if is_comment:
                line_start = data.rfind(b"\n", 0, lead_start) + 1
                if data[line_start:lead_start].strip() or data.startswith(b"#!", lead_start):
                    break  # it speaks of what stands before it on its line
                comment = (lead_start, comment[1] if comment else lead_end)
            else:
                start = lead_start
                marked = self.rules.doc_attribute
                if marked and data.startswith(marked, lead_start):
                    return start, (lead_start, lead_end)
            edge = lead_start
        return start, comment

    def _end_of_signature(self, kind: str, start: int, end: int, named: int, whole: bool) -> int:
        """Where a signature ends: comments between it and the body are not part of it."""
        if whole and kind in VALUED:
            # a value of many lines is told by its first
            newline = self.data.find(b"\n", named, end)
            return self._trim(start, end if newline < 0 else newline)
        while True:
            end = self._trim(start, end)
            line = max(start, self.data.rfind(b"\n", start, end) + 1)
            if line <= start or not self.data[line:end].lstrip().startswith(self.rules.markers):
                return end
            end = line

    def _trim(self, start: int, end: int) -> int:
        """The end of a range without the space that follows it."""
        return start + len(self.data[start:end].rstrip(b" \t\r\n"))

    def _doc_of(self, start: int, end: int) -> Doc:
        return Doc(summarize(self.data[start:end].decode("utf-8", "replace")), start, self._trim(start, end))

    def _statements(self, root: Node) -> tuple[Statement, ...]:
        """Top-level nodes that neither define nor import anything."""
        ranges = [(s.start_byte, s.end_byte) for s in self.symbols]
        ranges += [(i.start_byte, i.end_byte) for i in self.imports]
        if self.doc is not None:
            ranges.append((self.doc.start_byte, self.doc.end_byte))
        covered: list[tuple[int, int]] = []
        for start, end in sorted(ranges, key=lambda pair: (pair[0], -pair[1])):
            if not covered or start >= covered[-1][1]:
                covered.append((start, end))
        starts = [start for start, _ in covered]
        found = []
        for node in root.named_children:
            start, end = node.start_byte, self._trim(node.start_byte, node.end_byte)
            at = bisect_right(starts, start) - 1
            inside = at >= 0 and covered[at][1] >= end
            holds = at + 1 < len(covered) and covered[at + 1][0] < end
            if inside or holds or node.type in self.rules.comments or node.type in SILENT:
                continue
            level = 3 if node.type in self.rules.expressions else 2
            lines = self.lines.at(start), self.lines.last(start, end)
            found.append(Statement(node.type, level, start, end, *lines))
        return tuple(found)


def _kind_within(kind: str, holder: str) -> str:
    """A function in a class is a method, a constant there a property; a function's variables are nothing."""
    if kind in ("constant", "property") and holder in CALLABLE:
        return ""
    if kind == "signature":
        return "method" if holder == "trait" else ""
    if holder in HOLDER:
        return {"function": "method", "constant": "property"}.get(kind, kind)
    return kind


_MARKS: Final = re.compile(
    r"^[ \t]*(?:/\*+!?|\*+/|\*(?=\s|$)|//[/!]?|--[-\[| ^]*|#+!?|;+|%+|<!--|\{-\s*\|?|=begin)[ \t]?",
    re.MULTILINE,
)
_ENDS: Final = re.compile(r"\s*(?:\*/|-->|-\}|\]\]|=end)\s*$")
_QUOTES: Final = re.compile(r"""^[ \t]*(?:@\w+\s+)?~?[a-zA-Z]{0,2}("{3}|'{3}|"|')""")
_TAGS: Final = re.compile(r"</?(?:summary|para|p|see|c|code|b|i)\b[^>]*>")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s|\n\s*\n|\n\s*[@:]\w")
_MAX_SUMMARY: Final = 240


def summarize(comment: str) -> str:
    """The first sentence of a comment or docstring, on one line, without its marks."""
    quote = _QUOTES.match(comment)
    plain = comment
    if quote:
        plain = comment[quote.end() :].rstrip().removesuffix(quote[1])
    plain = _ENDS.sub("", plain)
    plain = _TAGS.sub("", plain if quote else _MARKS.sub("", plain)).strip()
    sentence = " ".join(_SENTENCE.split(plain, maxsplit=1)[0].split())
    return sentence if len(sentence) <= _MAX_SUMMARY else sentence[: _MAX_SUMMARY - 1].rstrip() + "…"


def anchors(
    after: bytes, language: str, changed_line_ranges: Iterable[tuple[int, int]]
) -> list[tuple[str, str, int, int]]:
    """The innermost named definitions that these lines touch: qualified name, kind, first and last line."""
    symbols = outline(after, language).symbols
    touched: dict[int, None] = {}
    for first, last in changed_line_ranges:
        for at in _innermost(symbols, first, last):
            touched[at] = None
    return [
        (symbols[at].qualified, symbols[at].kind, symbols[at].start_line, symbols[at].end_line)
        for at in sorted(touched)
    ]


def _innermost(symbols: Sequence[Symbol], first: int, last: int) -> list[int]:
    """Symbols that meet the lines, less those of which every met line belongs to a symbol within."""
    meeting = [at for at, s in enumerate(symbols) if s.start_line <= last and first <= s.end_line]
    kept = []
    for place, at in enumerate(meeting):
        outer = symbols[at]
        low, high = max(first, outer.start_line), min(last, outer.end_line)
        within = []
        for n in islice(meeting, place + 1, None):
            if symbols[n].start_byte >= outer.end_byte:
                break
            within.append((symbols[n].start_line, symbols[n].end_line))
        if not _covered(low, high, within):
            kept.append(at)
    return kept


def _covered(low: int, high: int, ranges: Iterable[tuple[int, int]]) -> bool:
    """Whether these ranges together hold every line from `low` to `high`."""
    for start, end in sorted(ranges):
        if start > low:
            return False
        low = max(low, end + 1)
        if low > high:
            return True
    return low > high

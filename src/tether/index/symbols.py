"""Where a name is defined, and what leads to and from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tether.errors import TetherError
from tether.index.code import CodeIndex
from tether.index.reading import SetAsideError, read_bytes, read_text
from tether.index.store import Store
from tether.index.traits import TEST
from tether.source.outline import outline
from tether.source.references import references
from tether.source.syntax import LANGUAGES, language_of
from tether.types import noun

MOST_FILES: Final = 60  # read to trace one name
MOST_STEPS: Final = 200  # edges of one graph


@noun
class Definition:
    """One place where a name is defined."""

    name: str
    qualified: str
    kind: str
    file_path: str
    start_line: int
    end_line: int
    signature: str = ""
    doc: str = ""
    exported: bool = True
    is_test: bool = False


_COLUMNS: Final = (
    *("name", "qualified", "kind", "file_path", "start_line", "end_line", "signature", "doc"),
    *("exported", "is_test"),
)


@noun
class Edge:
    """One definition mentions another."""

    source: str  # qualified name of what encloses the mention, or "" for a file's top level
    target: str
    kind: str  # call | type | use
    file_path: str
    line: int


@noun
class Graph:
    """What was found around a name."""

    root: tuple[Definition, ...]
    edges: tuple[Edge, ...]
    complete: bool  # false when limits ended the tracing
    notes: tuple[str, ...] = ()


def lookup_symbol_definition(
    index: CodeIndex, name: str, *, kind: str = "", path: str = "", limit: int = 20
) -> list[Definition]:
    """Where `name`, plain or qualified, is defined: exact spelling before other cases, code before tests."""
    store = _ready(index)
    plain = name.strip().removesuffix("()")
    for separator in ("::", "->", "#", "/"):
        plain = plain.replace(separator, ".")
    last = plain.rsplit(".", 1)[-1]
    if not last:
        raise TetherError("BAD_ARGUMENTS", "the name is empty", action="Name a symbol")
    rows = store.db.execute(
        "SELECT s.name, s.qualified, s.kind, f.path, s.start_line, s.end_line, s.signature, s.doc,"
        " s.exported, f.traits FROM symbol s JOIN file f ON f.id = s.file WHERE s.folded = ?",
        (last.lower(),),
    ).fetchall()
    found = []
    for row in rows:
        values = dict(zip(_COLUMNS, row, strict=True))
        values.update(exported=bool(values["exported"]), is_test=bool(values["is_test"] & TEST))
        spot = Definition(**values)
        if kind and spot.kind != kind:
            continue
        if path and not spot.file_path.startswith(path.rstrip("/")):
            continue
        if "." in plain and not (spot.qualified == plain or spot.qualified.endswith("." + plain)):
            tail = f"{spot.file_path.rsplit('.', 1)[0].replace('/', '.')}.{spot.qualified}"
            if not tail.endswith("." + plain):
                continue
        found.append(spot)
    found.sort(key=lambda d: (d.name != last, d.is_test, not d.exported, d.kind == "property", d.file_path))
    return found[: max(1, min(limit, 200))]


def trace_symbol_graph(
    index: CodeIndex, name: str, *, direction: str = "in", depth: int = 1, limit: int = MOST_STEPS
) -> Graph:
    """Who mentions `name` (`in`), what it mentions (`out`), or `both`, to a depth of three at most."""
    if direction not in ("in", "out", "both"):
        raise TetherError("BAD_ARGUMENTS", f"unknown direction `{direction}`", action="Use in, out or both")
    depth = max(1, min(depth, 3))
    limit = max(1, min(limit, 2_000))
    roots = lookup_symbol_definition(index, name)
    if not roots:
        raise TetherError(
            "NOT_FOUND", f"nothing in the index defines `{name}`", action="Search for it instead"
        )
    tracing = _Tracing(index, limit)
    if direction in ("in", "both"):
        tracing.follow_in(roots[0].name, depth)
    if direction in ("out", "both"):
        for root in roots[:3]:
            tracing.follow_out(root, depth)
    return Graph(tuple(roots), tuple(tracing.edges), tracing.complete)


class _Tracing:
    """One walk over the mentions; each file is read at most once."""

    def __init__(self, index: CodeIndex, limit: int) -> None:
        self.index = index
        self.store = _ready(index)
        self.limit = limit
        self.edges: dict[Edge, None] = {}
        self.complete = True
        self._read: dict[str, list[tuple[str, str, int, str]]] = {}

    def mentions(self, path: str) -> list[tuple[str, str, int, str]]:
        """Name, kind, line and enclosing definition of every mention in a file, as it is on disk now."""
        found = self._read.get(path)
        if found is None:
            if len(self._read) >= MOST_FILES:
                self.complete = False
                return []
            found = self._read[path] = self._parse(path)
        return found

    def _parse(self, path: str) -> list[tuple[str, str, int, str]]:
        try:
            data = read_text(read_bytes(self.index.root, path)[0], path).encode("utf-8", "replace")
        except SetAsideError:
            return []
        language = language_of(path, data[:8192])
        if language not in LANGUAGES:
            return []
        shape = outline(data, language)
        return [(ref.name, ref.kind, ref.line, ref.enclosing) for ref in references(data, language, shape)]

    def add(self, edge: Edge) -> bool:
        if len(self.edges) >= self.limit:
            self.complete = False
            return False
        self.edges[edge] = None
        return True

    def follow_in(self, name: str, depth: int) -> None:
        seen = {name}
        names = [name]
        for _ in range(depth):
            following: list[str] = []
            for target in names:
                for path in self._holders(target):
                    for mentioned, kind, line, enclosing in self.mentions(path):
                        if mentioned == target and self.add(Edge(enclosing, target, kind, path, line)):
                            outer = enclosing.rsplit(".", 1)[-1]
                            if outer and outer not in seen:
                                seen.add(outer)
                                following.append(outer)
            names = following

    def follow_out(self, root: Definition, depth: int) -> None:
        level = [root]
        seen = {root.qualified}
        for _ in range(depth):
            following: list[Definition] = []
            for spot in level:
                for mentioned, kind, line, enclosing in self.mentions(spot.file_path):
                    inside = enclosing == spot.qualified or enclosing.startswith(spot.qualified + ".")
                    if not inside or not (targets := self._defined(mentioned, spot.file_path)):
                        continue
                    self.add(Edge(spot.qualified, targets[0].qualified, kind, spot.file_path, line))
                    if targets[0].qualified not in seen:
                        seen.add(targets[0].qualified)
                        following.append(targets[0])
            level = following

    def _defined(self, name: str, near: str) -> list[Definition]:
        """What a name means, seen from a file: its own definition first."""
        found = lookup_symbol_definition(self.index, name, limit=20)
        exact = [spot for spot in found if spot.name == name]
        return sorted(exact, key=lambda spot: (spot.file_path != near, spot.is_test))

    def _holders(self, name: str) -> Iterable[str]:
        """Files whose words include the name: only those can mention it."""
        terms = self.index.lexicon.split(name) or (name.lower(),)
        ids: set[int] | None = None
        segments, dead = self.store.segments()
        for term in terms:
            lists = (segment.find(term.encode()) for segment in segments)
            holding = {file for postings in lists if postings is not None for file in postings.files}
            ids = holding if ids is None else ids & holding
        rows = self.store.files((ids or set()) - dead)
        ordered = sorted(rows.values(), key=lambda row: (bool(row.traits & TEST), row.path))
        if len(ordered) > MOST_FILES:
            self.complete = False
        return [row.path for row in ordered[:MOST_FILES]]


def _ready(index: CodeIndex) -> Store:
    index.refresh()
    store = index.store()
    if store is None:
        raise TetherError(
            "STORE_CORRUPT", "there is no index to look names up in", action="Run `tether index`"
        )
    return store

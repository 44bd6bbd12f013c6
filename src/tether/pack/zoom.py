"""Zoom: one definition, module or stretch of a file, at the depth asked for, and where it leads."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tether.errors import TetherError
from tether.pack.compose import Settings
from tether.pack.document import File, Redactor, take_out
from tether.pack.entry import Entry, Zoom
from tether.pack.escape import escape_path
from tether.pack.lens import Priority
from tether.pack.measure import ESTIMATE, Tokenizer
from tether.pack.related import Definition, find_callees, find_callers, is_test, list_definitions
from tether.pack.target import Target
from tether.pack.text import decode, hash_md5, is_binary, name_language
from tether.pack.zooming import round_budget, spell_command

MOST_RELATED = 10  # of each kind
_PRIORITY = Priority(100, 100, "zoom")


@dataclass(frozen=True, slots=True)
class Detail:
    """How a zoom is to be shown."""

    depth: str = "implementation"
    budget: int | None = None
    context: int = 0
    module: str = ""
    tests: bool = False
    tokenizer: Tokenizer = ESTIMATE
    redact: Redactor | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a file: its lines, and how many secrets were taken out of them."""

    path: str
    start: int
    end: int
    text: str
    original: str  # MD5 of the whole file
    total: int  # lines of the whole file
    redacted: int = 0


@dataclass(frozen=True, slots=True)
class Zoomed:
    """What a zoom showed: the text, the files it came from, and where to look next."""

    text: str
    utilized: int
    paths: tuple[str, ...]
    pieces: tuple[Entry, ...]
    related: tuple[Zoom, ...] = ()
    truncated: bool = field(default=False)


def zoom(files: Sequence[File], target: Target, detail: Detail) -> Zoomed:
    """What the target names, never more than the budget; an ambiguous name is answered with candidates."""
    if target.type == "module":
        return _zoom_module(files, target, detail)
    if target.type == "file":
        file = _find_file(files, target.name)
        pieces = [_take(file, detail, target.start or 1, target.end or 10**9, detail.context)]
        if detail.depth == "signature":
            pieces = [_outline(piece) for piece in pieces]
        return _compose(target, detail, pieces, [])
    found = find_definitions(files, target, detail)
    pieces = []
    for place in found:
        pieces += _show(files, place, detail)
    related: list[Zoom] = []
    if found[0].kind == "function" or detail.depth == "full":
        callees = find_callees(files, found[0], MOST_RELATED)
        callers = find_callers(files, found[0], MOST_RELATED, tests=detail.tests)
        related = [_lead_to(place, "callee") for place in callees]
        related += [_lead_to(place, "caller") for place in callers]
        if detail.depth == "full":
            pieces += [_signature(_file_of(files, place.path), place, detail) for place in callees]
    return _compose(target, detail, pieces, related)


# ── finding ──────────────────────────────────────────────────────────────────


def find_definitions(files: Sequence[File], target: Target, detail: Detail) -> list[Definition]:
    """The one definition of a name, or its several pieces in one file; else a refusal lists the choices."""
    named = [d for d in list_definitions(files, target.name) if d.kind == target.type]
    if detail.module:
        named = [d for d in named if matches_module(d.path, detail.module)]
    if not detail.tests and not detail.module:
        named = [d for d in named if not is_test(d.path)] or named
    if not named:
        raise _unknown(files, target, detail)
    exact = [d for d in named if d.qualified == target.name]
    choices = exact if len({(d.path, d.qualified) for d in exact}) == 1 else named
    if len({(d.path, d.qualified) for d in choices}) > 1:
        candidates = [
            {
                "target": f"{d.kind}={d.qualified}",
                "path": escape_path(d.path),
                "lines": f"{d.start}-{d.end}",
                "command": _lead_to(d, "").command,
            }
            for d in choices[:50]
        ]
        shown = "\n".join(f"  {c['path']}:{c['lines']}  {c['command']}" for c in candidates)
        raise TetherError(
            "BAD_ARGUMENTS",
            f"`{target.spell()}` could be any of {len(choices)}:\n{shown}",
            action="Choose one of the candidates",
            candidates=candidates,
        )
    return choices


def _unknown(files: Sequence[File], target: Target, detail: Detail) -> TetherError:
    last = target.name.rpartition(".")[2]
    other = [d for d in list_definitions(files, last) if d.name == last]
    where = f" in module `{detail.module}`" if detail.module else ""
    if other:
        hint = f"; `{other[0].kind}={other[0].qualified}` is in `{escape_path(other[0].path)}`"
    else:
        names = (
            {d.name for f in files[:400] for d in list_definitions([f], "")} if len(files) <= 400 else set()
        )
        near = difflib.get_close_matches(last, sorted(names), n=3)
        hint = f"; did you mean {', '.join(f'`{n}`' for n in near)}?" if near else ""
    return TetherError("NOT_FOUND", f"no {target.type} `{target.name}`{where}{hint}")


def matches_module(path: str, module: str) -> bool:
    """Whether a path is the module named: the path itself, its dotted name or ending, or a folder of it."""
    if path == module or path.startswith(module.rstrip("/") + "/"):
        return True
    stem = path.rsplit(".", 1)[0]
    parts = stem.split("/")
    if parts[-1] in ("__init__", "mod", "index", "lib") and len(parts) > 1:
        parts = parts[:-1]
    wanted = module.replace("::", "/").replace(".", "/").strip("/").split("/")
    # The wanted words follow each other somewhere in the path.
    return any(parts[at : at + len(wanted)] == wanted for at in range(len(parts) - len(wanted) + 1))


def _find_file(files: Sequence[File], name: str) -> File:
    by_path = {file.path: file for file in files}
    if name in by_path:
        return by_path[name]
    ending = [file for file in files if file.path.endswith("/" + name)]
    if len(ending) == 1:
        return ending[0]
    near = difflib.get_close_matches(name, list(by_path), n=3)
    hint = f": did you mean {', '.join(f'`{escape_path(n)}`' for n in near)}?" if near else ""
    raise TetherError("NOT_FOUND", f"no file `{escape_path(name)}` that may be shown{hint}")


def _file_of(files: Sequence[File], path: str) -> File:
    return next(file for file in files if file.path == path)


# ── showing ──────────────────────────────────────────────────────────────────


def _take(file: File, detail: Detail, start: int, end: int, context: int = 0) -> Piece:
    data = file.load()
    if data is None or is_binary(data):
        raise TetherError("NOT_A_FILE", f"`{escape_path(file.path)}` is no text that can be shown")
    text = decode(data)
    cuts = detail.redact(text) if detail.redact else ()
    clean = take_out(text, cuts)
    lines = clean.split("\n")
    total = len(lines) - (lines[-1] == "") or 1
    if start > total:
        raise TetherError("BAD_ARGUMENTS", f"`{escape_path(file.path)}` has only {total} lines")
    first = max(1, start - context)
    last = min(total, end + context)
    shown = "\n".join(lines[first - 1 : last]) + "\n"
    redacted = sum(first <= text.count("\n", 0, start) + 1 <= last for start, _, _ in cuts)
    return Piece(file.path, first, last, shown, hash_md5(text), total, redacted)


def _show(files: Sequence[File], place: Definition, detail: Detail) -> list[Piece]:
    file = _file_of(files, place.path)
    if detail.depth == "signature":
        return [_signature(file, place, detail)]
    whole = _take(file, detail, place.start, place.end, detail.context)
    if detail.depth == "implementation":
        return [whole]
    # Full: what the definition stands on as well, that is the imports and the class around it.
    before = [_take(file, detail, start, end) for start, end in place.around if end < whole.start]
    return [*before, whole]


def _signature(file: File, place: Definition, detail: Detail) -> Piece:
    return _take(file, detail, place.start, place.signature_end)


def _outline(piece: Piece) -> Piece:
    from tether.pack.shape import shape_by_outline
    from tether.pack.skeleton import shape_by_lines

    language = name_language(piece.path)
    found = shape_by_outline(piece.text, piece.path, language, False) or shape_by_lines(
        piece.text, piece.path, language, False
    )
    return replace(piece, text=found.text + "\n") if found else piece


def _lead_to(place: Definition, relation: str) -> Zoom:
    budget = round_budget(12 * (place.end - place.start + 1))
    command = spell_command(place.kind, place.qualified, budget, module=escape_path(place.path))
    return Zoom(place.kind, place.qualified, budget, command, relation)


def _zoom_module(files: Sequence[File], target: Target, detail: Detail) -> Zoomed:
    """Every file of a module, packed under the same budget."""
    from tether.pack.engine import pack
    from tether.pack.shape import shape_by_outline

    found = [file for file in files if matches_module(file.path, target.name)]
    if not detail.tests:
        found = [file for file in found if not is_test(file.path)] or found
    if not found:
        raise TetherError(
            "NOT_FOUND", f"no module `{target.name}`: give a file's name, folder or dotted path"
        )
    settings = Settings(
        budget=detail.budget,
        strategy="truncate",
        mode="structure" if detail.depth == "signature" else "",
        tokenizer=detail.tokenizer,
        redact=detail.redact,
        shape=shape_by_outline,
        structure="tree-sitter",
    )
    made = pack(found, settings=settings)
    short = any(entry.truncated for entry in made.entries) or bool(made.dropped)
    return Zoomed(
        made.text, made.report.utilized, tuple(e.path for e in made.entries), made.entries, truncated=short
    )


# ── writing ──────────────────────────────────────────────────────────────────


def _compose(target: Target, detail: Detail, pieces: list[Piece], related: list[Zoom]) -> Zoomed:
    """The whole answer; over budget, first the related zooms go, then the last lines."""
    whole = _write(target, detail, [(piece, 0) for piece in pieces], related)
    budget = detail.budget
    if budget is None or whole.utilized <= budget:
        return whole
    while related:
        related = related[: len(related) // 2]
        made = _write(target, detail, [(piece, 0) for piece in pieces], related)
        if made.utilized <= budget:
            return made
    lines = sum(piece.text.count("\n") for piece in pieces)
    best: Zoomed | None = None
    low, high = 1, lines - 1
    while low <= high:
        middle = (low + high) // 2
        made = _write(target, detail, _shorten(pieces, middle), [])
        if made.utilized <= budget:
            best, low = made, middle + 1
        else:
            high = middle - 1
    if best is None:
        least = _write(target, detail, _shorten(pieces, 1), []).utilized
        raise TetherError(
            "BAD_ARGUMENTS", f"budget `{budget}` shows nothing of `{target.spell()}`: give at least {least}"
        )
    return best


def _shorten(pieces: Iterable[Piece], lines: int) -> list[tuple[Piece, int]]:
    """The first lines of the pieces, each with the number of lines it lost."""
    kept: list[tuple[Piece, int]] = []
    for piece in pieces:
        if lines <= 0:
            break
        rows = piece.text.split("\n")[:-1]
        lost = max(0, len(rows) - lines)
        text = "\n".join(rows[:lines]) + "\n"
        kept.append((replace(piece, text=text), lost))
        lines -= len(rows)
    return kept


def _write(target: Target, detail: Detail, pieces: list[tuple[Piece, int]], related: list[Zoom]) -> Zoomed:
    from tether.pack import claude

    tokenizer = detail.tokenizer
    entries: list[Entry] = []
    records: list[str] = []
    for piece, lost in pieces:
        body, escaped = claude.body(piece.text)
        entry = Entry(
            piece.path,
            _PRIORITY,
            name_language(piece.path),
            tokenizer.count(piece.text),
            piece.original,
            hash_md5(piece.text),
            lines=f"{piece.start}-{piece.end - lost}",
            redacted=piece.redacted,
            escaped=escaped,
        )
        if lost:
            rest = Target("file", piece.path, piece.end - lost + 1, piece.end)
            name = f"{escape_path(piece.path)}:{rest.start}-{rest.end}"
            budget = detail.budget or 0
            zooms = (Zoom("file", name, budget, spell_command("file", name, budget)),)
            shown = piece.end - lost - piece.start + 1
            entry = replace(
                entry,
                form="simple",
                message=f"Cut to the budget: {shown + lost} lines → {shown}",
                zooms=zooms,
            )
        head, tail = claude.frame(entry, body, not entries)
        entries.append(entry)
        records.append(head + body + tail)
    inner = "".join(records)
    around = "".join(claude.zoom_element(zoom, "    ") for zoom in related)
    used = 0
    while True:
        text = claude.frame_zoom(target.spell(), detail.depth, detail.budget, used, inner, around)
        total = tokenizer.count(text)
        if total <= used:
            break
        used = total
    paths = tuple(dict.fromkeys(entry.path for entry in entries))
    return Zoomed(text, used, paths, tuple(entries), tuple(related), any(lost for _, lost in pieces))

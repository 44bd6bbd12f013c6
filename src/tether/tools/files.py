"""The verbs that read, write, edit, delete and move single files.

Each `prepare` parses its arguments, foresees the effects and touches nothing. INVARIANT: it never fails for
what a file holds, or whether it exists: that would answer before anyone has decided whether to answer.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from tether.errors import TetherError
from tether.source.root import Root, refusal
from tether.source.text import Text, decode, encode, normalise
from tether.tools.arguments import describe, parse
from tether.tools.changes import Context, FileChange, expect_present, mode_of
from tether.tools.matches import describe_miss, find_all
from tether.types import Effect, Prepared, Spot, Verb, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LINES = 2000
MAX_BYTES = 256 * 1024

_PATH = {
    "type": "string",
    "minLength": 1,
    "description": "path from the project's root, or absolute within it",
}
_EXPECTED = {
    "type": "string",
    "description": 'sha256 the file is believed to have ("": absent); the write is refused if it differs',
}

READ = describe(
    ("path",),
    path=_PATH,
    start={"type": "integer", "minimum": 1, "description": "first line wanted, from 1", "default": 1},
    end={"type": "integer", "minimum": 1, "description": "last line wanted; to the end if left out"},
    format={
        "type": "string",
        "enum": ["numbered", "raw"],
        "default": "numbered",
        "description": "`numbered` puts each line's number and a tab before it",
    },
    max_lines={
        "type": "integer",
        "minimum": 1,
        "maximum": 100_000,
        "default": MAX_LINES,
        "description": "most lines to return",
    },
)
WRITE = describe(
    ("path", "content"),
    path=_PATH,
    content={"type": "string", "description": "the whole new text of the file"},
    expected_hash=_EXPECTED,
    newline={
        "type": "string",
        "enum": ["keep", "lf", "crlf"],
        "default": "keep",
        "description": "newline style; `keep` follows the file that is replaced",
    },
    executable={"type": "boolean", "description": "whether the file may be executed; kept if left out"},
)
EDIT = describe(
    ("path", "old", "new"),
    path=_PATH,
    old={"type": "string", "minLength": 1, "description": "the exact text to replace, whitespace included"},
    new={"type": "string", "description": "the text to put in its place"},
    replace_all={"type": "boolean", "default": False, "description": "replace every occurrence"},
    expected_count={
        "type": "integer",
        "minimum": 1,
        "description": "replace every occurrence, but only if there are exactly so many",
    },
    expected_hash=_EXPECTED,
)
DELETE = describe(("path",), path=_PATH, expected_hash=_EXPECTED)
MOVE = describe(
    ("source", "destination"),
    source={**_PATH, "description": "path of the file to move"},
    destination={**_PATH, "description": "its new path; must not exist unless `overwrite`"},
    overwrite={"type": "boolean", "default": False, "description": "replace a file at the destination"},
    expected_hash=_EXPECTED,
)


def prepare_read(root: Root, args: dict[str, Any]) -> Prepared:
    """Reads lines of a text file, capped, with the hash of the whole file."""
    given = parse(READ, args)
    spot = root.look(given["path"], hash=False)
    if given["end"] is not None and given["end"] < given["start"]:
        raise TetherError("BAD_ARGUMENTS", "argument `end` lies before `start`", argument="end")

    def run(ctx: Context) -> dict[str, Any]:
        _expect_honest(spot)
        data, found = root.read(spot.path, follow=False)
        ctx.remember(spot.path, found.hash)
        return {
            "path": spot.path,
            "hash": found.hash,
            **_show(
                decode(data, spot.path), given["start"], given["end"], given["max_lines"], given["format"]
            ),
        }

    return Prepared((Effect("read", spot.path or given["path"]),), run)


def prepare_write(root: Root, args: dict[str, Any]) -> Prepared:
    """Writes a whole file, in the encoding and newline style of the one it replaces."""
    given = parse(WRITE, args)
    path, expected = given["path"], given["expected_hash"]
    spot = root.look(path, hash=False)
    mode = None if given["executable"] is None else 0o755 if given["executable"] else 0o644

    def compose() -> list[FileChange]:
        _expect_honest(spot)
        if spot.kind == "dir" or path.endswith("/"):
            raise TetherError("NOT_A_FILE", f"`{path}` is a directory", path=path)
        data = encode(given["content"], _style_of(root, spot, given["newline"]))
        return [FileChange(spot.path, data, expected, mode)]

    return _prepare_changes(
        [Effect("write", spot.path or path, before=expected)], compose, spot.kind == "absent"
    )


def prepare_edit(root: Root, args: dict[str, Any]) -> Prepared:
    """Replaces one exact piece of text, which must occur once unless the caller says otherwise."""
    given = parse(EDIT, args)
    path, expected = given["path"], given["expected_hash"]
    if given["old"] == given["new"]:
        raise TetherError("BAD_ARGUMENTS", "arguments `old` and `new` are the same", argument="new")
    spot = root.look(path, hash=False)

    def compose() -> list[FileChange]:
        _expect_honest(spot)
        expect_present(spot.path, spot.kind)
        data, found = root.read(spot.path, follow=False)
        was = decode(data, spot.path)
        text = _replace(spot.path, was, given)
        return [FileChange(spot.path, encode(text, was), found.hash if expected is None else expected)]

    effect = Effect("write", spot.path or path, before=expected, anchored=True)
    return _prepare_changes([effect], compose, False)


def prepare_delete(root: Root, args: dict[str, Any]) -> Prepared:
    """Deletes one regular file."""
    given = parse(DELETE, args)
    spot = root.look(given["path"], hash=False)

    def compose() -> list[FileChange]:
        _expect_honest(spot)
        expect_present(spot.path, spot.kind)
        return [FileChange(spot.path, None, given["expected_hash"])]

    effect = Effect("delete", spot.path or given["path"], before=given["expected_hash"], anchored=True)
    return _prepare_changes([effect], compose, False)


def prepare_move(root: Root, args: dict[str, Any]) -> Prepared:
    """Moves one regular file, bytes and mode unchanged."""
    given = parse(MOVE, args)
    source = root.look(given["source"], hash=False)
    destination = root.look(given["destination"], hash=False)
    taken = None if given["overwrite"] else ""

    def compose() -> list[FileChange]:
        _expect_honest(source)
        _expect_honest(destination)
        expect_present(source.path, source.kind)
        if source.path == destination.path:
            raise TetherError("BAD_ARGUMENTS", "arguments `source` and `destination` are one file")
        if destination.kind == "dir" or given["destination"].endswith("/"):
            raise TetherError(
                "NOT_A_FILE", f"`{given['destination']}` is a directory: name the new file in it"
            )
        if destination.kind == "file" and not given["overwrite"]:
            raise TetherError("ALREADY_EXISTS", f"`{destination.path}` exists already", path=destination.path)
        data, found = root.read(source.path, follow=False)
        expect = given["expected_hash"]
        return [
            FileChange(destination.path, data, taken, mode_of(root, source.path), source.path),
            FileChange(source.path, None, found.hash if expect is None else expect),
        ]

    effects = [
        Effect("write", destination.path or given["destination"], before=taken),
        Effect("delete", source.path or given["source"], before=given["expected_hash"], anchored=True),
    ]
    return _prepare_changes(effects, compose, destination.kind == "absent")


def _prepare_changes(
    effects: list[Effect], compose: Callable[[], list[FileChange]], created: bool
) -> Prepared:
    """Foresees the bytes; what makes that impossible is kept, to be told once the call is allowed."""
    try:
        changes, failure = compose(), None
    except TetherError as error:
        changes, failure = [], error
    after = {change.path: _hash(change.data) for change in changes}

    def run(ctx: Context) -> dict[str, Any]:
        if failure is not None:
            raise failure
        ctx.commit(changes)
        told = [{"path": path, "hash": digest} for path, digest in after.items()]
        return {**told[0], "created": created, "changed": told} if told else {"changed": []}

    foreseen = tuple(replace(e, after=after.get(e.target)) if e.kind == "write" else e for e in effects)
    return Prepared(foreseen, run)


def _hash(data: bytes | None) -> str:
    return "" if data is None else sha256(data).hexdigest()


def _expect_honest(spot: Spot) -> None:
    if spot.problem:
        raise refusal(spot)


def _style_of(root: Root, spot: Spot, newline: str) -> Text:
    """The style a write follows: that of the text file it replaces, else UTF-8 as given."""
    like = Text("", newline="none")
    if spot.kind == "file":
        data, _ = root.read(spot.path, follow=False)
        try:
            like = decode(data, spot.path)
        except TetherError:
            pass  # a binary file has no style to keep
    if newline != "keep":
        like = Text("", like.encoding, newline, like.bom)
    return like


def _replace(path: str, was: Text, given: dict[str, Any]) -> str:
    old, new = given["old"], given["new"]
    if was.newline != "mixed":
        old, new = normalise(old), normalise(new)
    places = find_all(was.text, old)
    wanted = given["expected_count"]
    if not places:
        raise describe_miss(path, was.text, old)
    if wanted is not None and len(places) != wanted:
        raise _count_error(path, was.text, places, f"not the expected {wanted} times")
    if wanted is None and len(places) > 1 and not given["replace_all"]:
        raise _count_error(path, was.text, places, "add lines around it, or pass `replace_all`")
    return was.text.replace(old, new)


def _count_error(path: str, text: str, places: list[int], advice: str) -> TetherError:
    lines = [text.count("\n", 0, place) + 1 for place in places[:20]]
    shown = ", ".join(map(str, lines)) + (", …" if len(places) > 20 else "")
    message = f"`old` occurs {len(places)} times in `{path}` (lines {shown}): {advice}"
    return TetherError("PATCH_FAILED", message, path=path, lines=lines, count=len(places))


def _show(text: Text, start: int, end: int | None, max_lines: int, style: str) -> dict[str, Any]:
    lines = text.text.split("\n")
    if text.final_newline:
        lines.pop()
    total = len(lines) if text.text else 0
    last = min(end or total, total, start + max_lines - 1)
    shown: list[str] = []
    room = MAX_BYTES
    clipped = False
    for number in range(start, last + 1):
        line = lines[number - 1]
        size = len(line.encode()) + 1
        if size > room:
            if not shown:  # one enormous line: its beginning is better than nothing
                shown.append(_prefix(number, style) + line.encode()[:room].decode(errors="ignore"))
                clipped = True
            break
        room -= size
        shown.append(_prefix(number, style) + line)
    reached = start + len(shown) - 1
    answer: dict[str, Any] = {
        "content": "\n".join(shown) + ("\n" if shown and not clipped else ""),
        "start": start,
        "end": reached,
        "total_lines": total,
        "truncated": clipped or reached < min(end or total, total),
        "encoding": text.encoding,
        "newline": text.newline,
    }
    notes = []
    if start > total:
        notes.append(f"the file has only {total} lines")
    if clipped:
        notes.append(f"line {reached} is cut after {MAX_BYTES} bytes")
    elif answer["truncated"]:
        notes.append(
            f"lines {reached + 1} to {min(end or total, total)} are left out: ask with `start={reached + 1}`"
        )
    if total and not text.final_newline and reached == total:
        notes.append("the file has no final newline")
    if notes:
        answer["note"] = "; ".join(notes)
    return answer


def _prefix(number: int, style: str) -> str:
    return f"{number:>6}\t" if style == "numbered" else ""


VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb("read_file", prepare_read, False, "Read lines of a text file", READ),
        Verb("write_file", prepare_write, True, "Write a whole file", WRITE),
        Verb("edit_file", prepare_edit, True, "Replace one exact piece of text in a file", EDIT),
        Verb("delete_file", prepare_delete, True, "Delete a file", DELETE),
        Verb("move_file", prepare_move, True, "Move or rename a file", MOVE),
    )
}

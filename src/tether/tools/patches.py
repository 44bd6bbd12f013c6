"""The verb that applies a patch to several files: all of it or nothing, every failure told at once."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from tether.errors import TetherError
from tether.source.root import Root, refusal
from tether.source.text import Text, decode, encode
from tether.tools.arguments import describe, parse
from tether.tools.changes import Context, FileChange, mode_of
from tether.tools.hunks import SHOWN_NEAR, FilePatch, Hunk, apply_hunks, split_lines
from tether.tools.patch_formats import read_patch
from tether.types import Effect, Prepared, Spot, Verb

MAX_FILES = 1000

PATCH = describe(
    ("patch",),
    patch={
        "type": "string",
        "minLength": 1,
        "description": "a unified diff, SEARCH/REPLACE blocks each after a path line, or `*** Begin Patch`",
    },
    format={
        "type": "string",
        "enum": ["auto", "unified", "blocks", "envelope"],
        "default": "auto",
        "description": "which of them it is",
    },
    path={"type": "string", "default": "", "description": "the file, for a patch that names none itself"},
    expected_hashes={
        "type": "object",
        "default": {},
        "description": 'path → sha256 the file is believed to have ("": absent)',
    },
)


class _File:
    """One file while parts of the patch pass over it."""

    def __init__(self, root: Root, spot: Spot) -> None:
        self.path = spot.path
        self.before = ""
        self.data: bytes | None = None
        self.mode: int | None = None
        self.moved_from = ""
        if spot.kind == "file":
            self.data, found = root.read(spot.path, follow=False)
            self.before = found.hash
        elif spot.kind == "dir":
            raise TetherError("NOT_A_FILE", f"`{spot.path}` is a directory")
        self.start = self.data

    def change(self, expect: str | None) -> FileChange | None:
        if self.data == self.start and self.mode is None:
            return None
        return FileChange(
            self.path, self.data, self.before if expect is None else expect, self.mode, self.moved_from
        )


def prepare_patch(root: Root, args: dict[str, Any]) -> Prepared:
    """Applies a patch in memory; the effects name every file it touches, also those it may not."""
    given = parse(PATCH, args)
    patches = read_patch(given["patch"], given["format"], given["path"])
    if len(patches) > MAX_FILES:
        raise TetherError("TOO_LARGE", f"the patch changes more than {MAX_FILES} files")
    expected = {_settle_path(root, path): value for path, value in given["expected_hashes"].items()}
    if not all(isinstance(value, str) for value in expected.values()):
        raise TetherError("BAD_ARGUMENTS", "argument `expected_hashes` must map paths to hashes")
    spots = {
        path: root.look(path, hash=False) for part in patches for path in (part.path, part.new_path) if path
    }
    changes, failures = _compose(root, patches, spots, expected)
    if any(not part.path for part in patches):
        raise TetherError("PATCH_FAILED", "the patch has a part whose file cannot be told")

    def run(ctx: Context) -> dict[str, Any]:
        if failures:
            raise _tell(failures)
        if not changes:
            raise TetherError("PATCH_FAILED", "the patch changes nothing")
        ctx.commit(changes)
        return {
            "changed": [{"path": c.path, "hash": _hash(c.data), "deleted": c.data is None} for c in changes]
        }

    return Prepared(tuple(_foresee(patches, spots, changes, expected)), run)


def apply_to_text(part: FilePatch, data: bytes, near: int = SHOWN_NEAR) -> bytes:
    """The bytes a file patch makes of `data`; PATCH_FAILED, with every hunk that does not fit."""
    text = decode(data, part.path)
    newline = {"crlf": "\r\n", "cr": "\r"}.get(text.newline, "\n")
    # As the file has it, carriage returns included, and only then as a model that never saw one writes it.
    raw = split_lines(text.text.replace("\n", newline))
    lines, failures = apply_hunks(raw, part.hunks, 0)
    if not failures:
        return encode("".join(lines), Text("", text.encoding, "none", text.bom))
    plain = tuple(_drop_returns(hunk) for hunk in part.hunks)
    lines, again = apply_hunks(split_lines(text.text), plain, near)
    if not again:
        return encode("".join(lines), text)
    raise TetherError("PATCH_FAILED", f"`{part.path}`: {again[0]['reason']}", failures=again)


def _drop_returns(hunk: Hunk) -> Hunk:
    old, new = (tuple(line.replace("\r\n", "\n") for line in side) for side in (hunk.old, hunk.new))
    return Hunk(hunk.number, old, new, hunk.start, hunk.anchors, hunk.at_end)


def _compose(
    root: Root, patches: list[FilePatch], spots: dict[str, Spot], expected: dict[str, str]
) -> tuple[list[FileChange], list[dict[str, Any]]]:
    files: dict[str, _File] = {}
    failures: list[dict[str, Any]] = []

    def fetch(path: str) -> _File:
        spot = spots[path]
        if spot.problem:
            raise refusal(spot)
        if spot.path not in files:
            files[spot.path] = _File(root, spot)
        return files[spot.path]

    for part in patches:
        if not part.path:
            continue
        try:
            target = fetch(part.new_path) if part.new_path else None
            _apply_part(root, part, fetch(part.path), target, max(SHOWN_NEAR - len(failures), 0))
        except TetherError as error:
            told = error.data.get("failures") or [{"reason": error.message, "code": error.code}]
            failures.extend({"file": part.path, **failure} for failure in told)
    changes = [file.change(expected.get(file.path)) for file in files.values()]
    return [change for change in changes if change], failures


def _apply_part(root: Root, part: FilePatch, file: _File, target: _File | None, near: int) -> None:
    if part.problem:
        raise TetherError("PATCH_FAILED", f"`{part.path}`: {part.problem}")
    if part.kind == "create":
        if file.data is not None:
            raise TetherError("ALREADY_EXISTS", f"`{part.path}` exists already and the patch would create it")
        lines, failures = apply_hunks([], part.hunks)
        if failures:
            raise TetherError("PATCH_FAILED", f"`{part.path}` does not exist", failures=failures)
        file.data, file.mode = encode("".join(lines), Text("", newline="none")), part.mode
        return
    if file.data is None:
        raise TetherError("NOT_FOUND", f"`{part.path}` does not exist")
    data = apply_to_text(part, file.data, near) if part.hunks else file.data
    if part.kind == "delete":
        if part.hunks and data:
            raise TetherError("PATCH_FAILED", f"`{part.path}` holds more than the patch deletes")
        file.data = None
        return
    if target is None or target is file:
        file.data, file.mode = data, part.mode
        return
    if target.data is not None:
        raise TetherError("ALREADY_EXISTS", f"`{part.new_path}` exists already and the patch would create it")
    target.data, target.mode = data, mode_of(root, file.path) if part.mode is None else part.mode
    if not part.copy:
        target.moved_from, file.data = file.path, None


def _foresee(
    patches: list[FilePatch], spots: dict[str, Spot], changes: list[FileChange], expected: dict[str, str]
) -> list[Effect]:
    """One effect for each file named: what is done to it if that is known, else a write it cannot foresee."""
    known = {change.path: change for change in changes}
    effects: dict[str, Effect] = {}
    for part in patches:
        for given in (part.path, part.new_path):
            if not given:
                continue
            target = spots[given].path or given
            change = known.get(target)
            if part.copy and given == part.path and change is None:
                effects.setdefault(target, Effect("read", target))
                continue
            gone = part.kind == "delete" or (part.new_path != "" and given == part.path)
            kind = "delete" if (change.data is None if change else gone) else "write"
            after = _hash(change.data) if change and kind == "write" else None
            effects[target] = Effect(kind, target, before=expected.get(target), after=after, anchored=True)
    return list(effects.values())


def _settle_path(root: Root, path: str) -> str:
    return root.look(path, hash=False).path or path


def _hash(data: bytes | None) -> str:
    return "" if data is None else sha256(data).hexdigest()


def _tell(failures: list[dict[str, Any]]) -> TetherError:
    codes = {failure.pop("code", "PATCH_FAILED") for failure in failures}
    code = codes.pop() if len(codes) == 1 else "PATCH_FAILED"
    first = failures[0]
    where = f"hunk {first['hunk']} of `{first['file']}`: " if "hunk" in first else ""
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    message = f"the patch does not apply, nothing was changed: {where}{first['reason']}{more}"
    return TetherError(code, message, failures=failures)


VERBS: dict[str, Verb] = {
    "apply_patch": Verb(
        "apply_patch", prepare_patch, True, "Apply a patch to one or more files, or none", PATCH
    )
}

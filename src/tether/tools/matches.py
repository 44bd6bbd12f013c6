"""Where a piece of text occurs, and, when it does not, what comes nearest and why it differs."""

from __future__ import annotations

from tether.errors import TetherError

COMPARED_LINES = (
    4000  # comparing is quadratic at worst; beyond this the answer only says that nothing matched
)
SHOWN_LINES = 12


def find_all(text: str, piece: str) -> list[int]:
    """The offsets of every occurrence, none overlapping another."""
    places: list[int] = []
    at = text.find(piece)
    while at != -1:
        places.append(at)
        at = text.find(piece, at + len(piece))
    return places


def describe_miss(path: str, text: str, piece: str, what: str = "`old`") -> TetherError:
    """PATCH_FAILED that shows the nearest lines and, where it can tell, what kind of difference there is."""
    lines, wanted = text.split("\n"), piece.strip("\n").split("\n")
    at = find_nearest(lines, wanted)
    message = f"{what} was not found in `{path}`"
    if at is None:
        return TetherError("PATCH_FAILED", message, path=path)
    found = lines[at : at + len(wanted)]
    hint = _tell_difference(wanted, found)
    return TetherError(
        "PATCH_FAILED",
        f"{message}; the nearest text is at line {at + 1}{hint}",
        path=path,
        line=at + 1,
        expected=_clip(wanted),
        found=_clip(found),
    )


def find_nearest(lines: list[str], wanted: list[str]) -> int | None:
    """The line from which `lines` comes nearest to `wanted`; None when nothing is near."""
    from difflib import SequenceMatcher

    keys = [line.strip() for line in wanted]
    anchor = next((n for n, key in enumerate(keys) if key), None)
    if anchor is None or not lines:
        return None
    best, place = 0.0, None
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(keys[anchor][:300])
    stripped = [line.strip() for line in lines]
    for n, line in enumerate(stripped[:COMPARED_LINES]):
        matcher.set_seq1(line[:300])
        floor = max(best, 0.5)
        if matcher.real_quick_ratio() < floor or matcher.quick_ratio() < floor:
            continue
        start = n - anchor
        if start < 0:
            continue
        # The anchor alone may be common (`}`): the lines around it break the tie.
        alike = sum(a == b for a, b in zip(stripped[start : start + len(keys)], keys, strict=False))
        score = matcher.ratio() + alike / len(keys)
        if score > best and matcher.ratio() >= 0.5:
            best, place = score, start
    return place


def _tell_difference(wanted: list[str], found: list[str]) -> str:
    if [w.strip() for w in wanted] == [f.strip() for f in found]:
        return ", which differs only in indentation or trailing space"
    if [w.lower() for w in wanted] == [f.lower() for f in found]:
        return ", which differs only in upper and lower case"
    for n, (mine, theirs) in enumerate(zip(wanted, found, strict=False)):
        if mine != theirs:
            return f", which first differs in its line {n + 1}" if len(wanted) > 1 else ""
    return ""


def _clip(lines: list[str]) -> list[str]:
    shown = [line[:200] for line in lines[:SHOWN_LINES]]
    return [*shown, f"… {len(lines) - SHOWN_LINES} more lines"] if len(lines) > SHOWN_LINES else shown

"""A marked section of a file that people own, replaced without touching a byte outside the markers."""

from __future__ import annotations

from tether.errors import TetherError


def markers(name: str) -> tuple[str, str]:
    """The lines that begin and end the section."""
    return f"<!-- tether:{name}:begin -->", f"<!-- tether:{name}:end -->"


def find(text: str, name: str) -> tuple[int, int] | None:
    """Where the inside of the section starts and ends; None without markers, an error when in doubt."""
    begin, end = markers(name)
    begins, ends = text.count(begin), text.count(end)
    if not begins and not ends:
        return None
    if begins != 1 or ends != 1:
        raise _doubt(name, f"`{begin}` occurs {begins} times and `{end}` {ends} times; each must occur once")
    start, stop = text.index(begin) + len(begin), text.index(end)
    if stop < start:
        raise _doubt(name, f"`{end}` stands before `{begin}`")
    for marker, at in ((begin, start - len(begin)), (end, stop)):
        before = text[:at].rpartition("\n")[2]
        after = text[at + len(marker) :].partition("\n")[0]
        if before.strip() or after.strip():
            raise _doubt(name, f"`{marker}` shares its line with other text")
    return start, stop


def _doubt(name: str, why: str) -> TetherError:
    return TetherError(
        "CONFIG_INVALID",
        f"the section tether:{name} cannot be found for sure: {why}",
        action="Mend the markers by hand, or remove all of them so that a new section is added at the end",
    )


def lines(text: str, name: str) -> list[str]:
    """The lines inside the section, without their line breaks."""
    span = find(text, name)
    if span is None:
        return []
    return [line.removesuffix("\r") for line in text[span[0] : span[1]].strip().split("\n")]


def splice(text: str, name: str, body: list[str]) -> str:
    """The text with the section's inside replaced; a section that is not there is added at the end.

    INVARIANT: everything before the begin marker and after the end marker comes out as it went in.
    """
    span = find(text, name)
    at = text.find("\n", span[0] if span is not None else 0)
    newline = "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"
    inside = newline + newline.join([*body, ""])
    if span is not None:
        return text[: span[0]] + inside + text[span[1] :]
    begin, end = markers(name)
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    return text + gap + begin + inside + end + newline

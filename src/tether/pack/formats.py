"""The five ways to write a pack. A record is head + body + tail, and records add up token for token."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tether.errors import TetherError
from tether.pack import claude
from tether.pack.entry import Entry, Report
from tether.pack.escape import escape_attribute, escape_illegal, escape_path, escape_text
from tether.pack.text import hash_md5

META: Final = ".tether_meta"


@dataclass(frozen=True, slots=True)
class Format:
    """One output format. `noted`: a truncation's note is part of the text, as Plus/Minus has it."""

    name: str
    body: Callable[[str], tuple[str, int]]  # text ending in a newline → what is written, escapes made
    frame: Callable[[Entry, str, bool], tuple[str, str]]  # entry, body, first? → head, tail
    head: Callable[[Report], str]
    tail: Callable[[Report], str]
    noted: bool
    verbatim: bool  # bodies are the text itself, unless a character needs escaping


def _keep(text: str) -> tuple[str, int]:
    return text, 0


def _nothing(report: Report) -> str:
    return ""


# ── plus-minus ───────────────────────────────────────────────────────────────


def frame_plus_minus(entry: Entry, body: str, first: bool) -> tuple[str, str]:
    """Ten signs each side, the path twice, the MD5 between."""
    path = escape_path(entry.path)
    if not entry.truncated:
        return f"++++++++++ {path} ++++++++++\n", f"---------- {path} {entry.md5} {path} ----------\n"
    before, after = entry.original_lines, entry.final_lines
    return (
        f"++++++++++ {path} [TRUNCATED: {before} lines] ++++++++++\n",
        f"---------- {path} [TRUNCATED:{before}→{after}] {entry.md5} {path} ----------\n",
    )


def head_plus_minus(report: Report) -> str:
    """With a lens, a first record that says so; otherwise nothing at all."""
    if not report.lens:
        return ""
    note = "All files in full"
    if report.budget is not None or report.truncated_files:
        note = f"{report.truncated_files} files truncated, {report.dropped_files} listed only"
    lines = [
        f'Context generated with lens: "{report.lens}"',
        f"Focus: {report.focus}",
        "",
        note,
        *(f"Listed only: {escape_path(s.path)} ({s.tokens} tokens)" for s in report.coldspots),
        "",
        f"Generated: {report.timestamp}",
        f"tether version: {report.version}",
    ]
    text = "\n".join(lines) + "\n"
    return f"++++++++++ {META} ++++++++++\n{text}---------- {META} {hash_md5(text)} {META} ----------\n"


# ── xml ──────────────────────────────────────────────────────────────────────


def _body_xml(text: str) -> tuple[str, int]:
    legal, escaped = escape_illegal(text)
    return escape_text(legal), escaped


def frame_xml(entry: Entry, body: str, first: bool) -> tuple[str, str]:
    """One element a file, its text escaped."""
    extra = ""
    if entry.truncated:
        extra = f' truncated="true" original_lines="{entry.original_lines}" final_lines="{entry.final_lines}"'
    if entry.escaped:
        extra += f' escaped="{entry.escaped}"'
    return f'<file path="{escape_attribute(entry.path)}" md5="{entry.md5}"{extra}>\n', "</file>\n"


# ── markdown ─────────────────────────────────────────────────────────────────

_TICKS = re.compile("`{3,}")


def frame_markdown(entry: Entry, body: str, first: bool) -> tuple[str, str]:
    """A heading, a fence longer than any in the text, the MD5."""
    path = escape_path(entry.path)
    cut = f" [TRUNCATED: {entry.original_lines} → {entry.final_lines} lines]" if entry.truncated else ""
    fence = "`" * max((len(run) + 1 for run in _TICKS.findall(body)), default=3)
    language = "" if entry.language == "text" else entry.language
    return f"### {path}{cut}\n\n{fence}{language}\n", f"{fence}\n\n*MD5: {entry.md5}*\n\n"


# ── json ─────────────────────────────────────────────────────────────────────


def _body_json(text: str) -> tuple[str, int]:
    return json.dumps(text, ensure_ascii=False), 0


def frame_json(entry: Entry, body: str, first: bool) -> tuple[str, str]:
    """One object a line; the comma leads, so that a record does not depend on what follows it."""
    fields: dict[str, object] = {
        "path": escape_path(entry.path),
        "priority": entry.priority.value,
        "tokens": entry.tokens,
        "checksum": entry.checksum,
        "md5": entry.md5,
        "language": entry.language,
    }
    if entry.truncated:
        fields |= {"truncated": True, "form": entry.form, "original_tokens": entry.original_tokens}
        fields |= {"original_lines": entry.original_lines, "message": entry.message}
        fields["zoom"] = [
            {"type": z.type, "target": z.target, "budget": z.budget, "command": z.command}
            for z in entry.zooms
        ]
    if not entry.ended and not entry.truncated:
        fields["eol"] = "none"
    if entry.redacted:
        fields["redacted"] = entry.redacted
    head = json.dumps(fields, ensure_ascii=False)[:-1]
    return f'{"" if first else ","}{head}, "content": ', "}\n"


def head_json(report: Report) -> str:
    """The report as the first fields of one object."""
    fields: dict[str, object] = {"package": "tether"}
    if report.lens:
        fields["lens"] = report.lens
    if report.budget is not None:
        fields["token_budget"] = report.budget
    fields |= {
        "utilized": report.utilized,
        "metadata": {
            "version": report.version,
            "frozen": report.frozen,
            "timestamp": report.timestamp,
            **({"snapshot_id": report.snapshot} if report.snapshot else {}),
            "tokenizer": report.tokenizer,
            "structure": report.structure,
            **dict(report.about),
            "attention_map": {
                "hotspots": [claude.spot_fields(spot) for spot in report.hotspots],
                "coldspots": [claude.spot_fields(spot) for spot in report.coldspots],
                "omitted": report.unlisted,
            },
            "lens_config": dict(claude.lens_fields(report)),
            "redactions": report.redactions,
            **({"part": report.part} if report.part else {}),
        },
    }
    return json.dumps(fields, ensure_ascii=False)[:-1] + ', "files": [\n'


FORMATS: Final[dict[str, Format]] = {
    f.name: f
    for f in (
        Format("plus-minus", _keep, frame_plus_minus, head_plus_minus, _nothing, True, True),
        Format("claude-xml", claude.body, claude.frame, claude.head, claude.tail, False, True),
        Format("xml", _body_xml, frame_xml, lambda _: "<files>\n", lambda _: "</files>\n", True, False),
        Format("markdown", _keep, frame_markdown, _nothing, _nothing, True, True),
        Format("json", _body_json, frame_json, head_json, lambda _: "]}\n", False, False),
    )
}


def find_format(name: str) -> Format:
    """A format by name."""
    try:
        return FORMATS[name]
    except KeyError:
        known = ", ".join(f"`{n}`" for n in FORMATS)
        raise TetherError("BAD_ARGUMENTS", f"unknown format `{name}`: choose one of {known}") from None

"""The shared brain: what a project has learned, in a marked section of the file agents read at every start.

INVARIANT: an entry is one line, in one bullet. Whatever it quotes, a hostile file name or message, it cannot
become a heading, a link, HTML or a marker, nor leave its bullet.
"""

from __future__ import annotations

import re

from tether.errors import TetherError
from tether.record.marked import lines, splice
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NAME = "brain"
FILES = ("AGENTS.md", "AGENT.md", "CLAUDE.md")
SECTIONS = {
    "decisions": "Architectural decisions",
    "lessons": "Lessons learned",
    "failures": "Recurring failures and their fixes",
}
MAX_ITEMS = 30
MAX_CHARS = 300

_TITLE = "## What this project has learned"
_DROPPED = re.compile(r"\((\d{1,9}) older entr(?:y was|ies were) dropped\)")
_ENTITY = re.compile(r"&(?:amp|lt|gt|#(\d{1,7}));")
_NAMED = {"&amp;": "&", "&lt;": "<", "&gt;": ">"}


@noun
class Check:
    """One run of a check on a file, in the order they happened; `fix` says what made it pass."""

    name: str
    file: str
    ok: bool
    message: str = ""
    fix: str = ""


def choose(existing: Iterable[str]) -> str:
    """The file that holds the shared brain: the first of those in use that exists, or AGENTS.md."""
    present = set(existing)
    return next((name for name in FILES if name in present), FILES[0])


def update(text: str, section: str, items: Sequence[str]) -> str:
    """The file with these entries as the newest of the section; the oldest beyond the limit become a count.

    An entry given again is not doubled but counts as new, so that the same call twice changes nothing.
    """
    if section not in SECTIONS:
        raise TetherError(
            "BAD_ARGUMENTS", f"`{section}` is no section of the shared brain: {', '.join(SECTIONS)}"
        )
    held, dropped = _read(lines(text, NAME))
    given = list(dict.fromkeys(item for item in map(_flatten, items) if item))
    if not given:
        return text
    cut, kept = given[:-MAX_ITEMS], given[-MAX_ITEMS:]
    merged = [item for item in held[section] if item not in set(kept)] + kept
    evicted = set(merged[:-MAX_ITEMS])
    held[section] = merged[-MAX_ITEMS:]
    # What a call leaves out it would leave out again, so that part of the count must not grow by repetition.
    dropped[section] = max(dropped[section], len(cut)) + len(evicted - set(cut))
    return splice(text, NAME, _write(held, dropped))


def recurring(checks: Iterable[Check]) -> tuple[str, ...]:
    """Entries for failures of one shape seen at least twice that have since passed, oldest first."""
    seen: dict[tuple[str, str], dict[str, int]] = {}  # (check, file) → shape of message → times
    passed: dict[tuple[str, str, str], str] = {}  # a failure that passed last time → its fix
    for check in checks:
        key = (check.name, check.file)
        failures = seen.setdefault(key, {})
        if check.ok:
            for pattern in failures:
                if (*key, pattern) not in passed:
                    passed[*key, pattern] = check.fix
        else:
            pattern = shape(check.message)
            failures[pattern] = failures.get(pattern, 0) + 1
            passed.pop((*key, pattern), None)
    return tuple(
        f"{name} failed repeatedly on {file}: {pattern}" + (f" (fixed by: {fix})" if fix else "")
        for (name, file, pattern), fix in passed.items()
        if seen[name, file][pattern] > 1
    )


def shape(message: str) -> str:
    """The message without what differs from one occurrence to the next: addresses, numbers, quoted values."""
    first = re.sub(r"\b0x[0-9a-fA-F]+\b|\b[0-9a-f]{12,}\b", "ADDRESS", " ".join(message.split()))
    quoted = re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", first)
    return re.sub(r"\d+", "N", quoted)[:MAX_CHARS]


# ── text that stays in its bullet ────────────────────────────────────────────


def _flatten(text: str) -> str:
    """One line, of printable characters, of bounded length."""
    line = " ".join(text.split())
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return line if len(line) <= MAX_CHARS else line[: MAX_CHARS - 1].rstrip() + "…"


def _escape(line: str) -> str:
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("](", "]&#40;")
    first = line[:1]
    # What opens a heading, list, quote, table, fence or definition does so only as the first of its block.
    opens = not first.isalnum() and first not in "&`\"'"
    if opens or line.startswith("```") or re.match(r"\d+[.)]", line):
        return f"&#{ord(first)};{line[1:]}"
    return line


def _unescape(line: str) -> str:
    def decode(found: re.Match[str]) -> str:
        if found[1] is None:
            return _NAMED[found[0]]
        return chr(int(found[1])) if int(found[1]) < 0x110000 else found[0]

    return _ENTITY.sub(decode, line)


def _read(rows: Sequence[str]) -> tuple[dict[str, list[str]], dict[str, int]]:
    """The entries and the count of dropped ones, by section; a line that is no entry is taken for one."""
    held: dict[str, list[str]] = {section: [] for section in SECTIONS}
    dropped = dict.fromkeys(SECTIONS, 0)
    by_title = {f"### {title}": section for section, title in SECTIONS.items()}
    section = "lessons"
    for row in rows:
        line = row.strip()
        if not line or line == _TITLE:
            continue
        if line in by_title:
            section = by_title[line]
            continue
        counted = _DROPPED.fullmatch(line[2:]) if line.startswith("- ") else None
        if counted is not None:
            dropped[section] = int(counted[1])
        elif row.startswith(("  ", "\t")) and held[section]:
            held[section][-1] = _flatten(f"{held[section][-1]} {_unescape(line)}")
        else:
            held[section].append(_flatten(_unescape(re.sub(r"^[-*+] ", "", line))))
    return {name: list(dict.fromkeys(filter(None, items))) for name, items in held.items()}, dropped


def _write(held: dict[str, list[str]], dropped: dict[str, int]) -> list[str]:
    out = [_TITLE]
    for section, title in SECTIONS.items():
        if held[section] or dropped[section]:
            out += ["", f"### {title}", ""]
            out += [f"- {_escape(item)}" for item in held[section]]
        if dropped[section]:
            many = "entry was" if dropped[section] == 1 else "entries were"
            out.append(f"- ({dropped[section]} older {many} dropped)")
    return out

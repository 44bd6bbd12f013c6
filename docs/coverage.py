"""Counts the rows of `docs/spec-coverage.md`: `python -m docs.coverage [--write]`. A test keeps the summary true."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

PAGE = Path(__file__).with_name("spec-coverage.md")
BEGIN, END = "<!-- coverage:begin -->", "<!-- coverage:end -->"
TITLES = {
    "000": "bridge and semantic memory",
    "001": "world agent",
    "002": "fractal context packs",
    "003": "graph-backed controller",
    "004": "governed hooks",
}


def rows(text: str) -> list[tuple[str, str, str, str]]:
    """Every requirement: what, which seed, module, test."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and re.match(r"00\d\b", cells[1]):
            found.append((cells[0], cells[1], cells[2], cells[3]))
    return found


def summary(text: str) -> str:
    """The table of built and open requirements by seed."""
    every: Counter[str] = Counter()
    built: Counter[str] = Counter()
    for _, seed, module, _ in rows(text):
        every[seed[:3]] += 1
        built[seed[:3]] += module != "—"
    lines = ["| seed | requirements | built | open |", "| --- | --- | --- | --- |"]
    for seed in sorted(every):
        name = f"{seed} {TITLES[seed]}"
        lines.append(f"| {name} | {every[seed]} | {built[seed]} | {every[seed] - built[seed]} |")
    total, done = every.total(), built.total()
    lines.append(f"| all | {total} | {done} | {total - done} |")
    return "\n".join(lines)


def stated(text: str) -> str:
    """The summary the page carries now."""
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip()


def main(words: list[str]) -> int:
    """Prints the summary, or with `--write` puts it into the page."""
    text = PAGE.read_text(encoding="utf-8")
    table = summary(text)
    if words == ["--write"]:
        head, tail = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
        PAGE.write_text(f"{head}\n{table}\n{tail}", encoding="utf-8")
    else:
        sys.stdout.write(table + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

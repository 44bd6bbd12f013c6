"""Where the tokens go: a tree with a bar for every file, and the largest files first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tether.pack.entry import Entry, Spot
from tether.pack.escape import escape_path

_HEAT = ("\x1b[34m", "\x1b[36m", "\x1b[32m", "\x1b[33m", "\x1b[31m")  # cold to hot
_END = "\x1b[0m"
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(slots=True)
class _Node:
    tokens: int = 0
    note: str = ""
    children: dict[str, _Node] = field(default_factory=dict)


def _plant(entries: Iterable[Entry], dropped: Iterable[Spot]) -> _Node:
    root = _Node()
    leaves = [(e.path, e.tokens, "" if e.form == "full" else e.form) for e in entries]
    leaves += [(s.path, 0, f"listed only, {s.tokens:,} tokens") for s in dropped]
    for path, tokens, note in sorted(leaves):
        node = root
        node.tokens += tokens
        for part in path.split("/"):
            node = node.children.setdefault(part, _Node())
            node.tokens += tokens
        node.note = note
    return root


def _bar(share: float, width: int) -> str:
    eighths = round(share * width * 8)
    return ("█" * (eighths // 8) + _EIGHTHS[eighths % 8]).rstrip().ljust(width)


def draw_map(entries: Iterable[Entry], dropped: Iterable[Spot] = (), *, color: bool = False) -> str:
    """The tree of what was packed; the hotter a bar, the larger its share of the tokens."""
    root = _plant(entries, dropped)
    lines: list[str] = []

    def paint(tokens: int) -> str:
        share = tokens / root.tokens if root.tokens else 0.0
        bar = _bar(share, 10)
        if color:
            bar = _HEAT[min(4, int(share**0.5 * 5))] + bar + _END
        return f"{tokens:>9,} {bar}"

    def draw(node: _Node, prefix: str) -> None:
        last = len(node.children) - 1
        for at, (name, child) in enumerate(node.children.items()):
            branch = "└── " if at == last else "├── "
            shown = escape_path(name) + ("/" if child.children else "")
            note = f"  [{child.note}]" if child.note else ""
            lines.append(f"{paint(child.tokens)} {prefix}{branch}{shown}{note}")
            draw(child, prefix + ("    " if at == last else "│   "))

    lines.append(f"{paint(root.tokens)} .")
    draw(root, "")
    return "\n".join(lines) + "\n"


def list_eaters(entries: Iterable[Entry], most: int) -> str:
    """The files that take most tokens, largest first."""
    ranked = sorted(entries, key=lambda e: (-e.tokens, e.path))
    total = sum(e.tokens for e in ranked) or 1
    lines = [
        f"{at:>3}. {e.tokens:>9,} tokens {e.tokens * 100 / total:5.1f} %  {escape_path(e.path)}"
        for at, e in enumerate(ranked[:most], 1)
    ]
    return "\n".join(lines) + "\n" if lines else ""

"""What a pack says of one file, and of itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from tether.pack.lens import Priority


@dataclass(frozen=True, slots=True)
class Zoom:
    """A way to see more: the arguments of `zoom_context`, and the command that does the same."""

    type: str  # function | class | module | file
    target: str
    budget: int
    command: str
    relation: str = ""  # caller | callee | …, in zoom results


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a pack. `form` says how much of it: full, simple, smart, structure, signature, listed."""

    path: str
    priority: Priority
    language: str
    tokens: int
    checksum: str
    md5: str
    form: str = "full"
    original_tokens: int = 0
    original_lines: int = 0
    final_lines: int = 0
    redacted: int = 0
    escaped: int = 0
    ended: bool = True
    message: str = ""
    zooms: tuple[Zoom, ...] = ()
    lines: str = ""  # `10-40`, where an entry is a part of a file
    parsed: bool = False

    @property
    def truncated(self) -> bool:
        """Whether something of the file is missing."""
        return self.form != "full"


@dataclass(frozen=True, slots=True)
class Spot:
    """A line of the attention map."""

    path: str
    priority: int
    tokens: int
    truncated: bool = False
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Report:
    """What stands before the files: numbers, settings, and where to look."""

    lens: str = ""
    focus: str = ""
    budget: int | None = None
    utilized: int = 0
    version: str = ""
    frozen: bool = False
    timestamp: str = ""
    snapshot: str = ""
    tokenizer: str = ""
    structure: str = ""
    strategy: str = ""
    truncated_files: int = 0
    dropped_files: int = 0
    redactions: int = 0
    hotspots: tuple[Spot, ...] = ()
    coldspots: tuple[Spot, ...] = ()
    unlisted: int = 0  # spots there was no room for
    about: tuple[tuple[str, str], ...] = ()  # project_root, git_remote, … as privacy allows
    part: str = ""  # `2/5` of a split output


@dataclass(frozen=True, slots=True)
class Pack:
    """A finished pack: its text, what it says of itself, and what became of each file."""

    text: str
    report: Report
    entries: tuple[Entry, ...] = ()
    dropped: tuple[Spot, ...] = field(default=())

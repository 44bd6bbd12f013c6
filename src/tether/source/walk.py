"""The files of a tree: what git would see, minus what a person excluded, each one classified, none lost."""

from __future__ import annotations

import os
import stat

from tether.source.classify import HEAD_BYTES, classify_file, classify_name
from tether.source.ignore import Rules
from tether.source.repository import Level, add_rules, foreign, is_ignored, rules_above
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# What configuration starts from; a project replaces it to see its own `build/`.
DEFAULT_EXCLUDED = (
    "node_modules/",
    "dist/",
    "build/",
    "target/",
    ".venv/",
    "__pycache__/",
    "*.pyc",
    "*.swp",
    # the record is not the code: it has commands of its own
    "/.orchestration/agent_trace.jsonl",
    "/.orchestration/intent_map.md",
)
MAX_DEPTH = 256  # one descriptor is held per level

_OPEN_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_OPEN_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@noun
class Found:
    """One entry of a tree. `reason` is None for a file fit to read as text, else why it is set aside.

    kind: file | link | dir | other. Reasons: those of `classify_file`, and link, link_outside, link_broken,
    special, unreadable, vanished, worktree, submodule, too_deep.
    """

    path: str  # relative to the root, "/"-separated; undecodable bytes as surrogates
    size: int = 0
    mtime_ns: int = 0
    kind: str = "file"
    reason: str | None = None


@noun
class Walked:
    """A whole walk: the files fit to read, the entries set aside, and how many for each reason."""

    files: tuple[Found, ...]
    aside: tuple[Found, ...]
    skipped: dict[str, int]


def collect(
    root: str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = DEFAULT_EXCLUDED,
    hidden: bool = True,
    submodules: bool = True,
    read: bool = True,
) -> Walked:
    """`walk`, gathered and counted."""
    files: list[Found] = []
    aside: list[Found] = []
    skipped: dict[str, int] = {}
    for found in walk(
        root, include=include, exclude=exclude, hidden=hidden, submodules=submodules, read=read
    ):
        if found.reason is None:
            files.append(found)
        else:
            aside.append(found)
            skipped[found.reason] = skipped.get(found.reason, 0) + 1
    return Walked(tuple(files), tuple(aside), skipped)


def walk(
    root: str,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = DEFAULT_EXCLUDED,
    hidden: bool = True,
    submodules: bool = True,
    read: bool = True,
) -> Iterator[Found]:
    """Every entry under `root` that no rule ignores, in code-point order of its path.

    `include` and `exclude` are gitignore-style globs relative to the root; `include` narrows what the ignore
    rules leave, it never brings an ignored file back. With `read` False no file is opened: only names and
    sizes are judged, and the caller passes the bytes it reads to `classify_file` itself.
    """
    root = os.path.realpath(root)
    unwanted = Rules(exclude)
    wanted = Rules(include)
    inside = root.rstrip("/") + "/"
    try:
        top = os.open(root, _OPEN_DIR)
    except OSError as error:
        yield Found("", kind="dir", reason=_trouble(error))
        return
    # One frame per open directory: descriptor, its entries still to come, its path, its rules.
    frames: list[tuple[int, Iterator[tuple[str, os.DirEntry[str]]], str, Level]] = []
    try:
        opened = _list(top)
        if isinstance(opened, str):
            os.close(top)
            yield Found("", kind="dir", reason=opened)
            return
        level = add_rules(rules_above(root), root, _names(opened), "", is_root=True)
        frames.append((top, iter(opened), "", level))
        while frames:
            fd, entries, base, level = frames[-1]
            item = next(entries, None)
            if item is None:
                frames.pop()
                os.close(fd)
                continue
            name, entry = item[1].name, item[1]
            # Never shown, whatever the configuration says: git's own store and this machine's state.
            if name == ".git" or (name == "local" and base.endswith(".tether/")):
                continue
            if not hidden and name[0] == ".":
                continue
            path = base + name
            is_dir = entry.is_dir(follow_symlinks=False)
            if unwanted.decide(path, name, is_dir) or is_ignored(level, path, name, is_dir):
                continue
            if not is_dir:
                if not include or wanted.decide(path, name, False):
                    yield _judge(fd, entry, path, inside, read)
                continue
            if len(frames) >= MAX_DEPTH:
                yield Found(path, kind="dir", reason="too_deep")
                continue
            if include and wanted.decide(path, name, True) is False:
                continue
            try:
                child = os.open(name, _OPEN_DIR, dir_fd=fd)
            except OSError as error:
                yield Found(path, kind="dir", reason=_trouble(error))
                continue
            opened = _list(child)
            if isinstance(opened, str):
                os.close(child)
                yield Found(path, kind="dir", reason=opened)
                continue
            names = _names(opened)
            reason = foreign(inside + path, submodules) if ".git" in names or ".git/" in names else ""
            if reason:
                os.close(child)
                yield Found(path, kind="dir", reason=reason)
                continue
            path += "/"
            frames.append((child, iter(opened), path, add_rules(level, inside + path, names, path)))
    finally:
        for fd, *_ in frames:
            os.close(fd)


def _list(fd: int) -> list[tuple[str, os.DirEntry[str]]] | str:
    """A directory's entries keyed so that sorting them sorts whole paths, or why it cannot be listed."""
    try:
        with os.scandir(fd) as entries:
            found = [
                (entry.name + "/" if entry.is_dir(follow_symlinks=False) else entry.name, entry)
                for entry in entries
            ]
    except OSError as error:
        return _trouble(error)
    found.sort(key=_first)
    return found


def _names(entries: list[tuple[str, os.DirEntry[str]]]) -> set[str]:
    return {key for key, _ in entries}


def _first(pair: tuple[str, os.DirEntry[str]]) -> str:
    return pair[0]


def _trouble(error: OSError) -> str:
    return "vanished" if isinstance(error, FileNotFoundError) else "unreadable"


def _judge(fd: int, entry: os.DirEntry[str], path: str, inside: str, read: bool) -> Found:
    """One entry that is not a directory, classified."""
    try:
        about = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Found(path, reason=_trouble(error))
    size, mtime = about.st_size, about.st_mtime_ns
    if stat.S_ISLNK(about.st_mode):
        return Found(path, size, mtime, "link", _judge_link(inside + path, inside))
    if not stat.S_ISREG(about.st_mode):
        return Found(path, size, mtime, "other", "special")
    reason = classify_name(path, size)
    if reason is None and read:
        head = _read_head(fd, entry.name)
        reason = head if isinstance(head, str) else classify_file(path, head, size)
    return Found(path, size, mtime, "file", reason)


def _judge_link(path: str, inside: str) -> str:
    """Links are never followed: what a link inside the tree names is listed under its own path."""
    try:
        target = os.path.realpath(path, strict=True)
    except OSError:
        return "link_broken"
    return "link" if target == inside[:-1] or target.startswith(inside) else "link_outside"


def _read_head(fd: int, name: str) -> bytes | str:
    try:
        file = os.open(name, _OPEN_FILE, dir_fd=fd)
    except OSError as error:
        return _trouble(error)
    try:
        # A FIFO put in the file's place since it was listed must not hold the walk.
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return "special"
        return os.read(file, HEAD_BYTES)
    except OSError as error:
        return _trouble(error)
    finally:
        os.close(file)

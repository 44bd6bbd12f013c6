"""Which files of a project go into a pack, and how their bytes are read: never through a link."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha1

from tether.errors import TetherError
from tether.pack.document import File
from tether.pack.text import LARGEST
from tether.source.classify import classify_name
from tether.source.git import Repo, find_repository, run_git
from tether.source.ignore import Rules
from tether.source.walk import DEFAULT_EXCLUDED, walk

# Kept although a walk would set them aside: a pack shows what a person wrote into the repository.
_SHOWN = (None, "generated", "minified")
_REVISION = re.compile(r"[A-Za-z0-9_@/.^~{}:+-]{1,200}")


@dataclass(frozen=True, slots=True)
class Query:
    """Which files are asked for; at most one of staged, diff, since and paths."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    staged: bool = False
    diff: str = ""
    since: str = ""
    paths: tuple[str, ...] | None = None
    submodules: bool = True
    sensitive: bool = False


@dataclass(slots=True)
class Selected:
    """The files, and what was set aside for which reason."""

    files: list[File] = field(default_factory=list)
    aside: dict[str, str] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()  # changed files, of a `since`
    outlined: frozenset[str] = frozenset()  # what they depend on


class Reader:
    """Reads files below one root by descriptors, so that a link swapped in meanwhile leads nowhere."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._top = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._at = ""
        self._held: list[tuple[str, int]] = []  # the folders down to the last one, each open

    def close(self) -> None:
        """Let go of the directories; closing twice is harmless."""
        self._leave(0)
        if self._top >= 0:
            os.close(self._top)
            self._top = -1

    def _leave(self, depth: int) -> None:
        while len(self._held) > depth:
            os.close(self._held.pop()[1])
        self._at = "/".join(name for name, _ in self._held)

    def _enter(self, folder: str) -> int:
        """A descriptor of the folder; what it shares with the last one is open already."""
        if self._at != folder:
            parts = folder.split("/") if folder else []
            shared = 0
            for (held, _), part in zip(self._held, parts, strict=False):
                if held != part:
                    break
                shared += 1
            self._leave(shared)
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                for part in parts[shared:]:
                    above = self._held[-1][1] if self._held else self._top
                    self._held.append((part, os.open(part, flags, dir_fd=above)))
            except OSError:
                self._leave(shared)
                raise
            self._at = folder
        return self._held[-1][1] if self._held else self._top

    def read(self, path: str, limit: int = LARGEST) -> bytes | None:
        """The bytes of a regular file; None if it vanished, is something else or is too large."""
        folder, _, name = path.rpartition("/")
        if name in ("", ".", "..") or "\0" in path:
            return None
        try:
            fd = os.open(
                name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._enter(folder)
            )
        except OSError:
            return None
        try:
            about = os.fstat(fd)
            if not stat.S_ISREG(about.st_mode) or about.st_size > limit:
                return None
            data = os.read(fd, about.st_size + 1)
            while len(data) <= limit:
                more = os.read(fd, limit + 1 - len(data)) if len(data) != about.st_size else b""
                if not more:
                    return data
                data += more
            return None
        except OSError:
            return None
        finally:
            os.close(fd)


def select(reader: Reader, query: Query) -> Selected:
    """The files a query asks for, by the ignore rules of git and `.tetherignore`."""
    # A folder stands for all that is in it.
    folders = tuple(f"{pattern.rstrip('/')}/**" for pattern in query.include)
    query = replace(query, include=(*query.include, *folders))
    found = Selected()
    by_path = {file.path: file for file in _list(reader, query, found)}
    if query.paths is not None:
        _pick(reader, query, by_path, found)
    elif query.staged:
        repo = _repository(reader)
        _show(repo, reader, _names(repo, "--cached"), ":", query, found)
    elif query.diff:
        repo = _repository(reader)
        left, dots, right = _check(query.diff).partition("..")
        right = right.lstrip(".")
        changed = _names(repo, query.diff if dots else f"{left}..")
        if right:
            _show(repo, reader, changed, f"{right}:", query, found)
        else:
            inside = _below(repo, reader)
            found.files = [by_path[path] for path in map(inside, changed) if path in by_path]
    elif query.since:
        _compare(_repository(reader), reader, query.since, by_path, found)
    else:
        found.files = list(by_path.values())
    return found


def _list(reader: Reader, query: Query, found: Selected) -> Iterable[File]:
    for item in walk(
        reader.root,
        include=query.include,
        exclude=(*DEFAULT_EXCLUDED, *query.exclude),
        submodules=query.submodules,
        read=False,
    ):
        if item.reason in _SHOWN or (query.sensitive and item.reason == "sensitive"):
            yield _file(reader, item.path, item.mtime_ns / 1e9, item.size)
        else:
            found.aside[item.path] = item.reason or ""


def _file(reader: Reader, path: str, mtime: float = 0.0, size: int = 0) -> File:
    return File(path, lambda: reader.read(path), mtime, mtime, size)


def _pick(reader: Reader, query: Query, by_path: dict[str, File], found: Selected) -> None:
    """Files named one by one: named, they need no walk to find them, but stay below the root."""
    for given in dict.fromkeys(query.paths or ()):
        path = os.path.normpath(given) if not os.path.isabs(given) else os.path.relpath(given, reader.root)
        if path.startswith("../") or path == "..":
            raise TetherError(
                "SECURITY_VIOLATION", f"`{given}` leads out of the project: name files inside it"
            )
        if path in by_path:
            found.files.append(by_path[path])
        elif not _asked(query, path):
            found.aside[path] = "excluded"
        elif (reason := classify_name(path)) == "sensitive" and not query.sensitive:
            found.aside[path] = reason
        elif reader.read(path) is None:
            found.aside[path] = found.aside.get(path, "unreadable")
        else:
            found.files.append(_file(reader, path))


def _asked(query: Query, path: str) -> bool:
    """Whether the patterns let a path in that no walk has judged: itself, and every folder above it."""
    unwanted, wanted = Rules(query.exclude), Rules(query.include)
    parts = path.split("/")
    steps = [("/".join(parts[:n]), parts[n - 1], n < len(parts)) for n in range(1, len(parts) + 1)]
    if any(unwanted.decide(*step) for step in steps):
        return False
    return not query.include or any(wanted.decide(*step) for step in steps)


# ── git ──────────────────────────────────────────────────────────────────────


def _repository(reader: Reader) -> Repo:
    repo = find_repository(reader.root)
    if repo is None:
        raise TetherError(
            "BAD_ARGUMENTS",
            f"`{reader.root}` is in no git repository: leave out --staged, --diff and --since",
        )
    return repo


def _check(revision: str) -> str:
    if not _REVISION.fullmatch(revision) or revision.startswith("-"):
        raise TetherError(
            "BAD_ARGUMENTS", f"`{revision}` is no revision: give a commit, tag, branch or range"
        )
    return revision


def _names(repo: Repo, what: str) -> list[str]:
    output = run_git(
        repo, "diff", "--no-ext-diff", "--no-textconv", "--name-only", "-z", "--diff-filter=d", what, "--"
    )
    if output is None:
        raise TetherError("BAD_ARGUMENTS", f"git cannot compare `{what}`: check that the revision exists")
    return [os.fsdecode(name) for name in output.split(b"\0") if name]


def _below(repo: Repo, reader: Reader) -> Callable[[str], str]:
    """Repository paths as paths below the packed root."""
    prefix = os.path.relpath(reader.root, repo.root)
    start = "" if prefix == "." else prefix + "/"
    return lambda path: path[len(start) :] if path.startswith(start) else ""


def _show(repo: Repo, reader: Reader, names: list[str], at: str, query: Query, found: Selected) -> None:
    """Contents as git keeps them: of the index, or of a commit."""
    inside = _below(repo, reader)

    def load(name: str) -> Callable[[], bytes | None]:
        return lambda: run_git(repo, "cat-file", "blob", f"{at}{name}")

    for name in names:
        path = inside(name)
        if not path or not _asked(query, path):
            continue
        reason = classify_name(path)
        if reason in _SHOWN or (query.sensitive and reason == "sensitive"):
            found.files.append(File(path, load(name)))
        else:
            found.aside[path] = reason or ""


def _compare(repo: Repo, reader: Reader, since: str, by_path: dict[str, File], found: Selected) -> None:
    """What differs from a revision, committed or not, by comparing contents: no filter of git runs."""
    output = run_git(repo, "ls-tree", "-r", "-z", "--full-tree", _check(since))
    if output is None:
        raise TetherError("BAD_ARGUMENTS", f"git knows no revision `{since}`: check it with `git log`")
    inside = _below(repo, reader)
    then: dict[str, str] = {}
    for line in output.split(b"\0"):
        about, _, name = line.partition(b"\t")
        if name:
            then[inside(os.fsdecode(name))] = about.split()[2].decode()
    changed = {path for path, file in by_path.items() if _differs(file, then.get(path))}
    from tether.pack.dependencies import find_dependencies

    needed = find_dependencies(changed, by_path)
    found.whole = frozenset(changed)
    found.outlined = frozenset(needed)
    found.files = [file for path, file in by_path.items() if path in changed or path in needed]


def _differs(file: File, then: str | None) -> bool:
    data = file.load()
    if data is None:
        return False
    if then is None:
        return True
    if len(then) != 40:
        from hashlib import sha256

        return sha256(b"blob %d\0" % len(data) + data).hexdigest() != then
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() != then


def read_list(text: str) -> tuple[str, ...]:
    """A list of paths, one a line or separated by NUL."""
    parts: Sequence[str] = text.split("\0") if "\0" in text else text.splitlines()
    return tuple(part for part in (p.strip("\n") for p in parts) if part.strip())

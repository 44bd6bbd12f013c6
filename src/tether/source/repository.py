"""Which ignore rules hold where: git's own files, linked worktrees and submodules included."""

from __future__ import annotations

import os
import stat

from tether.source.ignore import Rules, read_rules
from tether.types import noun

GIT_IGNORE = ".gitignore"
TETHER_IGNORE = ".tetherignore"
MAX_RULES_FILE = 1 << 20


@noun
class Level:
    """The rules in force in one directory, nearest first: (prefix to add, characters to drop, rules).

    The global ignore file of the user is left out on purpose: a tree must look the same on every machine.
    """

    own: tuple[tuple[str, int, Rules], ...] = ()  # `.tetherignore`: beats git's rules wherever it lies
    git: tuple[tuple[str, int, Rules], ...] = ()  # `.gitignore` files, then `info/exclude`


def is_ignored(level: Level, path: str, name: str, is_dir: bool) -> bool:
    """Whether the nearest rule that speaks of `path` (relative to the walk's root) ignores it."""
    for sources in (level.own, level.git):
        for prefix, drop, rules in sources:
            answer = rules.decide(prefix + path if prefix else path[drop:], name, is_dir)
            if answer is not None:
                return answer
    return False


def add_rules(level: Level, folder: str, names: set[str], base: str, *, is_root: bool = False) -> Level:
    """The rules in force inside `folder`, whose entries are `names`, given those around it."""
    own, git = level.own, level.git
    if ".git" in names or ".git/" in names:
        if not is_root:
            # Another repository starts here: the rules around it say nothing of it, as in git.
            git = ()
        exclude = _exclude_rules(folder)
        if exclude:
            git = (*git, ("", len(base), exclude))
    if GIT_IGNORE in names:
        git = (("", len(base), _read_rules(folder, GIT_IGNORE)), *git)
    if TETHER_IGNORE in names:
        own = (("", len(base), _read_rules(folder, TETHER_IGNORE)), *own)
    return level if own is level.own and git is level.git else Level(own, git)


def rules_above(root: str) -> Level:
    """The rules that the folders between `root` and the top of its repository state."""
    if _git_dir(root):
        return Level()
    own: list[tuple[str, int, Rules]] = []
    git: list[tuple[str, int, Rules]] = []
    folder, prefix = root, ""
    while True:
        parent, name = os.path.split(folder)
        if parent == folder:
            # No repository around: what happens to lie above the root is no business of this tree.
            return Level()
        folder, prefix = parent, f"{name}/{prefix}"
        own.append((prefix, 0, _read_rules(folder, TETHER_IGNORE)))
        git.append((prefix, 0, _read_rules(folder, GIT_IGNORE)))
        if _git_dir(folder):
            git.append((prefix, 0, _exclude_rules(folder)))
            return Level(tuple(r for r in own if r[2]), tuple(r for r in git if r[2]))


def foreign(folder: str, submodules: bool) -> str:
    """Why a folder that has its own `.git` is not entered: worktree, submodule, or "" when it is."""
    directory = _git_dir(folder)
    if os.path.basename(os.path.dirname(directory)) == "worktrees":
        # The same repository checked out a second time: every file would be seen twice.
        return "worktree"
    return "submodule" if directory and not submodules else ""


def _git_dir(folder: str) -> str:
    """The git directory that the `.git` of `folder` is or names; "" when there is none."""
    path = os.path.join(folder, ".git")
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return ""
    if stat.S_ISDIR(mode):
        return path
    word = _read(path)
    if not word.startswith(b"gitdir:"):
        return ""
    return os.path.normpath(os.path.join(folder, os.fsdecode(word[7:].split(b"\n", 1)[0].strip(b" \r\0"))))


def _exclude_rules(folder: str) -> Rules:
    directory = _git_dir(folder)
    common = _read(os.path.join(directory, "commondir")).split(b"\n", 1)[0].strip(b" \r\0")
    if common:
        directory = os.path.join(directory, os.fsdecode(common))
    return _read_rules(directory, os.path.join("info", "exclude"))


def _read_rules(folder: str, name: str) -> Rules:
    return read_rules(_read(os.path.join(folder, name)))


def _read(path: str) -> bytes:
    """A small regular file's bytes; b"" for anything else, so that no FIFO or device can hold the walk."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, ValueError):
        return b""
    try:
        return os.read(fd, MAX_RULES_FILE) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except OSError:
        return b""
    finally:
        os.close(fd)

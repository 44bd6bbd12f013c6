"""What git knows, read from its files where that is enough. HOOK PATH.

A repository's configuration is as hostile as its files: it can name programs to run as hooks, pagers,
filters, diff and signature tools, file-system monitors and transports. So every process started here

- compares commits, trees and the index, never the working tree, so that no clean filter runs;
- overrides each setting that names a program, and passes `--no-ext-diff` and `--no-textconv`;
- allows no transport at all, so that a partial clone cannot fetch;
- takes neither system configuration nor `GIT_*` variables from outside, and asks nothing.
"""

from __future__ import annotations

import os
import re

from tether.source.pattern import lazy
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_REVISION: Final = lazy(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_LINKS: Final = 5  # symbolic references followed, as git does
_SMALL: Final = 4096
_PACKED: Final = 64 << 20
_SECONDS: Final = 30.0

_SETTINGS: Final = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.editor=false",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.alternateRefsCommand=",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "credential.helper=",
    "diff.external=",
    "diff.renameLimit=2000",
    "gpg.program=false",
    "log.showSignature=false",
    "protocol.allow=never",
    "submodule.recurse=false",
    "blame.ignoreRevsFile=",
    "maintenance.auto=false",
    "gc.auto=0",
)


@noun
class Repo:
    """A git working tree. `common_dir` is shared by all its worktrees; `main_root` is the main one's root."""

    root: str
    git_dir: str
    common_dir: str
    main_root: str


def find_repository(folder: str) -> Repo | None:
    """The repository whose working tree holds `folder`; environment variables do not redirect it."""
    root = os.path.realpath(folder)
    while True:
        marker = os.path.join(root, ".git")
        git_dir = marker if os.path.isdir(marker) else _follow_file(marker)
        if git_dir and os.path.exists(os.path.join(git_dir, "HEAD")):
            return _describe(root, marker, git_dir)
        parent = os.path.dirname(root)
        if parent == root:
            return None
        root = parent


def head_revision(repo: Repo) -> str | None:
    """The commit HEAD is at, without starting a process; "" before the first commit, None when unclear."""
    name = "HEAD"
    for _ in range(_LINKS):
        text = _read_reference(repo, name)
        if text is None:
            return _search_packed(repo, name)
        if _REVISION.match(text):
            return text
        if not text.startswith("ref:"):
            return None
        name = text[4:].strip()
        if not _is_safe(name):
            return None
    return None


def resolve_head(repo: Repo) -> str | None:
    """As `head_revision`, but asks git where the files alone do not tell."""
    found = head_revision(repo)
    if found is not None:
        return found
    answer = run_git(repo, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    text = (answer or b"").decode("ascii", "replace").strip()
    return text if _REVISION.match(text) else None


def find_renames(repo: Repo, since: str = "") -> dict[str, str]:
    """New path → old path, of renames staged now and, with `since`, committed after that revision."""
    found: dict[str, str] = {}
    if since and _REVISION.match(since):
        found |= _parse_renames(run_git(repo, *_DIFF, since, "HEAD", "--"))
    for new, old in _parse_renames(run_git(repo, *_DIFF, "--cached", "HEAD", "--")).items():
        found[new] = found.get(old, old)
    return found


def trace_renames(repo: Repo, path: str) -> list[str]:
    """The paths a file had in committed history, newest first, without the present one."""
    staged = find_renames(repo).get(path)
    names = [staged] if staged else []
    log = run_git(
        repo, "log", "--follow", "-M", "--no-ext-diff", "--no-textconv", "--diff-filter=R", "--format=",
        "--name-status", "-z", "HEAD", "--", staged or path,
    )  # fmt: skip
    pairs = _parse_renames(log)
    seen = {path, *names}
    at = staged or path
    while at in pairs and pairs[at] not in seen:
        at = pairs[at]
        seen.add(at)
        names.append(at)
    return names


def read_objects(repo: Repo, names: list[str]) -> list[bytes | None]:
    """Objects named as `revision` or `revision:path`, read by one process; None where there is none."""
    asked = [name for name in names if name and "\n" not in name]
    feed = b"".join(os.fsencode(name) + b"\n" for name in asked)
    output = run_git(repo, "cat-file", "--batch", feed=feed, seconds=120) if asked else b""
    found: dict[str, bytes] = {}
    at = 0
    for name in asked:
        end = (output or b"").find(b"\n", at)
        if output is None or end < 0:
            break
        header = output[at:end]
        at = end + 1
        # what is missing or ambiguous is answered by its name alone
        if described := re.match(rb"[0-9a-f]{40,64} (?:blob|commit) (\d+)\Z", header):
            found[name] = output[at : at + int(described[1])]
            at += int(described[1]) + 1
        elif described := re.match(rb"[0-9a-f]{40,64} \w+ (\d+)\Z", header):
            at += int(described[1]) + 1
    return [found.get(name) for name in names]


def run_git(repo: Repo, *args: str, feed: bytes = b"", seconds: float = _SECONDS) -> bytes | None:
    """What a hardened git prints; None when it fails, is missing or takes too long."""
    import subprocess

    env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env |= {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_ASKPASS": "false",
        "LC_ALL": "C",
    }
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    command = ["git", "--no-pager", "--literal-pathspecs", f"--git-dir={repo.git_dir}", *settings, *args]
    try:
        done = subprocess.run(
            command, cwd=repo.root, env=env, input=feed, capture_output=True, timeout=seconds
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


_DIFF: Final = ("diff", "-M", "--no-ext-diff", "--no-textconv", "--diff-filter=R", "--name-status", "-z")


def _parse_renames(output: bytes | None) -> dict[str, str]:
    """`R<score> NUL old NUL new NUL` … as new → old; the first, that is the newest, wins."""
    parts = [part.lstrip(b"\n") for part in (output or b"").split(b"\0")]
    found: dict[str, str] = {}
    at = 0
    while at + 2 < len(parts):
        if re.match(rb"R\d+\Z", parts[at]):
            found.setdefault(os.fsdecode(parts[at + 2]), os.fsdecode(parts[at + 1]))
            at += 3
        else:
            at += 1
    return found


def _describe(root: str, marker: str, git_dir: str) -> Repo:
    git_dir = os.path.realpath(git_dir)
    shared = _read_small(os.path.join(git_dir, "commondir"))
    if not shared:
        return Repo(root, git_dir, git_dir, root)
    common = os.path.realpath(os.path.join(git_dir, shared))
    back = _read_small(os.path.join(git_dir, "gitdir"))
    # INVARIANT: a `.git` file may claim any folder; only a worktree that is claimed back shares its home.
    linked = back is not None and os.path.realpath(os.path.join(git_dir, back)) == os.path.realpath(marker)
    owner = os.path.dirname(common)
    shares = linked and os.path.basename(common) == ".git" and os.path.isdir(owner)
    return Repo(root, git_dir, common, owner if shares else root)


def _follow_file(marker: str) -> str:
    text = _read_small(marker)
    if not text or not text.startswith("gitdir:"):
        return ""
    return os.path.join(os.path.dirname(marker), text[7:].strip())


def _read_reference(repo: Repo, name: str) -> str | None:
    own = name == "HEAD" or name.startswith(("refs/bisect/", "refs/worktree/", "refs/rewritten/"))
    return _read_small(os.path.join(repo.git_dir if own else repo.common_dir, name))


def _search_packed(repo: Repo, name: str) -> str | None:
    if os.path.isdir(os.path.join(repo.common_dir, "reftable")):
        return None
    try:
        with open(os.path.join(repo.common_dir, "packed-refs"), "rb") as file:
            packed = file.read(_PACKED)
    except FileNotFoundError:
        return ""
    except OSError:
        return None
    found = re.search(rb"^([0-9a-f]{40,64}) %s$" % re.escape(os.fsencode(name)), packed, re.MULTILINE)
    return found[1].decode("ascii") if found else ""


def _is_safe(name: str) -> bool:
    return name.startswith("refs/") and "\0" not in name and ".." not in name.split("/")


def _read_small(path: str) -> str | None:
    """A small regular file's text, trimmed; None when there is none."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return os.fsdecode(file.read(_SMALL)).strip()
    except OSError:
        return None

"""What git tracks, read from its index alone. HOOK PATH.

INVARIANT: git never compares the working tree here: that would run the filters a repository names.
"""

from __future__ import annotations

import hashlib
import os
import re

from tether.source.git import Repo, find_repository, run_git
from tether.types import noun

MOST_FOLDERS = 500  # named one by one; past this the whole index is listed instead


@noun
class Tracked:
    """One file as the index remembers it on disk, and the blob that holds its bytes."""

    size: int
    mtime_ns: int
    ctime_ns: int
    blob: str
    racy: bool  # written in the same instant as the index: it may have changed after git looked


def read_index(folder: str) -> dict[str, Tracked]:
    """path → what the index holds of it, for the files under `folder`; merges under way are left out."""
    repo, prefix = _find(folder)
    output = run_git(repo, "ls-files", "--stage", "--debug", "-z", "--", prefix or ".") if repo else None
    if not repo or not output:
        return {}
    try:
        written = os.stat(os.path.join(repo.git_dir, "index")).st_mtime_ns
    except OSError:
        return {}
    record = re.compile(
        rb"100\d{3} ([0-9a-f]{40,64}) 0\t([^\0]+)\0"
        rb"  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n  dev: [^\n]*\n  uid: [^\n]*\n"
        rb"  size: (\d+)\tflags: [^\n]*\n"
    )
    found = {}
    for blob, path, c_seconds, c_nanos, m_seconds, m_nanos, size in record.findall(output):
        modified = int(m_seconds) * 1_000_000_000 + int(m_nanos)
        changed = int(c_seconds) * 1_000_000_000 + int(c_nanos)
        name = os.fsdecode(path)[len(prefix) :]
        found[name] = Tracked(int(size), modified, changed, blob.decode(), modified >= written)
    return found


def list_tracked(folder: str, inner: list[str]) -> list[str]:
    """The tracked files, relative to `folder`, that lie in one of its `inner` folders."""
    repo, prefix = _find(folder)
    if not repo or not inner:
        return []
    wanted = [prefix + name for name in inner] if len(inner) <= MOST_FOLDERS else [prefix or "."]
    output = run_git(repo, "ls-files", "-z", "--", *wanted) or b""
    paths = [os.fsdecode(path)[len(prefix) :] for path in output.split(b"\0") if path]
    within = tuple(name.rstrip("/") + "/" for name in inner)
    return [path for path in paths if path.startswith(within)]


def is_blob(data: bytes, blob: str) -> bool:
    """Whether `data` is what the blob holds."""
    whole = b"blob %d\0" % len(data) + data
    digest = hashlib.sha1(whole, usedforsecurity=False) if len(blob) == 40 else hashlib.sha256(whole)
    return digest.hexdigest() == blob


def _find(folder: str) -> tuple[Repo | None, str]:
    """The repository around a folder and the folder's path in it, with a slash at its end."""
    repo = find_repository(folder)
    if repo is None:
        return None, ""
    inside = os.path.relpath(os.path.realpath(folder), repo.root)
    return repo, "" if inside == "." else inside + "/"

"""What a pack says about the machine it was made on: by default nothing."""

from __future__ import annotations

import os
import re

from tether.source.git import find_repository


def describe_origin(
    root: str, *, sensitive: bool = False, frozen: bool = False, notes: str = "", config: str = ""
) -> tuple[tuple[str, str], ...]:
    """`project_root`, `git_remote` and, where sensitive data is allowed, who and where.

    A frozen pack says nothing that the tree does not: the remote of a clone is not part of it.
    """
    remote = "" if frozen and not sensitive else read_remote(root)
    if not sensitive:
        found = [("project_root", ".")]
        if remote and (domain := name_domain(remote)):
            found.append(("git_remote", domain))
        return tuple(found)
    found = [("project_root", os.path.realpath(root))]
    if remote:
        found.append(("git_remote", remote))
    found.append(("hostname", os.uname().nodename))
    if config:
        found.append(("user_config_path", config))
    if notes:
        found.append(("session_notes", notes))
    return tuple(found)


def read_remote(root: str) -> str:
    """The URL of `origin` as the repository's configuration has it, without running git."""
    repo = find_repository(root)
    if repo is None:
        return ""
    try:
        with open(os.path.join(repo.common_dir, "config"), encoding="utf-8", errors="replace") as file:
            text = file.read(1 << 20)
    except OSError:
        return ""
    within = False
    for line in text.splitlines():
        if line.strip().startswith("["):
            within = re.sub(r"\s+", " ", line.strip()) == '[remote "origin"]'
        elif within and (match := re.match(r"\s*url\s*=\s*(\S.*?)\s*$", line)):
            return match.group(1)
    return ""


def name_domain(remote: str) -> str:
    """The host of a remote, without user, password, port or path; "" for a local one."""
    if "://" in remote:
        from urllib.parse import urlsplit

        try:
            return urlsplit(remote).hostname or ""
        except ValueError:
            return ""
    match = re.match(r"(?:[^@/\s]+@)?([A-Za-z0-9.-]+):(?!//)", remote)
    return match.group(1) if match else ""

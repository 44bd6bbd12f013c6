"""A remote repository, cloned for the time of one pack."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from tether.errors import TetherError

_SECONDS = 600
_REMOTE = re.compile(r"(?:https|http|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+")


def is_remote(text: str) -> bool:
    """Whether this names a repository elsewhere rather than a directory here."""
    return bool(_REMOTE.fullmatch(text))


@contextmanager
def clone(url: str, revision: str = "") -> Iterator[str]:
    """A shallow clone that is gone afterwards. Nothing the repository brings is run."""
    if not is_remote(url) or url.startswith("-"):
        raise TetherError(
            "BAD_ARGUMENTS", f"`{url}` is no git URL: give https://…, ssh://… or user@host:path"
        )
    import shutil
    import subprocess
    import tempfile

    folder = tempfile.mkdtemp(prefix="tether-clone-")
    target = os.path.join(folder, "tree")
    command = ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.symlinks=false"]
    command += [
        "-c",
        "filter.lfs.smudge=",
        "-c",
        "filter.lfs.required=false",
        "-c",
        "protocol.ext.allow=never",
    ]
    command += ["clone", "--quiet", "--depth=1", "--no-tags", "--single-branch", "--template="]
    if revision:
        if revision.startswith("-"):
            raise TetherError("BAD_ARGUMENTS", f"`{revision}` is no branch or tag")
        command.append(f"--branch={revision}")
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [*command, "--", url, target],
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
        )
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            reason = said[-1] if said else "git failed"
            raise TetherError(
                "COMMAND_FAILED", f"cannot clone `{_hide(url)}`: {reason.replace(url, _hide(url))}"
            )
        yield target
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TetherError("COMMAND_FAILED", f"cannot clone `{_hide(url)}`: {type(error).__name__}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _hide(url: str) -> str:
    """The URL without a password or token in it."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return url.replace(f"{parts.netloc}", parts.netloc.rpartition("@")[2]) if parts.netloc else url

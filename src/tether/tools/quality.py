"""The quality loop: formatter, linter and tests run after a write, and what they say comes back as data.

What a formatter rewrites belongs to the write it followed: same record, hashed after formatting.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Any

from tether.control.scope import compile_scope
from tether.source.redact import redact
from tether.tools.process import clean_environment, run_program
from tether.tools.shell import LONGEST, find_shell
from tether.types import replace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tether.project import Project
    from tether.types import Change

TIMEOUT = 120
OUTPUT = 200_000
MESSAGE = 400
STEPS = ("format", "lint", "test")

# `file:line:col: message`, `file(line,col): message`, `File "x", line n`, `--> file:line:col`, `FAILED x::y - message`
_PLACES = (
    re.compile(r"^(?P<file>[^\s:()]{1,300}):(?P<line>\d{1,7})(?::\d{1,7})?:\s*(?P<message>\S.{0,2000})"),
    re.compile(r"^(?P<file>[^\s:()]{1,300})\((?P<line>\d{1,7})(?:,\d{1,7})?\):\s*(?P<message>\S.{0,2000})"),
    re.compile(r'^\s*File "(?P<file>[^"]{1,300})", line (?P<line>\d{1,7})(?P<message>.{0,2000})'),
    re.compile(r"^\s*-->\s+(?P<file>[^\s:]{1,300}):(?P<line>\d{1,7})(?P<message>.{0,200})"),
    re.compile(r"^(?:FAILED|ERROR)\s+(?P<file>[^\s:]{1,300})(?:::(?P<message>.{0,2000}))?"),
)


def check(project: Project, changes: Sequence[Change]) -> tuple[list[Change], list[dict[str, Any]]]:
    """Runs every configured step for the changed files; the changes as formatting left them, and the findings."""
    current = list(changes)
    findings: list[dict[str, Any]] = []
    results: dict[str, bool] = {}
    for step in STEPS:
        for rule, paths in _matching(project, current):
            command = rule.get(step)
            if not isinstance(command, str) or not command:
                continue
            for spelled, about in _spelled(command, paths):
                code, output = _run(project, spelled, _seconds(rule))
                results[f"{step}:{command}"] = code == 0 and results.get(f"{step}:{command}", True)
                if code != 0:
                    findings += _findings(step, spelled, code, output, about, project.path)
        if step == "format":
            # a path may have passed through several hands: formatting came after the last
            last = {change.path: n for n, change in enumerate(current)}
            current = [_reread(project, c) if last[c.path] == n else c for n, c in enumerate(current)]
    if results:
        project.journal.append(
            "checked", {"results": results, "findings": findings[:50], "tree": project.tree}
        )
    return current, findings


def _matching(project: Project, changes: Sequence[Change]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    for rule in project.config.quality.checks:
        globs = rule.get("glob", "**")
        scope = compile_scope(list(globs) if isinstance(globs, (list, tuple)) else [globs])
        paths = [change.path for change in changes if change.after and scope.owns(change.path)]
        if paths:
            yield rule, paths


def _spelled(command: str, paths: list[str]) -> Iterator[tuple[str, str]]:
    """Once per file where the command names it, else once."""
    if "{path}" not in command:
        yield command, paths[0] if len(paths) == 1 else ""
        return
    for path in paths:
        quoted = shlex.quote(path if not path.startswith("-") else f"./{path}")
        yield command.replace("{path}", quoted), path


def _run(project: Project, command: str, timeout: float) -> tuple[int | None, str]:
    """How a check ended and what it said; nothing it started outlives it."""
    try:
        ended = run_program(
            [find_shell(), "-c", command],
            cwd_fd=project.root.fd,
            cwd=project.path,
            env=clean_environment(os.environ, project.config.security.environment),
            timeout=timeout,
            limit=OUTPUT,
        )
    except OSError as error:
        return None, f"could not be started: {error.strerror}"
    if ended.timed_out:
        return None, f"timed out after {timeout} s"
    return ended.exit_code, ended.output


def _seconds(rule: dict[str, Any]) -> float:
    """A rule's time limit; what is no number of seconds gives the default."""
    given = rule.get("timeout", TIMEOUT)
    sane = isinstance(given, (int, float)) and not isinstance(given, bool) and 0 < given <= LONGEST
    return given if sane else TIMEOUT


def _findings(
    step: str, command: str, code: int | None, output: str, about: str, root: str
) -> list[dict[str, Any]]:
    """Failures as file, line and message; at least one, so that nothing fails in silence."""
    found: list[dict[str, Any]] = []
    for line in redact(output).text.splitlines():
        for place in _PLACES:
            match = place.match(line)
            if match:
                groups = match.groupdict()
                file = groups["file"]
                if file.startswith(root + os.sep):
                    file = os.path.relpath(file, root)
                found.append(
                    {
                        "check": step,
                        "command": command,
                        "file": file,
                        "line": int(groups["line"]) if groups.get("line") else None,
                        "message": (groups.get("message") or "").strip(" :-,")[:MESSAGE]
                        or line.strip()[:MESSAGE],
                    }
                )
                break
        if len(found) == 100:
            break
    if not found:
        tail = [line for line in redact(output).text.splitlines() if line.strip()][-5:]
        message = "; ".join(tail)[-MESSAGE:] or f"exit code {code}"
        found.append({"check": step, "command": command, "file": about, "line": None, "message": message})
    return found


def _reread(project: Project, change: Change) -> Change:
    """The change with the bytes the file holds after formatting."""
    if not change.after:
        return change
    spot = project.root.look(change.path)
    if spot.problem or spot.hash == change.after or spot.kind != "file":
        return change
    data, spot = project.root.read(change.path)
    project.contents.put(data)
    return replace(change, after=spot.hash)

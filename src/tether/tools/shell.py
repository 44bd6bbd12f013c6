"""The verb that runs a command, its risk classified by parsing it and its environment scrubbed."""

from __future__ import annotations

import os
import shlex
from importlib import import_module
from typing import Any

from tether.control.effects import command_effects
from tether.errors import TetherError
from tether.source.root import Root, refusal
from tether.tools.arguments import describe, parse
from tether.tools.changes import Context
from tether.tools.process import clean_environment, run_program
from tether.types import Prepared, Risk, Verb

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

TIMEOUT = 120
LONGEST = 3600
OUTPUT = 64 * 1024
_SHELLS = ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash", "/bin/sh")

COMMAND = describe(
    ("command",),
    command={
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "minItems": 1, "items": {"type": "string"}},
        ],
        "description": "a line for bash, or a program and its arguments as a list",
    },
    cwd={"type": "string", "default": ".", "description": "directory to run in, from the project's root"},
    timeout={
        "type": "number",
        "minimum": 0.1,
        "maximum": LONGEST,
        "default": TIMEOUT,
        "description": "seconds after which the command and all it started are ended",
    },
    max_output={
        "type": "integer",
        "minimum": 1024,
        "maximum": 4 << 20,
        "default": OUTPUT,
        "description": "bytes of output to return; the middle is left out beyond that",
    },
)


def prepare_command(
    root: Root,
    args: dict[str, Any],
    *,
    classify: Callable[[str], Risk] | None = None,
    allow: Iterable[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Prepared:
    """Classifies a command; running it reports how it ended and what it said.

    `allow` names environment variables that a person lets through.
    """
    given = parse(COMMAND, args)
    command = given["command"]
    line = command if isinstance(command, str) else shlex.join(command)
    if "\0" in line:
        raise TetherError("BAD_ARGUMENTS", "argument `command` holds a NUL byte", argument="command")
    judge = classify or import_module("tether.control.risk").classify
    spot = root.look(given["cwd"], hash=False)
    risk: Risk = judge(line)

    def run(ctx: Context) -> dict[str, Any]:
        if spot.problem:
            raise refusal(spot)
        if spot.kind != "dir":
            raise TetherError("NOT_FOUND", f"`{given['cwd']}` is not a directory", path=given["cwd"])
        argv = [find_shell(), "-c", command] if isinstance(command, str) else command
        fd, _ = root.open_parent("x" if spot.path == "." else f"{spot.path}/x")
        try:
            ended = run_program(
                argv,
                cwd_fd=fd,
                cwd=os.path.normpath(os.path.join(root.path, spot.path)),
                env=clean_environment(os.environ if environ is None else environ, allow),
                timeout=given["timeout"],
                limit=given["max_output"],
                emit=ctx.emit,
                cancelled=ctx.cancelled,
            )
        except (OSError, ValueError) as error:
            raise TetherError("COMMAND_FAILED", f"`{argv[0][:200]}` could not be started: {error}") from error
        finally:
            os.close(fd)
        if ended.cancelled:
            raise TetherError("CANCELLED", "the command was ended because the call was cancelled")
        answer = {
            "command": line,
            "cwd": spot.path,
            "exit_code": ended.exit_code,
            "signal": ended.signal,
            "timed_out": ended.timed_out,
            "duration_ms": round(ended.duration * 1000),
            "output": ended.output,
            "dropped_bytes": ended.dropped,
        }
        if ended.background:
            answer["note"] = f"{ended.background} background processes were ended with the command"
        return answer

    return Prepared(command_effects(line, risk, spot.path or given["cwd"], root.path), run)


def find_shell() -> str:
    """A system shell by absolute path: one found by name could be the project's own."""
    for path in _SHELLS:
        if os.access(path, os.X_OK):
            return path
    raise TetherError("COMMAND_FAILED", "no system shell was found", action="Pass the command as a list")


VERBS: dict[str, Verb] = {
    "run_command": Verb("run_command", prepare_command, True, "Run a command in the project", COMMAND)
}

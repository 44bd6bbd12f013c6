"""The door of agents that run their own tools: their hook systems ask before and report after each one.

Everything here fails closed: whatever goes wrong before a tool runs blocks that tool.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_INPUT = 32 * 1024 * 1024
SECONDS = {"cline": 25}  # it gives a hook 30; the others are told to give 60


def main(argv: Sequence[str]) -> int:
    """Answers one hook event read from standard input; the exit code the agent understands as block is 2."""
    from tether.edges.hooks.wires import WIRES

    if not argv or argv[0] not in WIRES:
        sys.stderr.write(f"usage: tether hook {'|'.join(WIRES)} [--project DIR]   (agents run this)\n")
        return 2
    wire = WIRES[argv[0]]
    phase = "before"
    try:
        _hurry(SECONDS.get(argv[0], 50))
        data = sys.stdin.buffer.read(MAX_INPUT + 1)
        if len(data) > MAX_INPUT:
            raise ValueError("the event is too large")
        event = wire.read(data)
        phase = event.phase
        from tether.edges.hooks.events import answer

        reply = answer(event, _project(argv))
        text, code = wire.write(event, reply)
    except Exception as error:
        _hurry(0)
        # INVARIANT: an error blocks. The text may quote file contents, so only Tether's own messages go out.
        from tether.errors import TetherError

        if isinstance(error, TetherError):
            reason = f"{error.code}: {error.message} → {error.action}"
        elif isinstance(error, ValueError) and phase == "before":
            reason = "the hook event could not be understood"
        else:
            reason = f"unexpected {type(error).__name__}; run `tether doctor`"
        text, code = wire.fail(phase, f"Tether: {reason}")
    if text:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    if code == 2:
        sys.stderr.write("blocked by Tether\n" if not text else "")
    return code


class LateError(Exception):
    """The agent will not wait much longer."""


def _hurry(seconds: float) -> None:
    """INVARIANT: an answer comes in time, for agents take a hook that hangs for leave to go on; 0 stops it."""
    import _signal  # type: ignore[import-not-found]  # `signal` itself makes enumerations of every number first

    def give_up(*_: object) -> None:
        raise LateError

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.setitimer(_signal.ITIMER_REAL, seconds, 1.0 if seconds else 0.0)  # again, if it was swallowed


def _project(argv: Sequence[str]) -> str:
    return argv[2] if len(argv) >= 3 and argv[1] == "--project" else ""

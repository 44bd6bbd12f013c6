"""The system's clipboard, by whichever of its programs is installed."""

from __future__ import annotations

import shutil
import subprocess

from tether.errors import TetherError

PROGRAMS = (
    ("pbcopy",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
    ("clip.exe",),
)


def copy(data: bytes) -> str:
    """Put the bytes on the clipboard; returns the program that took them."""
    for program in PROGRAMS:
        found = shutil.which(program[0])
        if not found:
            continue
        try:
            subprocess.run([found, *program[1:]], input=data, check=True, capture_output=True, timeout=30)
        except (subprocess.SubprocessError, OSError) as error:
            raise TetherError("COMMAND_FAILED", f"`{program[0]}` did not take the pack: {error}") from error
        return program[0]
    names = ", ".join(program[0] for program in PROGRAMS)
    raise TetherError(
        "NOT_FOUND", f"no clipboard program found: install one of {names}", action="Use -o FILE instead"
    )

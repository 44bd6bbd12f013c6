"""Settings files of other programs: read, edited as text that stays theirs, and planned before they are written."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from tether.errors import TetherError


class Plan(NamedTuple):
    """One file to write: None is absent."""

    path: str
    before: str | None
    after: str | None
    executable: bool = False


def parse(path: str, text: str | None) -> dict[str, Any]:
    """The settings a file holds; absent and empty are none."""
    if text is None or not text.strip():
        return {}
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        raise TetherError(
            "CONFIG_INVALID", f"{path}:{error.lineno}:{error.colno}: {error.msg}; mend it and retry"
        ) from None
    if not isinstance(settings, dict):
        raise TetherError("CONFIG_INVALID", f"{path}: expected an object; mend it and retry")
    return settings


def spell(settings: dict[str, Any], before: str | None) -> str:
    """JSON in the indentation the file had."""
    indent: int | str = 2
    for line in (before or "").splitlines()[1:]:
        stripped = line.lstrip()
        if stripped:
            lead = line[: len(line) - len(stripped)]
            indent = lead if lead else 2
            break
    return json.dumps(settings, indent=indent, ensure_ascii=False) + "\n"


def read(root: str, path: str) -> str | None:
    """A project file's text, or None."""
    place = os.path.join(root, path)
    if not os.path.lexists(place):
        return None
    real, inside = os.path.realpath(place), os.path.realpath(root).rstrip("/") + "/"
    if not real.startswith(inside) or not os.path.isfile(real):
        raise TetherError("NOT_A_FILE", f"`{path}` is no plain file of the project; mend it and retry")
    try:
        with open(real, encoding="utf-8") as file:
            return file.read()
    except UnicodeDecodeError:
        raise TetherError("CONFIG_INVALID", f"`{path}` is not UTF-8; mend it and retry") from None

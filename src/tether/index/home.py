"""Where a project's index lives."""

from __future__ import annotations

import os

from tether.index.code import FOLDER, CodeIndex


def find_home(start: str) -> str:
    """The directory whose code is indexed: the nearest with `.tether`, else with `.git`, else `start`."""
    start = os.path.realpath(start)
    for mark in (".tether", ".git"):
        folder = start
        while True:
            if os.path.exists(os.path.join(folder, mark)):
                return folder
            above = os.path.dirname(folder)
            if above == folder:
                break
            folder = above
    return start


def open_index(root: str) -> CodeIndex:
    """The index of a directory, in a folder of its own that git does not see."""
    index = CodeIndex(root)
    local = os.path.join(index.root.path, os.path.dirname(FOLDER))
    os.makedirs(local, exist_ok=True)
    ignore = os.path.join(local, ".gitignore")
    if not os.path.exists(ignore):
        with open(ignore, "w", encoding="utf-8") as file:
            file.write("*\n")
    return index

"""Collect the pure core into core.zip: the browser module and everything that importing it brings in."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "..", "src")

LIST = (
    "import sys; sys.path.insert(0, sys.argv[1]); import tether.pack.browser, tether.source.redact\n"
    "print(*sorted(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'tether'), sep='\\n')\n"
)


def build(target: str) -> list[str]:
    """Write the archive; returns the names in it. The same sources give the same bytes."""
    source = os.path.realpath(SOURCE)
    # -I -S: what the core needs must not come from an installed package.
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LIST, source], capture_output=True, text=True, check=True
    )
    names = [os.path.relpath(path, source) for path in found.stdout.split()]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            with open(os.path.join(source, name), "rb") as file:
                archive.writestr(zipfile.ZipInfo(name.replace(os.sep, "/")), file.read())
    return names


if __name__ == "__main__":
    for packed in build(os.path.join(HERE, "core.zip")):
        print(packed)

"""`python -m bench [name …]`: every target, printed as a ratio against a peer or bound measured in the same run."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import bench


def main(names: list[str]) -> int:
    """Runs the named benches, or all; exit code 1 if a target is missed."""
    found = sorted(m.name for m in pkgutil.iter_modules(bench.__path__) if not m.name.startswith("_"))
    missed = 0
    for name in names or found:
        module = importlib.import_module(f"bench.{name}")
        if not hasattr(module, "run"):
            continue
        print(f"\n== {name}: {(module.__doc__ or '').strip().splitlines()[0]}")
        for row in module.run():
            verdict = "" if row.bound is None else ("ok" if row.ratio <= row.bound else "MISSED")
            missed += verdict == "MISSED"
            bound = "" if row.bound is None else f"  target ≤ {row.bound:g}"
            print(f"{row.what:<58} {row.ratio:8.2f} ×  {row.against}{bound}  {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The `tether` command's first look at its arguments: hooks must not pay for anything else."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs one command; its exit code."""
    if sys.argv[1:2] == ["hook"]:
        from tether.edges.hooks import main as hook

        return hook(sys.argv[2:])
    from tether.cli.frame import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())

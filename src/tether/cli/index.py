"""Index the project's code, keep it fresh, or say how the index stands.

Only what changed is read again. Interrupted, the run keeps what it has done.
"""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING

from tether.index.home import open_home
from tether.types import plain

if TYPE_CHECKING:
    import argparse

    from tether.index.code import CodeIndex, IndexStatus
    from tether.index.indexer import Progress, Report
    from tether.index.semantic import Semantic

EXAMPLES = """\
  tether index                # bring the index up to the tree
  tether index --watch        # and keep it there
  tether index --status --json
  tether index --rebuild      # from nothing"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do with the index."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--status", action="store_true", help="say how the index stands and change nothing")
    what.add_argument("--watch", action="store_true", help="stay and index changes as they happen")
    what.add_argument("--rebuild", action="store_true", help="throw the index away and make it again")
    what.add_argument("--verify", action="store_true", help="read the whole index and mend it if damaged")


def run(args: argparse.Namespace) -> int:
    """Indexes, watches, or tells."""
    with open_home(args.project) as index:
        if args.status:
            return _tell_status(index.status(), args.json)
        bar = _Bar()
        report = index.index(rebuild=args.rebuild, verify=args.verify, listen=bar.show)
        bar.end()
        _tell(report, args.json)
        if index.semantic is not None:
            _embed(index, index.semantic, len(report.indexed), args.json)
        if args.watch:
            return _watch(index, args.json)
    return 0


def _tell(report: Report, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(plain(report)) + "\n")
        return
    for note in report.notes:
        sys.stdout.write(f"note: {note}\n")
    done = f"{len(report.indexed)} files indexed, {len(report.gone)} dropped, {report.total} in the index"
    sys.stdout.write(f"{done}, {report.seconds:.2f} s\n")
    if report.aside:
        aside = ", ".join(f"{count} {reason}" for reason, count in sorted(report.aside.items()))
        sys.stdout.write(f"set aside: {aside}\n")
    for path, reason in report.unparsed[:5]:
        sys.stdout.write(f"indexed as plain text: {path!r} ({reason})\n")


def _tell_status(status: IndexStatus, as_json: bool) -> int:
    if as_json:
        sys.stdout.write(json.dumps(plain(status)) + "\n")
        return 0
    sys.stdout.write(
        f"state           {status.state}{f' ({status.note})' if status.note else ''}\n"
        f"files           {status.total_files} ({status.stale_files} stale)\n"
        f"fragments       {status.fragments}\n"
        f"symbols         {status.symbols}\n"
        f"last indexed    {status.last_indexed_at or 'never'}\n"
        f"size            {status.index_size_bytes / 1e6:.1f} MB\n"
    )
    for reason, count in sorted(status.aside.items()):
        sys.stdout.write(f"set aside       {count} {reason}\n")
    return 0


def _embed(index: CodeIndex, semantic: Semantic, files: int, as_json: bool) -> None:
    """Words can be searched already; vectors fill in behind, and Ctrl-C keeps those that are there."""
    store = index.store()
    if store is None:
        return
    cloud = semantic.chain.cloud
    if cloud is not None and not any(model.name == cloud.name for model in semantic.vectors.models()):
        sys.stderr.write(
            f"note: embedding.cloud_enabled is on: where the local model fails, or more than 1000 files are new,"
            f" the text of this project's files is sent to `{cloud.name}`\n"
        )
    bar = _Bar("fragments")
    done = semantic.fill(store, listen=bar.show, files=files)
    bar.end()
    if as_json:
        sys.stdout.write(json.dumps(plain(done)) + "\n")
        return
    sys.stdout.write(f"{done.done} fragments embedded, {done.left} waiting, {done.seconds:.2f} s\n")
    for reason in done.reasons:
        sys.stdout.write(f"note: {reason}\n")


def _watch(index: CodeIndex, as_json: bool) -> int:
    from tether.index.watch import watch

    for event in watch(index):
        if as_json:
            sys.stdout.write(json.dumps(plain(event)) + "\n")
        else:
            sys.stdout.write(f"{event.kind}  {event.path!r}  {event.milliseconds:.0f} ms\n")
        sys.stdout.flush()
    return 0


class _Bar:
    """Progress on a terminal's one line; silent elsewhere."""

    def __init__(self, what: str = "files") -> None:
        self._what = what
        self._on = sys.stderr.isatty()
        self._last = 0.0

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if not self._on or (now - self._last < 0.1 and progress.done != progress.total):
            return
        self._last = now
        filled = int(24 * progress.done / max(1, progress.total))
        sys.stderr.write(
            f"\r\x1b[K{'█' * filled}{'░' * (24 - filled)} {progress.done}/{progress.total} {self._what}"
            f"  {progress.rate:.0f}/s  {progress.left:.0f} s left"
        )
        sys.stderr.flush()

    def end(self) -> None:
        if self._on and self._last:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

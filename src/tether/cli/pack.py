"""Pack a project, or a part of it, into one text that fits a model's context window."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING

from tether.errors import TetherError

if TYPE_CHECKING:
    from tether.pack.engine import Sink
    from tether.pack.lens import Lens
    from tether.pack.report import Run
    from tether.pack.shell import Job, Request

EXAMPLES = """\
  tether pack --lens architecture --budget 15k -o context.xml
  tether pack --since main --clipboard        # what changed, and the shape of what it imports
  tether pack --map                           # where the tokens go
  tether pack https://example.org/repo.git    # a repository elsewhere, cloned for the moment"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to pack, how much of it, in which format, and where to."""
    add = parser.add_argument
    add(
        "paths",
        nargs="*",
        metavar="PATH",
        help="a directory, files, or the URL of a git repository",
    )
    add("-o", "--output", metavar="FILE", help="write to a file instead of standard output")
    add("-f", "--format", default="claude-xml", help="plus-minus, claude-xml, xml, markdown or json")
    add("--lens", default="", help="architecture, debug, security, onboarding, or one of tether.toml")
    add("--budget", "--token-budget", metavar="N", help="the most tokens: 15000, 15k, 1m")
    add("--strategy", "--budget-strategy", default="hybrid", help="drop, truncate or hybrid")
    add("--tokenizer", default="o200k", help="o200k, cl100k or estimate")
    add("--truncate", type=int, metavar="N", help="lines kept of each file; 0 keeps all")
    add("--truncate-mode", default="", metavar="MODE", help="simple, smart or structure")
    add("--truncate-exclude", action="append", default=[], metavar="GLOB", help="files never shortened")
    add("--no-truncate-summary", action="store_true", help="leave out the notes on what was left out")
    add("--truncate-stats", action="store_true", help="say how much shortening saved")
    add("--include", action="append", default=[], metavar="GLOB", help="only matching files")
    add("--exclude", action="append", default=[], metavar="GLOB", help="no matching files")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--staged", action="store_true", help="files staged in git, as staged")
    which.add_argument("--diff", default="", metavar="REV..", help="files changed in a range of commits")
    which.add_argument("--since", default="", metavar="REV", help="files changed since, and what they import")
    which.add_argument("--stdin", action="store_true", help="files named on standard input")
    add("--no-submodules", action="store_true", help="leave git submodules out")
    add(
        "--sort-by",
        default="",
        choices=["", "name", "mtime", "ctime"],
        metavar="KEY",
        help="name, mtime, ctime",
    )
    add("--sort-order", default="", choices=["", "asc", "desc"], metavar="ORDER", help="asc or desc")
    add("--frozen", action="store_true", help="the same bytes for the same tree, whenever and wherever")
    add("--allow-sensitive", action="store_true", help="keep secrets, and say where the pack was made")
    add("--notes", default="", help="session notes, written only with --allow-sensitive")
    add("--split", metavar="N", help="N parts, or parts of at most N tokens (50k)")
    add("--clipboard", action="store_true", help="put the pack on the clipboard")
    add("--map", action="store_true", help="show where the tokens go instead of the pack")
    add("--top", type=int, default=0, metavar="N", help="list the N files that take most tokens")
    add("--explain", metavar="PATH", help="say why a file has the priority it has, and how it is shown")
    add("--session", default="", metavar="NAME", help="show what a zoom session opened in full")
    add("--no-cache", action="store_true", help="remember no measurements")
    add("-q", "--quiet", action="store_true", help="say nothing on standard error")
    zoom = parser.add_argument_group("zoom", "the same as `tether zoom`")
    zoom.add_argument(
        "--zoom", metavar="TARGET", help="function=NAME, class=NAME, module=NAME or file=PATH:10-40"
    )
    from tether.cli import zoom as command

    command.add_detail(zoom)


def run(args: argparse.Namespace) -> int:
    """Pack, and say on standard error what became of it."""
    if args.zoom:
        from tether.cli import zoom as command

        args.project = args.paths[0] if args.paths else args.project
        return command.run_target(args, args.zoom)
    with ExitStack() as stack:
        from tether.pack.clone import clone, is_remote
        from tether.pack.shell import prepare

        root, named = split_paths(args.paths, args.project)
        if is_remote(root):
            root = stack.enter_context(clone(root))
        job = prepare(make_request(args, root, named))
        stack.callback(job.close)
        for notice in job.notices:
            print(f"tether: {notice}", file=sys.stderr)
        if args.explain is not None:
            return explain(job, args.explain)
        if args.map:
            return show_map(job, args)
        made = write_out(job, args)
        if not args.quiet:
            report(job, made, args)
        return 0


def split_paths(paths: list[str], project: str) -> tuple[str, tuple[str, ...] | None]:
    """One directory or URL as the root; or files, named one by one, of the project."""
    if not paths:
        return project, None
    if len(paths) == 1 and not os.path.isfile(os.path.join(project, paths[0])):
        return paths[0], None
    return project, tuple(paths)


def make_request(args: argparse.Namespace, root: str, named: tuple[str, ...] | None = None) -> Request:
    """The arguments, checked, as a request."""
    from tether.pack.budget import check_strategy, parse_budget
    from tether.pack.compose import Settings
    from tether.pack.formats import find_format
    from tether.pack.lens import MODES
    from tether.pack.selection import Query, read_list
    from tether.pack.shell import Request, default_cache

    if args.truncate_mode not in MODES:
        raise TetherError(
            "BAD_ARGUMENTS", f"unknown mode `{args.truncate_mode}`: choose {', '.join(MODES[1:])}"
        )
    if args.truncate is not None and args.truncate < 0:
        raise TetherError("BAD_ARGUMENTS", f"--truncate `{args.truncate}`: give 0 or more lines")
    whole: frozenset[str] = frozenset()
    if args.session:
        from tether.pack.sessions import opened_files

        whole = opened_files(root, args.session)
    exclude = tuple(args.exclude)
    if args.output:
        inside = os.path.relpath(os.path.realpath(args.output), os.path.realpath(root))
        # A pack must not contain the pack before it.
        exclude += () if inside.startswith("..") else (f"/{inside}",)
    settings = Settings(
        format=find_format("json" if args.json else args.format).name,
        budget=None if args.budget is None else parse_budget(args.budget),
        strategy=check_strategy(args.strategy),
        mode=args.truncate_mode,
        truncate=args.truncate,
        truncate_exclude=tuple(args.truncate_exclude),
        notes=not args.no_truncate_summary,
        frozen=args.frozen,
        include=("*",) if args.include else (),
        sort_by=args.sort_by,
        sort_order=args.sort_order,
        whole=whole,
    )
    query = Query(
        include=tuple(args.include),
        exclude=exclude,
        staged=args.staged,
        diff=args.diff,
        since=args.since,
        paths=read_list(sys.stdin.read()) if args.stdin else named,
        submodules=not args.no_submodules,
    )
    return Request(
        root,
        query,
        args.lens,
        read_lenses(root),
        args.tokenizer,
        args.allow_sensitive,
        "" if args.no_cache else default_cache(dict(os.environ)),
        settings,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        args.notes,
        os.path.join(os.path.expanduser("~"), ".config", "tether", "config.toml")
        if args.allow_sensitive
        else "",
    )


def read_lenses(root: str) -> dict[str, Lens]:
    """The lenses of the project's `tether.toml`."""
    try:
        with open(os.path.join(root, "tether.toml"), encoding="utf-8") as file:
            text = file.read(1 << 20)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise TetherError("CONFIG_INVALID", f"cannot read `tether.toml`: {error}") from error
    from tether.config.layers import Layer, resolve
    from tether.pack.lens import parse_lens

    tables = resolve([Layer("tether.toml", text, trusted=False)], {}).config.pack.lenses
    found = {}
    for table in tables:
        name = table.get("name")
        if not isinstance(name, str) or not name:
            raise TetherError("CONFIG_INVALID", "tether.toml: each of `pack.lenses` needs a `name`")
        found[name] = parse_lens(name, {key: value for key, value in table.items() if key != "name"})
    return found


def write_out(job: Job, args: argparse.Namespace) -> Run:
    """The pack to a file, to parts, to the clipboard or to standard output."""
    if args.split:
        from tether.pack.parts import parse_split

        return write_split(job, args, parse_split(args.split))
    if args.clipboard:
        from tether.pack.clipboard import copy

        blocks: list[bytes] = []
        made = job.write(blocks.append)
        copy(b"".join(blocks))
        return made
    if not args.output:
        made = job.write(sys.stdout.buffer.write)
        sys.stdout.buffer.flush()
        return made
    staged = f"{args.output}.tmp-{os.getpid()}"
    try:
        with open(staged, "wb") as file:
            made = job.write(file.write)
        os.replace(staged, args.output)
    except BaseException:
        if os.path.exists(staged):
            os.unlink(staged)
        raise
    return made


def write_split(job: Job, args: argparse.Namespace, split: tuple[str, int]) -> Run:
    """`out.xml` becomes `out.1.xml`, `out.2.xml`, …; on standard output the parts follow each other."""
    with ExitStack() as stack:

        def open_part(number: int, parts: int) -> Sink:
            if not args.output:
                return sys.stdout.buffer.write
            stem, ending = os.path.splitext(args.output)
            name = f"{stem}.{number}{ending}"
            file: IO[bytes] = stack.enter_context(open(name, "wb"))
            if not args.quiet:
                print(f"tether: part {number}/{parts}: {name}", file=sys.stderr)
            return file.write

        return job.write_parts(open_part, split)


def show_map(job: Job, args: argparse.Namespace) -> int:
    """The tree and its heat, and the files that take most."""
    from tether.pack.treemap import draw_map, list_eaters

    made = job.write(lambda data: None)
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    sys.stdout.write(draw_map(made.entries, made.dropped, color=color))
    sys.stdout.write(f"\n{made.report.utilized:,} tokens ({made.report.tokenizer}) with markup\n")
    sys.stdout.write(list_eaters(made.entries, args.top or 5))
    return 0


def explain(job: Job, path: str) -> int:
    """Why a file is in or out, its priority, and how much of it is shown."""
    from tether.pack.compose import Composer

    composer = Composer(job.settings, job.memory)
    path = os.path.normpath(path)
    chosen = {file.path for file in job.selected.files}
    print(f"{path}\n  {composer.rank(path).explain()}")
    if path not in chosen:
        print(f"  not selected: {job.selected.aside.get(path, 'ignored, excluded or absent')}")
    elif not composer.admits(path):
        print(f"  left out by lens `{job.settings.lens.name}`")
    else:
        mode, limit = composer.plan(path)
        print(f"  shown: {mode}" + (f", at most {limit} lines where it has no structure" if limit else ""))
    return 0


def report(job: Job, made: Run, args: argparse.Namespace) -> None:
    """A few lines on standard error."""
    from tether.pack.treemap import list_eaters

    said = made.report
    parts = [f"{len(made.entries)} files, {said.utilized:,} tokens ({said.tokenizer})"]
    if said.budget is not None:
        parts.append(f"budget {said.budget:,}")
    if said.truncated_files:
        parts.append(f"{said.truncated_files} shortened")
    if made.dropped:
        parts.append(f"{len(made.dropped)} listed only")
    if said.redactions:
        parts.append(f"{said.redactions} secrets taken out")
    hidden = sum(1 for reason in job.selected.aside.values() if reason == "sensitive")
    if hidden:
        parts.append(f"{hidden} sensitive files left out")
    print("tether: " + ", ".join(parts), file=sys.stderr)
    if not made.entries and not made.dropped:
        print("tether: nothing to pack: check the lens and the patterns", file=sys.stderr)
    if args.truncate_stats:
        before = sum(e.original_tokens for e in made.entries)
        after = sum(e.tokens for e in made.entries) or 1
        print(f"tether: {before:,} → {after:,} tokens of text, {before / after:.1f}×", file=sys.stderr)
    if args.top:
        sys.stderr.write(list_eaters(made.entries, args.top))

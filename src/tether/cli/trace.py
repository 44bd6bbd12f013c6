"""List, show, count and export trace records."""

from __future__ import annotations

import csv
import json
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

from tether.cli.output import dump, printable, say, table
from tether.cli.person import require_person
from tether.errors import TetherError
from tether.project import LEDGER_FILE, Project, open_project
from tether.record import ledger
from tether.source.git import run_git

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

EXAMPLES = """\
  tether trace list -n 10
  tether trace list --intent INT-001 --path 'src/auth/**'
  tether trace show 3f9c
  tether trace stats --by model
  tether trace export --format csv > trace.csv
  tether trace export --format git-notes"""

COLUMNS = ("id", "timestamp", "path", "kind", "contributor", "model", "lines", "intent", "class", "revision")
NOTES_REF = "refs/notes/agent-trace"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-commands and filters."""
    parser.add_argument("action", choices=("list", "show", "stats", "export"), help="what to do")
    parser.add_argument("id", nargs="?", default="", help="a record's id or its beginning, for `show`")
    parser.add_argument(
        "-n", "--limit", type=int, default=20, help="how many, newest first (default 20; 0 = all)"
    )
    parser.add_argument("--intent", default="", help="only records of this intent")
    parser.add_argument("--model", default="", help="only records of this model")
    parser.add_argument("--path", default="", help="only records that touch this glob")
    parser.add_argument(
        "--by", choices=("intent", "model", "path"), default="", help="what `stats` counts by"
    )
    parser.add_argument(
        "--format", choices=("csv", "jsonl", "git-notes"), default="csv", help="what `export` writes"
    )


def run(args: argparse.Namespace) -> int:
    """Lists, shows, counts or exports."""
    if args.action == "export" and args.format == "git-notes":
        require_person("trace export --format git-notes")
    project = open_project(args.project)
    project.drain()
    rows = [row for record in records(project) for row in flatten(record) if _matches(row, args)]
    return {"list": _list, "show": _show, "stats": _stats, "export": _export}[args.action](
        project, args, rows
    )


def records(project: Project) -> Iterator[dict[str, Any]]:
    """Every record of the ledger, in file order, each once."""
    path = os.path.join(project.path, LEDGER_FILE)
    if not os.path.exists(path):
        return
    seen = set()
    for _, record in ledger.read(path):
        if record["id"] not in seen:
            seen.add(record["id"])
            yield record


def flatten(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One row a file."""
    own = record.get("metadata", {}).get("dev.tether", {})
    details = {detail.get("path", ""): detail for detail in own.get("files", ())}
    for file in record["files"]:
        conversation = file["conversations"][0] if file["conversations"] else {}
        contributor = conversation.get("contributor", {})
        ranges = conversation.get("ranges", [])
        intents = [
            r["url"].removeprefix("urn:intent:")
            for r in conversation.get("related", ())
            if r["type"] == "intent"
        ]
        yield {
            "id": record["id"],
            "timestamp": record["timestamp"],
            "path": file["path"],
            "kind": details.get(file["path"], {}).get("kind", ""),
            "contributor": contributor.get("type", "unknown"),
            "model": contributor.get("model_id", ""),
            "lines": sum(r["end_line"] - r["start_line"] + 1 for r in ranges),
            "intent": intents[0] if intents else "",
            "class": own.get("class", ""),
            "revision": record.get("vcs", {}).get("revision", ""),
            "record": record,
        }


def _matches(row: dict[str, Any], args: argparse.Namespace) -> bool:
    if args.path:
        from tether.control.scope import compile_scope

        if not compile_scope([args.path]).owns(row["path"]):
            return False
    return (not args.intent or row["intent"] == args.intent) and (
        not args.model or row["model"] == args.model
    )


def _list(project: Project, args: argparse.Namespace, rows: list[dict[str, Any]]) -> int:
    chosen = rows[::-1][: args.limit or None]
    if args.json:
        dump([{k: row[k] for k in COLUMNS} for row in chosen])
        return 0
    table(
        ("id", "when", "who", "lines", "intent", "class", "path"),
        [
            (r["id"][:8], r["timestamp"][:19], r["model"] or r["contributor"], str(r["lines"]), r["intent"] or "—",
             r["class"] or r["kind"], r["path"])
            for r in chosen
        ],
        empty="no records yet",
    )  # fmt: skip
    return 0


def _show(project: Project, args: argparse.Namespace, rows: list[dict[str, Any]]) -> int:
    found = {row["id"]: row["record"] for row in rows if args.id and row["id"].startswith(args.id)}
    if len(found) != 1:
        what = "no record" if not found else f"{len(found)} records"
        raise TetherError(
            "NOT_FOUND", f"{what} with an id beginning `{args.id}`", action="See `tether trace list`"
        )
    record = next(iter(found.values()))
    dump(record) if args.json else say(json.dumps(record, indent=2))
    return 0


def _stats(project: Project, args: argparse.Namespace, rows: list[dict[str, Any]]) -> int:
    chosen = (args.by,) if args.by else ("intent", "model", "path")
    counted: dict[str, dict[str, dict[str, int]]] = {}
    for key in chosen:
        lines: Counter[str] = Counter()
        edits: Counter[str] = Counter()
        for row in rows:
            name = row[key] or ("(none)" if key == "intent" else row["contributor"])
            lines[name] += row["lines"]
            edits[name] += 1
        counted[key] = {
            name: {"changes": edits[name], "lines": lines[name]} for name, _ in edits.most_common()
        }
    if args.json:
        dump(counted)
        return 0
    for key, found in counted.items():
        table(
            (key, "changes", "lines"),
            [
                (name, str(n["changes"]), str(n["lines"]))
                for name, n in list(found.items())[: args.limit or None]
            ],
            empty=f"no records by {key}",
        )
        say()
    return 0


def _export(project: Project, args: argparse.Namespace, rows: list[dict[str, Any]]) -> int:
    if args.format == "csv":
        writer = csv.writer(sys.stdout)
        writer.writerow(COLUMNS)
        # a cell that begins like a formula would run in a spreadsheet
        writer.writerows([_inert(row[column]) for column in COLUMNS] for row in rows)
    elif args.format == "jsonl":
        for record in {row["id"]: row["record"] for row in rows}.values():
            dump(record)
    else:
        count = _export_notes(project, rows)
        dump({"ok": True, "notes": count}) if args.json else say(f"wrote {count} notes to {NOTES_REF}")
    return 0


def _export_notes(project: Project, rows: list[dict[str, Any]]) -> int:
    """The records of each commit they were made on, as notes; how many commits."""
    if project.repository is None:
        raise TetherError("BAD_ARGUMENTS", "git notes need a git repository")
    by_commit: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        if row["revision"]:
            by_commit.setdefault(row["revision"], {})[row["id"]] = row["record"]
    count = 0
    for revision, found in by_commit.items():
        if run_git(project.repository, "cat-file", "-e", f"{revision}^{{commit}}") is None:
            continue  # a commit that a rebase or squash has left behind
        text = "".join(json.dumps(record) + "\n" for record in found.values())
        scratch = os.path.join(project.folder("tmp"), f"note-{revision}")
        with open(scratch, "w", encoding="utf-8") as file:
            file.write(text)
        author = ("-c", "user.name=tether", "-c", "user.email=tether@localhost")
        done = run_git(
            project.repository, *author, "notes", "--ref", NOTES_REF, "add", "-f", "-F", scratch, revision
        )
        os.unlink(scratch)
        if done is None:
            raise TetherError("COMMAND_FAILED", f"git could not write a note on `{revision}`")
        count += 1
    return count


def _inert(value: Any) -> str:
    text = printable(value)
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text

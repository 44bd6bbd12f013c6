"""Validate, show and explain plans; accept one, and finish its nodes.

A plan is a PlanGraph in a JSON file. `accept` puts a valid plan in force in this worktree: under the preset
`strict`, agents may then change what its open nodes name, and nothing else. `done` runs a node's checks and,
when all pass, opens what depends on it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from tether.cli.output import dump, printable, say, table
from tether.cli.person import name, require_person
from tether.control.plan_check import to_plain
from tether.control.plan_graph import Graph, split
from tether.control.plan_picture import draw_mermaid, draw_svg, label
from tether.control.plan_text import MAX_BYTES
from tether.errors import TetherError
from tether.project import open_project
from tether.tools.planning import accept, find_open, finish, judge, plans_in_force, withdraw

if TYPE_CHECKING:
    import argparse

    from tether.control.plan_check import Report
    from tether.project import Project

REFUSED = 3
EXAMPLES = """\
  tether plan validate plan.json
  tether plan show plan.json --format mermaid
  tether plan show plan.json --format svg > plan.svg
  tether plan explain plan.json
  tether plan accept plan.json
  tether plan list
  tether plan done W-1 c1
  tether plan withdraw W-1"""
ACTIONS = ("validate", "show", "explain", "accept", "list", "done", "withdraw")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-commands."""
    parser.add_argument("action", choices=ACTIONS, help="what to do")
    parser.add_argument(
        "what", nargs="?", default="", help="the plan's file (`-`: standard input), or a work's id"
    )
    parser.add_argument("node", nargs="?", default="", help="of `done`: the node that is done")
    parser.add_argument(
        "--format", choices=("text", "mermaid", "svg"), default="text", help="of `show`: how to draw it"
    )
    parser.add_argument("--prompt", default="", help="the task in words: strategies follow from it too")
    parser.add_argument(
        "--timeout", type=int, default=600, help="of `done`: seconds a check may take (default 600)"
    )


def run(args: argparse.Namespace) -> int:
    """Runs one sub-command."""
    who = require_person(f"plan {args.action}") if args.action in ("accept", "withdraw") else ""
    project = open_project(args.project)
    if args.action == "list":
        return _list(project, as_json=args.json)
    if not args.what:
        needed = "a work's id" if args.action in ("done", "withdraw") else "a file"
        raise TetherError("BAD_ARGUMENTS", f"`tether plan {args.action}` needs {needed}")
    if args.action == "withdraw":
        withdraw(project, args.what, who)
        _tell(args, {"ok": True, "withdrawn": args.what}, f"withdrawn: the plan of {args.what}")
        return 0
    if args.action == "done":
        return _done(project, args)
    report = judge(project, _read(args.what), prompt=args.prompt)
    if args.action == "show":
        return _show(report, args)
    if args.action == "explain":
        return _explain(report, args)
    if args.action == "accept" and report.ok:
        identity = accept(project, report, who)
        review = [node.common.id for node in report.plan.changes if node.review]
        said = f"accepted: {identity}" + (f"; review by hand: {', '.join(review)}" if review else "")
        _tell(args, {"ok": True, "plan": identity, "work": report.plan.work, "review": review}, said)
        return 0
    if args.json:
        dump(to_plain(report))
    else:
        _tell_violations(report)
    return 0 if report.ok else REFUSED


def _read(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise TetherError(
            "NOT_FOUND", f"`{path}` cannot be read: {error.strerror}", action="Name a file"
        ) from None


def _tell(args: argparse.Namespace, data: dict[str, Any], text: str) -> None:
    if args.json:
        dump(data)
    else:
        say(printable(text))


def _tell_violations(report: Report) -> None:
    if report.ok:
        say(f"valid: {len(report.plan.nodes)} nodes, strategy {report.selection.strategy.id}")
        return
    for violation in report.violations:
        say(f"{violation.pointer or '/'}  {violation.code}  ({violation.rule})")
        say(f"    {printable(violation.message)}")
        say(f"    → {printable(violation.hint)}")
    say(f"refused: {len(report.violations)} violations")


def _show(report: Report, args: argparse.Namespace) -> int:
    plan = report.plan
    if args.json:
        dump({"workId": plan.work, "valid": report.ok, "nodes": plan.raw.get("nodes", [])})
    elif args.format == "mermaid":
        sys.stdout.write(draw_mermaid(plan))
    elif args.format == "svg":
        sys.stdout.write(draw_svg(plan))
    else:
        rows = [
            (str(level), node.common.id, node.common.kind, ", ".join(node.common.depends_on), label(node))
            for level, layer in enumerate(Graph(plan.nodes).levels())
            for node in (plan.nodes[n] for n in layer)
        ]
        table(
            ("step", "node", "kind", "after", "what"), rows, empty="this plan has no nodes that can be read"
        )
        if not report.ok:
            say(f"not valid: {len(report.violations)} violations; see `tether plan validate`")
    return 0


def _explain(report: Report, args: argparse.Namespace) -> int:
    """Why a plan is judged as it is, and how it would be carried out."""
    plan, hints = report.plan, split(report.plan)
    order = [[plan.nodes[n].common.id for n in layer] for layer in Graph(plan.nodes).levels()]
    if args.json:
        dump({**to_plain(report), "featureReasons": report.signature.reasons, "order": order})
        return 0 if report.ok else REFUSED
    say(f"strategy {report.selection.strategy.id}: {'; '.join(map(printable, report.selection.reasons))}")
    for feature, value in report.signature.features.items():
        say(f"  {feature} = {str(value).lower()}: {printable(report.signature.reasons[feature])}")
    say("order:")
    for step, ids in enumerate(order):
        say(f"  {step}. {', '.join(map(printable, ids))}")
    if hints["recommended"]:
        say("parts that do not meet, so that several agents can work at once:")
        for part in hints["splits"]:
            say(f"  {', '.join(map(printable, part['nodeIds']))}: {', '.join(map(printable, part['files']))}")
    for result in report.memory:
        say(f"memory {printable(result.memory)}: {'satisfied' if result.satisfied else 'not satisfied'}")
    _tell_violations(report)
    return 0 if report.ok else REFUSED


def _list(project: Project, *, as_json: bool) -> int:
    plans = plans_in_force(project)
    if as_json:
        dump(plans)
        return 0
    rows = [
        (work, held["plan"], f"{len(held['done'])} of {len(held['nodes'])}", ", ".join(held["open"]))
        for work, held in plans.items()
    ]
    table(("work", "plan", "done", "open"), rows, empty="no plan is in force")
    return 0


def _done(project: Project, args: argparse.Namespace) -> int:
    """Runs the checks of an open node, as they were accepted; a node without checks is a person's to finish."""
    if not args.node:
        raise TetherError("BAD_ARGUMENTS", "`tether plan done` needs a work's id and a node")
    node = find_open(project, args.what, args.node)
    who = name() if node["checks"] else require_person("plan done, for a node without checks")
    results = [_run(project, command, args.timeout) for command in node["checks"]]
    passed = all(result["result"] == "pass" for result in results)
    if passed:
        kept = [{"command": r["command"], "exit_code": r["exit_code"]} for r in results]
        finish(project, args.what, node, kept, who)
    if args.json:
        dump({"ok": passed, "work": args.what, "node": args.node, "checks": results})
    else:
        for result in results:
            say(f"{'✓' if result['result'] == 'pass' else '✗'} {printable(result['command'])}")
            if result["result"] == "fail":
                for line in result["output"].splitlines()[-15:]:
                    say("    " + printable(line))
        say(f"done: {printable(args.node)}" if passed else f"not done: {printable(args.node)}")
    return 0 if passed else 1


def _run(project: Project, command: str, timeout: int) -> dict[str, Any]:
    from tether.source.redact import redact
    from tether.tools.process import clean_environment, run_program

    ended = run_program(
        ["/bin/sh", "-c", command],
        cwd_fd=project.root.fd,
        cwd=project.path,
        env=clean_environment(os.environ, project.config.security.environment),
        timeout=timeout,
        limit=20_000,
    )
    return {
        "command": command,
        "result": "pass" if ended.exit_code == 0 and not ended.timed_out else "fail",
        "exit_code": ended.exit_code,
        "timed_out": ended.timed_out,
        "output": redact(ended.output).text,
    }

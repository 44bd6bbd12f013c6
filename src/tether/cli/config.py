"""Show, set and describe the configuration."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from tether.cli.output import dump, say, table
from tether.cli.person import require_person
from tether.config.layers import annotation, check, keys, parse_text, schema
from tether.errors import TetherError
from tether.project import Project, open_project, replace_file

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  tether config show --origin
  tether config set governance.preset strict
  tether config set approval.ttl_seconds 600 --local
  tether config schema > tether.schema.json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The sub-commands."""
    parser.add_argument("action", choices=("show", "set", "schema"), help="what to do")
    parser.add_argument("key", nargs="?", help="a setting, such as `governance.preset`")
    parser.add_argument("value", nargs="?", help="its new value")
    parser.add_argument("--origin", action="store_true", help="say which layer each value came from")
    parser.add_argument(
        "--local", action="store_true", help="write to tether.local.toml, which git does not track"
    )


def run(args: argparse.Namespace) -> int:
    """Shows, sets or describes."""
    if args.action == "schema":
        say(json.dumps(schema(), indent=2))
        return 0
    if args.action == "set":
        if args.key is None or args.value is None:
            raise TetherError("BAD_ARGUMENTS", "`tether config set` needs a key and a value")
        who = require_person("config set")
        project = open_project(args.project)
        name = set_value(project, args.key, args.value, who, local=args.local)
        if args.json:
            dump({"ok": True, "key": args.key, "value": _value(project, args.key), "file": name})
        else:
            say(f"{args.key} = {json.dumps(_value(project, args.key))}   ({name})")
        return 0
    project = open_project(args.project)
    chosen = [args.key] if args.key else keys()
    if args.key and args.key not in keys():
        check(args.key, None, "")
    rows = [
        {"key": key, "value": _value(project, key), "origin": project.origin.get(key, "default")}
        for key in chosen
    ]
    if args.json:
        dump({"settings": rows, "ignored": project.ignored, "policy": project.policy})
        return 0
    headers = ("key", "value", "origin") if args.origin else ("key", "value")
    table(headers, [[r["key"], json.dumps(r["value"]), r["origin"]][: len(headers)] for r in rows], empty="")
    for line in project.ignored:
        say(f"ignored: {line}")
    return 0


def set_value(project: Project, key: str, text: str, who: str, *, local: bool = False) -> str:
    """Writes one setting, keeping the file's comments and order, and remembers that a person did."""
    import tomlkit

    value = check(key, parse_text(key, text), "command line")
    name = "tether.local.toml" if local else "tether.toml"
    path = os.path.join(project.path, name)
    trusted = project.trusted
    try:
        with open(path, encoding="utf-8") as file:
            document = tomlkit.parse(file.read())
    except FileNotFoundError:
        document = tomlkit.document()
    section, option = key.split(".", 1)
    if section not in document:
        document[section] = tomlkit.table()
    document[section][option] = list(value) if isinstance(value, tuple) else value
    replace_file(path, tomlkit.dumps(document).encode())
    project.reload()
    if trusted:
        # what a person sets by command is trusted; a file a person had not accepted stays so
        project.trust()
    project.journal.append("configured", {"key": key, "by": who, "file": name, "policy": project.policy})
    if key == "security.write_enabled":
        project.journal.append("enabled", {"on": value, "by": who}, durable=True)
    return name


def _value(project: Project, key: str) -> Any:
    section, option = key.split(".", 1)
    value = getattr(getattr(project.config, section), option)
    if annotation(key).startswith("tuple"):
        return list(value)
    return value

"""Set up a project: configuration, intents, journal. Safe to run twice."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tether.cli.output import confirm, dump, say
from tether.cli.person import require_person
from tether.errors import TetherError
from tether.project import CONFIG_FILES, INTENTS_FILE, LEDGER_FILE, Project, replace_file
from tether.source.git import find_repository

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  tether init                 # asks little
  tether init --yes           # asks nothing; writes stay off until `tether shadow` passes
  tether init --yes --allow-writes"""

IGNORED = (".tether/local/", "tether.local.toml")
ATTRIBUTES = f"{LEDGER_FILE} merge=union"

# marker file → (language, validation commands, quality check)
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "pyproject.toml": ("Python", ("python -m pytest -q",)),
    "setup.py": ("Python", ("python -m pytest -q",)),
    "package.json": ("JavaScript", ("npm test --silent",)),
    "Cargo.toml": ("Rust", ("cargo test --quiet",)),
    "go.mod": ("Go", ("go test ./...",)),
    "pom.xml": ("Java", ("mvn -q test",)),
    "build.gradle": ("Java", ("gradle -q test",)),
    "build.gradle.kts": ("Kotlin", ("gradle -q test",)),
    "Gemfile": ("Ruby", ("bundle exec rake test",)),
    "composer.json": ("PHP", ("composer test",)),
    "mix.exs": ("Elixir", ("mix test",)),
    "CMakeLists.txt": ("C/C++", ()),
    "Makefile": ("", ()),
}

CONFIG = """\
# What agents may do in this project. `tether config schema` describes every setting,
# `tether config show --origin` tells which file each value came from.

[governance]
preset = "{preset}"  # observe | intent | strict

[security]
write_enabled = {writes}  # or let `tether shadow` prove the project's own checks pass

[shadow]
commands = {commands}  # what must pass before agents may write
"""

INTENTS = """\
# What the work is for. Agents must select an active intent before they change anything,
# and may change only the files it owns. People own this file; `tether intent --help` edits it.
active_intents: []
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How much to ask."""
    parser.add_argument("--yes", action="store_true", help="ask nothing, take the defaults")
    parser.add_argument(
        "--allow-writes", action="store_true", help="let agents write without a shadow run first"
    )
    parser.add_argument(
        "--preset", choices=("observe", "intent", "strict"), default="intent", help="how strict to be"
    )


def run(args: argparse.Namespace) -> int:
    """Writes what is missing and changes nothing that is there."""
    who = require_person("init")
    root = os.path.realpath(args.project)
    repository = find_repository(root)
    if (
        repository is not None
        and repository.root != root
        and not args.yes
        and confirm(f"set up the whole repository at {repository.root}?", default=True)
    ):
        root = repository.root
    found = detect(root)
    allow = args.allow_writes or (
        not args.yes and confirm("let agents write before a shadow run has passed?", default=False)
    )
    done = set_up(root, who, preset=args.preset, allow_writes=allow, commands=found["commands"])
    if args.json:
        dump({"ok": True, "project": root, "detected": found, **done})
        return 0
    if found["languages"]:
        say(f"found {', '.join(found['languages'])}" + (", git" if repository else ", no git repository"))
    for name in done["written"]:
        say(f"wrote    {name}")
    for name in done["kept"]:
        say(f"kept     {name}")
    if done["untrusted"]:
        say(
            "this repository brought its own configuration: it may tighten, not loosen, until you run `tether trust`"
        )
    if not done["write_enabled"]:
        say(
            "agents may not write yet: run `tether shadow`, or `tether config set security.write_enabled true`"
        )
    say("next     tether intent new \"…\" --scope 'src/**' --activate    then    tether install claude-code")
    return 0


def detect(root: str) -> dict[str, Any]:
    """Languages and validation commands, by the files that name them."""
    languages: dict[str, None] = {}
    commands: dict[str, None] = {}
    for marker, (language, tests) in KINDS.items():
        if os.path.isfile(os.path.join(root, marker)):
            if language:
                languages[language] = None
            for test in tests:
                commands[test] = None
    brains = [n for n in ("AGENTS.md", "AGENT.md", "CLAUDE.md") if os.path.isfile(os.path.join(root, n))]
    return {"languages": list(languages), "commands": list(commands), "brain": brains}


def set_up(root: str, who: str, *, preset: str, allow_writes: bool, commands: list[str]) -> dict[str, Any]:
    """Makes the state, the configuration and the intents file where they are missing."""
    written, kept = [], []
    brought = any(os.path.lexists(os.path.join(root, name)) for name in CONFIG_FILES)
    for name in (".orchestration", ".gitignore", ".gitattributes"):
        if os.path.islink(os.path.join(root, name)):
            raise TetherError(
                "SECURITY_VIOLATION",
                f"`{name}` is a symbolic link, which may lead out of the project",
                action="Look where it leads, put a plain file or folder in its place, then retry",
            )
    config = CONFIG.format(
        preset=preset, writes="true" if allow_writes else "false", commands=_toml_list(commands)
    )
    for name, text in (("tether.toml", config), (INTENTS_FILE, INTENTS)):
        path = os.path.join(root, name)
        if os.path.lexists(path):
            kept.append(name)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        replace_file(path, text.encode())
        written.append(name)
    for name, lines in ((".gitignore", IGNORED), (".gitattributes", (ATTRIBUTES,))):
        (written if add_lines(os.path.join(root, name), lines) else kept).append(name)
    state = os.path.join(root, ".tether", "local", "journal.db")
    known = os.path.exists(state)
    project = Project(root, create=True)
    try:
        if known:
            project.require_own_journal()
        else:
            project.journal.append("opened", {"by": who, "preset": preset})
            written.append(".tether/local/")
        if not brought:
            project.trust()  # a person asked for this file, so it is theirs
        if allow_writes and not project.write_enabled():
            project.journal.append("enabled", {"on": True, "by": who}, durable=True)
        return {
            "written": written,
            "kept": kept,
            "untrusted": bool(project.ignored),
            "write_enabled": project.write_enabled(),
        }
    finally:
        project.close()


def add_lines(path: str, lines: tuple[str, ...]) -> bool:
    """Appends the lines a text file lacks; whether it changed."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        text = ""
    present = {line.strip() for line in text.splitlines()}
    missing = [line for line in lines if line not in present]
    if not missing:
        return False
    newline = "\r\n" if "\r\n" in text else "\n"
    if text and not text.endswith("\n"):
        text += newline
    replace_file(path, (text + newline.join(missing) + newline).encode("utf-8", "surrogateescape"))
    return True


def _toml_list(values: list[str]) -> str:
    import json

    return "[" + ", ".join(json.dumps(value) for value in values) + "]"

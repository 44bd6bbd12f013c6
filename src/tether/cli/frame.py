"""The command line's frame: one table of commands, each a module imported only when it is asked for.

A command module has a docstring whose first line is its help, `add_arguments(parser)`, `run(args) -> int`,
and optionally `EXAMPLES`, lines shown after its options.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from typing import TYPE_CHECKING

from tether import __version__
from tether.cli.output import printable_lines
from tether.errors import TetherError, to_wire

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

# Exit codes, the same for every command.
OK, FAILED, USAGE, REFUSED, PENDING, INTERRUPTED = 0, 1, 2, 3, 4, 130

GROUPS: dict[str, dict[str, str]] = {
    "Set up": {
        "init": "set up a project: configuration, intents, journal",
        "install": "connect a coding agent's hooks to Tether",
        "uninstall": "disconnect a coding agent",
        "trust": "accept the configuration that came with a repository",
        "config": "show, set and describe the configuration",
        "shadow": "prove a change in a throw-away worktree and turn writes on",
        "status": "what is set up, selected, pending and halted",
        "doctor": "find what is broken and how to mend it",
        "demo": "a governed edit end to end, on a sample repository made on the spot",
    },
    "Govern": {
        "intent": "create, choose, delegate and check intents",
        "plan": "validate, show, explain and accept plans; finish their nodes",
        "approvals": "list what waits for a person",
        "approve": "approve one waiting call",
        "reject": "reject one waiting call",
        "reset": "let a halted agent go on",
        "rollback": "undo what a call did to files",
        "call": "run one verb through the gate, as an agent would",
        "hook": "answer an agent's hook (agents run this, not people)",
        "mcp": "serve an agent over the Model Context Protocol",
    },
    "See": {
        "pack": "pack files into one text that fits a model's context window",
        "zoom": "look closer at a function, class, module or stretch of a file",
        "feedback": "say which files of a pack were useful",
        "search": "search the code by words, names, paths, or a whole bug report",
        "context": "gather context for a question in a token budget",
        "similar": "find code like the code at a line",
        "index": "index the code, keep it fresh, or say how the index stands",
        "models": "the embedding models in use, or try one out",
    },
    "Look back": {
        "why": "who wrote a line, for which intent, by whose leave",
        "trace": "list, show, count and export trace records",
        "journal": "read, follow and verify the journal",
    },
}

MODULES: dict[str, str] = {
    "approvals": "approval",
    "approve": "approval",
    "reject": "approval",
    "uninstall": "install",
}


def commands() -> dict[str, str]:
    """Every command and its one-line help."""
    return {name: text for group in GROUPS.values() for name, text in group.items()}


def load(name: str) -> ModuleType:
    """The module of one command."""
    return importlib.import_module(f"tether.cli.{MODULES.get(name, name)}")


def parser_of(name: str) -> argparse.ArgumentParser:
    """One command's own parser."""
    module = load(name)
    described = getattr(module, "DESCRIPTIONS", {}).get(name) or (module.__doc__ or "").strip()
    examples = getattr(module, "EXAMPLES", "")
    if isinstance(examples, dict):
        examples = examples.get(name, "")
    parser = argparse.ArgumentParser(
        prog=f"tether {name}",
        description=described,
        epilog=f"examples:\n{examples.rstrip()}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=name)
    parser.add_argument(
        "-C", "--project", metavar="DIR", default=".", help="the project's directory (default: where you are)"
    )
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    module.add_arguments(parser)
    return parser


def run(argv: Sequence[str]) -> int:
    """Runs one command line and turns every ending into an exit code."""
    _prepare_streams()
    if not argv or argv[0] in ("-h", "--help", "help"):
        if argv[:1] == ["help"] and len(argv) > 1:
            return run([argv[1], "--help"])
        sys.stdout.write(overview())
        return OK
    if argv[0] in ("-V", "--version"):
        sys.stdout.write(f"tether {__version__}\n")
        return OK
    name = argv[0]
    as_json = "--json" in argv
    try:
        if name not in commands():
            raise _unknown(name)
        args = parser_of(name).parse_args(argv[1:])
        code = load(name).run(args)
        sys.stdout.flush()
        return int(code or OK)
    except TetherError as error:
        return report(error, as_json=as_json)
    except SystemExit as ending:
        if as_json and ending.code:
            # argparse has told a person on stderr; whoever asked for JSON gets it too
            wrong = TetherError("BAD_ARGUMENTS", "the command line was not understood; see `--help`")
            return report(wrong, as_json=True)
        raise
    except BrokenPipeError:
        return _unheard()
    except OSError as error:
        named = f" `{error.filename}`" if error.filename else ""
        failed = TetherError("STORE_CORRUPT", f"the system refused{named}: {error.strerror or error}")
        return report(failed, as_json=as_json)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; what was done is kept\n")
        return INTERRUPTED


def _unheard() -> int:
    """The reader of our output went away: not an error of ours."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def _unknown(name: str) -> TetherError:
    import difflib

    near = difflib.get_close_matches(name, commands(), n=1)
    action = f"Did you mean `tether {near[0]}`?" if near else "See `tether --help`"
    return TetherError("BAD_ARGUMENTS", f"unknown command `{name}`", action=action)


def _prepare_streams() -> None:
    """What a terminal's encoding cannot show is escaped, and a closed stream swallows: neither is an error."""
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:
            setattr(sys, stream, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(getattr(sys, stream), "reconfigure"):
            getattr(sys, stream).reconfigure(errors="backslashreplace")


def report(error: TetherError, *, as_json: bool) -> int:
    """Tells an error on stderr (or as JSON on stdout) and what to do about it."""
    if as_json:
        sys.stdout.write(json.dumps({"ok": False, "error": to_wire(error)}) + "\n")
    else:
        # messages quote files and arguments, which may hold escape sequences
        sys.stderr.write(f"error: {printable_lines(error.message)}\n  → {printable_lines(error.action)}\n")
    return USAGE if error.code in ("BAD_ARGUMENTS", "CONFIG_INVALID", "NOT_A_PROJECT") else FAILED


def overview() -> str:
    """What `tether --help` prints, without importing any command."""
    lines = [
        f"tether {__version__}: what a coding agent sees, what it may do, and the record of what it did",
        "",
        "usage: tether COMMAND [options]      tether COMMAND --help",
    ]
    for title, group in GROUPS.items():
        lines += ["", f"{title}:"]
        lines += [f"  {name:<11} {text}" for name, text in group.items()]
    lines += [
        "",
        "exit codes: 0 done · 1 failed · 2 usage or configuration · 3 refused by policy · 4 waits for a person",
        "start here: tether demo · tether init · tether install claude-code",
        "",
    ]
    return "\n".join(lines)

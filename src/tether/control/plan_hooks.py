"""Whether a verification command can tell anything: one that cannot fail, or cannot pass, verifies nothing. Pure.

The command is parsed as shell syntax and its exit status followed through lists, pipelines and compound
commands. ZERO: always succeeds; NONZERO: always fails; OPEN: depends on what it looks at.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from tether.control.risk import RESERVED, classify
from tether.source.pattern import lazy
from tether.source.shell import parse
from tether.source.shelltree import Compound, Simple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.source.shelltree import Pipeline, Script

ZERO, NONZERO, OPEN = "zero", "nonzero", "open"
_NOTHING = {ZERO: "it cannot fail", NONZERO: "it cannot pass", OPEN: ""}
MAX_NESTING = 8

ALWAYS_ZERO = frozenset(
    "true : echo printf pwd date whoami hostname uname sleep export unset set alias clear env id history".split()
)
# what only passes its input on: at the end of a pipe it hides how the command before it ended
PASSES_ON = frozenset("tee cat head tail sort uniq wc less more nl tr cut column fold rev tac ts".split())
# options with which a tool reports and does not fail
FORGIVING = frozenset(
    "--exit-zero --ignore-errors --passWithNoTests --pass-with-no-tests --if-present --collect-only"
    " --co --dry-run --version --help --no-fail --show-only --listTests --list-tests --soft-fail".split()
)
# tool → sub-commands that only show
SHOWING: dict[str, frozenset[str]] = {
    "git": frozenset("status log show branch diff remote config rev-parse".split()),
    "npm": frozenset("ls list version help".split()),
    "pip": frozenset("list freeze help".split()),
}
WRAPPERS = frozenset("command exec time nice nohup stdbuf builtin eval".split())
PYTHONS = ("python", "python2", "python3", "pypy", "pypy3")


# a program and plain words: nothing in them means anything to a shell, so that there is nothing to parse
_PLAIN = lazy(r"[A-Za-z0-9_./-]+(?: [A-Za-z0-9_./:,@+=-]+)*")
# programs that check and harm nothing, with these options and any plain words
CHECKERS = frozenset("pytest ruff mypy pyright flake8 pylint tsc eslint jest vitest tox nox".split())
MILD = frozenset("-q -v -x -vv -qq -s --strict --quiet --verbose --noEmit check".split())


@lru_cache(maxsize=4096)
def judge(command: str) -> str:
    """Why a command cannot serve as verification; "" when it can."""
    text = command.strip()
    if _PLAIN.fullmatch(text) and text.partition(" ")[0] not in RESERVED:
        return _NOTHING[_simple(list(text.split(" ")), MAX_NESTING, piped=False)]
    script = parse(text)
    if script.broken:
        return f"it is not understood as a shell command: {script.broken}"
    if not script.steps:
        return "it runs nothing"
    found = _script(script, MAX_NESTING)
    if text.startswith("! ") and len(script.steps) == 1:
        found = {ZERO: NONZERO, NONZERO: ZERO}.get(found, OPEN)
    return _NOTHING[found]


@lru_cache(maxsize=4096)
def harm(command: str) -> str:
    """Why a command must not run as verification; "" when it may."""
    if _PLAIN.fullmatch(command):
        name, *words = command.split(" ")
        if name in CHECKERS and all(word in MILD or word[0] != "-" for word in words):
            return ""
    risk = classify(command)
    if risk.governs_tether:
        return f"`tether {risk.governs_tether}` is a person's to run"
    return risk.reasons[0] if risk.level == "DESTRUCTIVE" and risk.reasons else ""


def _script(script: Script, depth: int) -> str:
    """The status a list of commands ends with."""
    if depth <= 0:
        return OPEN
    strict = pipefail = False
    status, op = ZERO, ""
    doubtful = False  # under `set -e` an earlier step may already have ended it
    for step in script.steps:
        words = _words(step.pipeline)
        if words[:1] == ["set"]:
            flags = [w for w in words[1:] if w]
            strict = strict or any(
                w.startswith("-") and not w.startswith("--") and "e" in w[1:] for w in flags
            )
            strict = strict or "errexit" in flags
            pipefail = pipefail or "pipefail" in flags
        own = _pipeline(step.pipeline, depth, pipefail)
        if op == "&&":
            status = own if status == ZERO else NONZERO if NONZERO in (status, own) else OPEN
        elif op == "||":
            status = status if status == ZERO else own if status == NONZERO or own == ZERO else OPEN
        else:
            status = own
        if step.op == "&":
            status = ZERO
        elif step.op not in ("&&", "||") and strict and status != ZERO:
            doubtful = True
        op = step.op
        if words[:1] in (["exit"], ["return"]) and step.op not in ("&&", "||"):
            break
    return OPEN if doubtful and status == ZERO else status


def _pipeline(pipeline: Pipeline, depth: int, pipefail: bool) -> str:
    stages = [_command(command, depth, piped=n > 0) for n, command in enumerate(pipeline.commands)]
    if pipefail and OPEN in stages:
        return OPEN
    return stages[-1]


def _command(command: Simple | Compound, depth: int, *, piped: bool) -> str:
    if isinstance(command, Compound):
        return _compound(command, depth)
    words = [word.static for word in command.words]
    return ZERO if not words else _simple(words, depth, piped=piped)


def _compound(command: Compound, depth: int) -> str:
    bodies = [_script(body, depth - 1) for body in command.bodies]
    kind = command.kind
    if kind in ("function", "coproc"):
        return ZERO
    if kind in ("subshell", "group"):
        return bodies[0] if bodies else OPEN
    if kind == "if":
        # condition, branch, condition, branch, …, else
        branches = bodies[1::2] + (bodies[-1:] if len(bodies) % 2 else [])
        return ZERO if branches and all(body == ZERO for body in branches) else OPEN
    if kind in ("while", "until"):
        return ZERO if all(body == ZERO for body in bodies[1:]) else OPEN
    if kind in ("for", "select", "case"):
        return ZERO if all(body == ZERO for body in bodies) else OPEN
    return OPEN


def _simple(words: list[str | None], depth: int, *, piped: bool) -> str:
    name = (words[0] or "").rpartition("/")[2]
    rest = words[1:]
    if not name:
        return OPEN
    if name == "false":
        return NONZERO
    if name in ("exit", "return"):
        return ZERO if rest == ["0"] else NONZERO if rest and (rest[0] or "").isdigit() else OPEN
    if name == "env" and rest:
        while rest and rest[0] is not None and ("=" in rest[0] or rest[0].startswith("-")):
            rest = rest[1:]
        return _simple(rest, depth - 1, piped=piped) if rest and depth > 0 else ZERO
    if name in ALWAYS_ZERO:
        return ZERO
    if piped and name in PASSES_ON:
        return ZERO
    if name in WRAPPERS or name == "timeout":
        while rest and rest[0] is not None and (rest[0].startswith("-") or rest[0][:1].isdigit()):
            rest = rest[1:]
        return _simple(rest, depth - 1, piped=piped) if rest and depth > 0 else OPEN
    if name in ("sh", "bash", "dash", "zsh", "ksh") and len(rest) >= 2 and (rest[0] or "").endswith("c"):
        inner = parse(rest[1] or "")
        return OPEN if inner.broken or rest[1] is None else _script(inner, depth - 1)
    if name in ("test", "["):
        return _test([w for w in rest if w != "]"])
    if name in PYTHONS and rest[:1] == ["-c"]:
        return _python(rest[1]) if len(rest) > 1 and rest[1] is not None else OPEN
    if any(word in FORGIVING for word in rest):
        return ZERO
    if name == "make" and any(w in ("-n", "-i", "--just-print") for w in rest):
        return ZERO
    if name in SHOWING and rest and rest[0] in SHOWING[name]:
        checks = ("--exit-code", "--quiet", "--check", "--verify", "-q")
        return OPEN if any(w in checks for w in rest) else ZERO
    return OPEN


def _test(words: list[str | None]) -> str:
    """A test of constants has one answer; which one does not matter."""
    if any(w is None for w in words) or any(
        w and len(w) == 2 and w[0] == "-" and w[1].isalpha() for w in words
    ):
        return OPEN
    return ZERO


def _python(code: str) -> str:
    """A snippet that only prints or does nothing cannot fail."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return OPEN
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.Expr, ast.Constant, ast.Pass, ast.Load, ast.keyword)):
            continue
        if isinstance(node, ast.Name) and node.id == "print":
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            continue
        return OPEN
    return ZERO


def _words(pipeline: Pipeline) -> list[str]:
    first = pipeline.commands[0]
    return [word.static or "" for word in first.words] if isinstance(first, Simple) else []

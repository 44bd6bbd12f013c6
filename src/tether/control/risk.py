"""How risky a command line is, by parsing it as a shell would. Pure. HOOK PATH.

SAFE only when every part is known to be safe, DESTRUCTIVE when any part is destructive, otherwise UNKNOWN.
"""

from __future__ import annotations

import re

from tether.control import commands
from tether.control.expansion import (
    ANY,
    NEXT,
    SOME,
    Field,
    Scope,
    evaluate_output,
    expand_text,
    expand_words,
    is_tame,
)
from tether.control.paths import HARMLESS, SECRETS, is_certain, join, judge_write, leads_to_secrets, show
from tether.source.pattern import lazy
from tether.source.shell import parse
from tether.source.shelltree import Compound, Pipeline, Redirect, Script, Simple, Step, Word, scripts_of
from tether.types import Risk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Rule = Mapping[str, object]

MAX_NESTING = 32  # commands inside commands: `sh -c`, `xargs`, `env`, …
MAX_COMMANDS = 2000
MAX_VALUE = 16 * 1024
RESERVED = frozenset("if then elif else fi for while until do done case esac in time !".split())
MAX_STAGES = 16  # of a pipeline whose output is worked out
RANK = {"R": 0, "S": 1, "U": 2, "D": 3}
LEVELS = {"R": "SAFE", "S": "SAFE", "U": "UNKNOWN", "D": "DESTRUCTIVE"}
TRUSTED_FOLDERS = frozenset("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /opt/homebrew/bin".split())
PROJECT_FOLDERS = lazy(r"(?:^|/)(?:node_modules/\.bin|\.?v?env/bin|vendor/bin)$")
# variables whose value is a command that some program runs
RUN_BY_VARIABLE = frozenset(
    "PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH"
    " GIT_SSH_COMMAND GIT_ASKPASS SSH_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND BROWSER LESSOPEN"
    " LESSCLOSE PROMPT_COMMAND RSYNC_RSH CARGO_BUILD_RUSTC_WRAPPER RUSTC_WRAPPER RUSTC CC CXX LD"
    " PS4 SHELL MAKE".split()
)
# variables that decide which code other programs load
CODE_VARIABLES = frozenset(
    "PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH BASH_ENV"
    " ENV PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB"
    " NODE_PATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS MAVEN_OPTS GIT_EXEC_PATH GIT_CONFIG"
    " GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_COUNT GIT_TEMPLATE_DIR GIT_DIR MAKEFLAGS"
    " BASHOPTS SHELLOPTS PYTHONWARNINGS GCONV_PATH PIP_INDEX_URL".split()
)


class Feed:
    """What comes in on standard input: its text when that is known, and where it is from."""

    def __init__(self, text: str | None = None, origin: str = "", tame: bool = False) -> None:
        self.text = text
        self.tame = tame  # names, hashes or numbers: nothing that reads as an option
        self.origin = origin  # "" none | static | file | network | decoded | command


def classify(
    command: str, extra: Sequence[Rule] = (), *, trusted: bool = False, depth: int = MAX_NESTING
) -> Risk:
    """The risk of a command line. `extra` rules tighten; only `trusted` ones may loosen."""
    scan = Scan(tuple(extra), trusted, depth)
    try:
        scan.read_script(command)
    except RecursionError:
        scan.note("U", "risk.shell.deep", "the command is nested too deeply to be understood")
    return scan.conclude()


class Scan:
    """One walk over a command line, gathering what it shows."""

    def __init__(self, extra: tuple[Rule, ...], trusted: bool, depth: int) -> None:
        self.extra = extra
        self.trusted = trusted
        self.depth = depth
        self.notes: list[tuple[str, str, str]] = []
        self.governs = ""
        self.reads: dict[str, None] = {}
        self.writes: dict[str, None] = {}
        self.hosts: dict[str, None] = {}
        self.scope = Scope()
        self.folder = ""
        self.functions: dict[str, Compound] = {}
        self.aliases: dict[str, str] = {}
        self.active: list[str] = []  # functions being walked
        self.budget = MAX_COMMANDS
        self.fields: list[Field] = []  # of the command being judged
        self.pipes: list[Feed] = []  # what its `<(…)` arguments would deliver

    # ── findings ─────────────────────────────────────────────────────────────

    def note(self, level: str, rule: str, reason: str = "") -> None:
        """Record that a part of the command has a level: R, S, U or D."""
        self.notes.append((level, rule, reason))

    def govern(self, what: str) -> None:
        self.governs = self.governs or what
        self.note(
            "U",
            "risk.tether.governs",
            f"`tether {what}` lifts an agent's own limits: only a person may run it",
        )

    def read(self, *paths: str) -> None:
        for path in paths:
            path = join(self.folder, path)
            if re.match(SECRETS, path):
                self.note("U", "risk.path.secret", f"reads credentials, `{show(path)}`")
            if is_certain(path) and path != "-":
                self.reads[path] = None

    def write(self, *paths: str, level: str = "S") -> None:
        """Record files written to, with the level their place gives them, or a worse one."""
        for path in paths:
            path = join(self.folder, path)
            found, rule, reason = judge_write(path)
            if RANK[found] < RANK[level] and found != "R":
                found = level
            self.note(found, rule, reason)
            if is_certain(path) and not re.fullmatch(HARMLESS, path):
                self.writes[path] = None

    def reach(self, *urls: str) -> None:
        for url in urls:
            match = re.match(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^/@\s]*@)?(\[[0-9a-fA-F:]+\]|[\w.-]+)", url)
            if match and ANY not in url and SOME not in match[1]:
                self.hosts[match[1].strip("[]").lower()] = None

    def conclude(self) -> Risk:
        if not self.notes:
            self.note("U", "risk.shell.empty", "there is no command")
        notes = sorted(self.notes, key=lambda note: -RANK[note[0]])
        worst = notes[0][0]
        reasons = dict.fromkeys(reason for level, _, reason in notes if reason and RANK[level] >= 2)
        if not reasons:
            reasons = {"every part is known to be safe": None}
        return Risk(
            level=LEVELS[worst],
            reasons=tuple(reasons),
            rules=tuple(dict.fromkeys(rule for _, rule, _ in notes)),
            read_only=worst == "R",
            governs_tether=self.governs,
            reads=tuple(self.reads),
            writes=tuple(self.writes),
            hosts=tuple(self.hosts),
        )

    # ── the tree ─────────────────────────────────────────────────────────────

    def read_script(self, text: str) -> None:
        """Judge shell source: the command itself, or what it hands to a shell."""
        if ANY in text or SOME in text or NEXT in text:
            self.note("U", "risk.shell.dynamic", "runs shell code that parsing cannot see whole")
        if self.depth <= 0:
            self.note("U", "risk.shell.deep", "the command is nested too deeply to be understood")
            return
        self.depth -= 1
        script = parse(text)
        if script.broken:
            self.note("U", "risk.shell.broken", f"the command is not understood: {script.broken}")
            self.salvage(text)
        elif not script.steps:
            self.note("R", "risk.shell.empty")
        self.walk(script)
        self.depth += 1

    def salvage(self, text: str) -> None:
        """Look for destruction in text that does not parse; nothing here can make it look safer."""
        for piece in re.split(r"[;&|\n`(){}]+", text[:4096])[:64]:
            words = [word.strip("'\"\\$") for word in piece.split()]
            while words and (words[0] in RESERVED or re.match(r"\w+=", words[0])):
                words.pop(0)
            if words:
                self.run([Field(word) for word in words])

    def walk(self, script: Script) -> None:
        for step in script.steps:
            self.walk_pipeline(step.pipeline)

    def walk_pipeline(self, pipeline: Pipeline) -> None:
        if len(pipeline.commands) == 1:
            self.walk_command(pipeline.commands[0], Feed())
            return
        feed = Feed()
        folder = self.folder
        for number, command in enumerate(pipeline.commands):
            before = len(self.notes)
            self.walk_command(command, feed)
            self.folder = folder  # each side of a pipe is its own process
            so_far = _only(*pipeline.commands[: min(number, MAX_STAGES) + 1])
            text = evaluate_output(so_far, self.scope) if number < MAX_STAGES else None
            feed = Feed(text, self.origin_of(command, feed, before, text), is_tame(so_far))

    def origin_of(self, command: Simple | Compound, feed: Feed, before: int, text: str | None) -> str:
        if text is not None and ANY not in text:
            return "static"
        rules = {rule for _, rule, _ in self.notes[before:]}
        if feed.origin in ("network", "decoded"):
            return feed.origin
        if any(rule.startswith("risk.decode") for rule in rules):
            return "decoded"
        name = command.words[0].static if isinstance(command, Simple) and command.words else ""
        if any(rule.startswith("risk.net.") for rule in rules):
            return "network"
        if (name or "").rpartition("/")[2] in commands.DECODERS:
            return "decoded"
        return "command"

    def walk_command(self, command: Simple | Compound, feed: Feed) -> None:
        self.budget -= 1
        if self.budget <= 0:
            if self.budget == 0:
                self.note("U", "risk.shell.long", "the command has too many parts to be understood")
            return
        if isinstance(command, Simple):
            self.walk_simple(command, feed)
        else:
            self.walk_compound(command, feed)

    def walk_compound(self, command: Compound, feed: Feed) -> None:
        for word in command.words:
            self.walk_word(word)
        feed = self.walk_redirects(command.redirects, feed, truncates=False)
        kind = command.kind
        if kind == "function":
            self.functions[command.name] = command
            self.note("S", "risk.shell.function")
            self.call(command, None)
            return
        if kind in ("test", "arithmetic"):
            self.note("R", "risk.shell.test")
            return
        saved = self.scope.values.copy(), self.folder
        if kind in ("for", "select") and command.name:
            self.scope.values[command.name] = self.loop_values(command)
        for number, body in enumerate(command.bodies):
            if kind in ("while", "until") and number == 0:
                self.forget_changed(command)
            if feed.origin and body.steps:
                self.walk_fed(body, feed)
            else:
                self.walk(body)
        if kind in ("subshell", "coproc"):
            self.scope.values, self.folder = saved
        elif kind != "group":
            # what a branch may have set is one of several values afterwards
            for name, values in self.scope.values.items():
                old = saved[0].get(name, values)
                if old != values:
                    merged = None if old is None or values is None else tuple(dict.fromkeys(old + values))
                    self.scope.values[name] = merged if merged is None or len(merged) <= 8 else None
            if self.folder != saved[1]:
                self.folder = ANY

    def walk_fed(self, body: Script, feed: Feed) -> None:
        """The first command of a body reads what was piped into the compound."""
        for step in body.steps:
            first = step.pipeline.commands[0]
            self.walk_command(first, feed)
            if len(step.pipeline.commands) > 1:
                self.walk_pipeline(step.pipeline)

    def loop_values(self, command: Compound) -> tuple[str, ...] | None:
        fields = expand_words(command.words, self.scope)
        if not fields or len(fields) > 8 or not all(f.known or not f.text.startswith(ANY) for f in fields):
            return None
        return tuple(SOME if f.glob and f.text.startswith(("*", "?", "[")) else f.text for f in fields)

    def forget_changed(self, command: Compound) -> None:
        """In a loop, what the body assigns is not known at its start."""
        for body in command.bodies:
            for step in body.steps:
                for inner in step.pipeline.commands:
                    for assignment in inner.assignments if isinstance(inner, Simple) else ():
                        self.scope.values[assignment.name] = None

    def walk_word(self, word: Word) -> None:
        """Whatever substitutions a word holds are commands that run."""
        for part in word.parts:
            before = len(self.notes)
            for script in scripts_of(part):
                saved = self.scope.values.copy(), self.folder
                if script.broken:
                    self.note("U", "risk.shell.broken", f"the command is not understood: {script.broken}")
                self.walk(script)
                self.scope.values, self.folder = saved
            if part.kind == "process" and part.scripts:
                text = evaluate_output(part.scripts[0], self.scope)
                self.pipes.append(Feed(text, self.origin_of(Simple(), Feed(), before, text)))

    def came_from(self) -> str:
        """Where text that parsing could not see may have come from."""
        rules = [rule for _, rule, _ in self.notes]
        if any(rule.startswith("risk.net.") for rule in rules):
            return "network"
        return "decoded" if any(rule.startswith("risk.decode") for rule in rules) else "command"

    # ── simple commands ──────────────────────────────────────────────────────

    def walk_simple(self, command: Simple, feed: Feed) -> None:
        self.pipes = []
        for assignment in command.assignments:
            for word in assignment.values:
                self.walk_word(word)
        for word in command.words:
            self.walk_word(word)
        silent = not command.words
        if command.redirects and not silent:
            output = evaluate_output(_only(Simple((), command.words, ())), self.scope)
            silent = output is not None and not output.strip()
        feed = self.walk_redirects(command.redirects, feed, truncates=silent)
        argvs = self.alternatives(command.words) if command.words else []
        old = {a.name: self.scope.values.get(a.name, ()) for a in command.assignments}
        for assignment in command.assignments:
            self.assign(
                assignment.name, assignment.values, assignment.op, assignment.array, bool(command.words)
            )
        if not command.words:
            if not command.redirects:
                self.note("R", "risk.shell.assign")
            return
        for fields in argvs:
            self.run(fields, feed)
        for name, values in old.items():  # they held for this command alone
            if values == ():
                self.scope.values.pop(name, None)
            else:
                self.scope.values[name] = values

    def alternatives(self, words: tuple[Word, ...]) -> list[list[Field]]:
        """The argument lists the words may become, for variables with several known values."""
        choices: dict[str, tuple[str, ...]] = {}
        for word in words:
            choices.update(self.scope.choices(word))
        results = [self.scope]
        for name, values in choices.items():
            if len(results) * len(values) > 16:
                results = [scope.child(**{name: None}) for scope in results]
            else:
                results = [scope.child(**{name: (value,)}) for scope in results for value in values]
        return [expand_words(words, scope) for scope in results]

    def assign(self, name: str, words: tuple[Word, ...], op: str, array: bool, passing: bool) -> None:
        """`name=value`, alone or before a command."""
        if array:
            value: str | None = NEXT.join([field.text for field in expand_words(words, self.scope)])
        else:
            value = expand_text(words[0], self.scope) if words else ""
        self.judge_variable(name, (value or "").replace(NEXT, " "))
        if value is not None and (ANY in value or len(value) > MAX_VALUE):
            value = None
        if op == "+=" and value is not None:
            old = self.scope.get(name)
            value = (old + value if not array else f"{old}{NEXT}{value}") if old is not None else None
        self.scope.values[name] = None if value is None else (value,)

    def judge_variable(self, name: str, value: str) -> None:
        if name in RUN_BY_VARIABLE and value:
            self.read_script(value)
        elif name.startswith("TETHER_") and name != "TETHER_SESSION":
            self.govern(f"config set (by `{name}`)")
        elif name == "NODE_OPTIONS":
            if re.search(r"-r\b|--require|--import|--loader|--experimental-loader", value) or ANY in value:
                self.note("U", "risk.env.code", f"`{name}` makes other programs load code")
        elif name == "IFS":
            self.note("S", "risk.env.ifs")
        elif name in CODE_VARIABLES or name.startswith(("BASH_FUNC_", "GIT_CONFIG_", "DYLD_")):
            self.note("U", "risk.env.code", f"`{name}` makes other programs load code")

    def walk_redirects(self, redirects: tuple[Redirect, ...], feed: Feed, truncates: bool) -> Feed:
        for redirect in redirects:
            self.walk_word(redirect.target)
            for body in redirect.body:
                self.walk_word(body)
            if redirect.op in ("<<", "<<-"):
                feed = Feed(expand_text(redirect.body[0], self.scope) if redirect.body else None, "static")
                continue
            target = expand_text(redirect.target, self.scope)
            op = redirect.op
            if op == "<<<":
                feed = Feed(target, "static")
            elif op == "<":
                if re.match(r"/dev/(?:tcp|udp)/", target):
                    self.note("U", "risk.net.socket", f"reads from the network through `{show(target)}`")
                    feed = Feed(None, "network")
                else:
                    inner = [s for p in redirect.target.parts if p.kind == "process" for s in p.scripts]
                    text = evaluate_output(inner[0], self.scope) if inner else None
                    if not inner:
                        self.read(target)
                    network = bool(inner) and any(rule.startswith("risk.net.") for _, rule, _ in self.notes)
                    feed = Feed(text, "static" if text is not None else "network" if network else "file")
            elif (
                op == "<&"
                or (op == ">&" and re.fullmatch(r"\d+-?|-", target))
                or any(part.kind == "process" for part in redirect.target.parts)
            ):
                continue
            elif truncates and op in (">", ">|", "&>"):
                if re.fullmatch(HARMLESS, target):
                    self.note("R", "risk.path.null")
                else:
                    self.write(target)
                    self.note("D", "risk.redirect.truncate", f"empties `{show(target)}`")
            else:
                self.write(target)
                if op == "<>":
                    self.read(target)
        return feed

    def call(self, function: Compound, args: list[Field] | None) -> None:
        """Walk a function's body with its arguments."""
        if function.name in self.active:
            self.note(
                "D" if args is None or not args else "U",
                "risk.shell.recursion",
                f"the function `{function.name}` calls itself without an end",
            )
            return
        if len(self.active) >= 8:
            self.note("U", "risk.shell.deep", "the command is nested too deeply to be understood")
            return
        saved = self.scope
        values: dict[str, tuple[str, ...] | None] = {"@": None, "*": None}
        values.update({str(number): None for number in range(1, 10)})
        if args is not None:
            values.update(
                {str(n): (field.text,) for n, field in enumerate(args[:9], 1) if ANY not in field.text}
            )
            if all(field.known for field in args):
                values["@"] = values["*"] = (NEXT.join([field.text for field in args]),)
        self.scope = saved.child(**values)
        self.active.append(function.name)
        self.walk(function.bodies[0])
        self.active.pop()
        self.scope = saved

    # ── one command ──────────────────────────────────────────────────────────

    def run(self, fields: list[Field], feed: Feed | None = None) -> None:
        """Judge one argument list: a command of the line, or one that a wrapper would start."""
        feed = feed or Feed()
        if self.depth <= 0:
            self.note("U", "risk.shell.deep", "the command is nested too deeply to be understood")
            return
        if not fields:
            self.note("U", "risk.shell.dynamic", "cannot tell which program runs")
            return
        self.depth -= 1
        before, outer = len(self.notes), self.fields
        self.fields = fields
        self.dispatch(fields, feed)
        self.fields = outer
        for field in fields[1:]:
            # whatever the command does with it, and however `reads` could be told: nobody reads keys unasked
            if leads_to_secrets(field.text):
                self.note("U", "risk.path.secret", f"names `{show(field.text)}`, where secrets are kept")
        if len(self.notes) == before:
            name = show(fields[0].text)
            self.note("U", "risk.command.unknown", f"`{name}` is not known to be safe")
        self.depth += 1

    def dispatch(self, fields: list[Field], feed: Feed) -> None:
        first = fields[0]
        argv = [field.text for field in fields]
        if first.text in self.functions and first.text not in self.active:
            self.call(self.functions[first.text], fields[1:])
            return
        if first.text in self.functions:
            self.note("D", "risk.shell.recursion", f"the function `{first.text}` calls itself without an end")
            return
        if first.text in self.aliases and not first.quoted:
            text = self.aliases.pop(first.text)
            self.read_script(text + " " + " ".join(argv[1:]))
            self.aliases[first.text] = text
            return
        if not first.known or (first.glob and first.text != "["):
            commands.judge_hidden(self, first, argv)
            return
        folder, _, name = argv[0].rpartition("/")
        if (folder or argv[0].startswith("/")) and folder not in TRUSTED_FOLDERS:
            if PROJECT_FOLDERS.search(folder) or name in ("gradlew", "mvnw"):
                self.note("S", "risk.command.project")
            else:
                self.note("U", "risk.command.path", f"runs `{show(argv[0])}`, whose contents are not known")
        loosened = commands.apply_extra(self, name, argv[1:])
        if loosened:
            return
        commands.judge(self, name, argv[1:], feed)


def _only(*commands: Simple | Compound) -> Script:
    return Script((Step(Pipeline(commands)),))

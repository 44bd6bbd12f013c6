"""What a shell would make of a word, as far as the command line alone can tell. HOOK PATH."""

from __future__ import annotations

import re
from itertools import pairwise

from tether.source.pattern import lazy
from tether.source.shelltree import Compound, Part, Script, Simple, Word
from tether.source.shellwords import unescape_ansi
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# INVARIANT: these two stand for text that is not known; a command that holds them is refused as broken.
ANY = "\ue000"  # anything: no word, many words, an option
SOME = "\ue001"  # text that does not make an option of the word it begins
NEXT = "\ue002"  # between the elements of an array or of `$@`

# variables whose value is a path, a number or a name, whoever set them
TAME = frozenset(
    "HOME PWD OLDPWD TMPDIR TMP TEMP USER LOGNAME HOSTNAME UID EUID PPID RANDOM SECONDS LINENO"
    " SHLVL OSTYPE HOSTTYPE MACHTYPE COLUMNS LINES BASHPID EPOCHSECONDS VIRTUAL_ENV CONDA_PREFIX"
    " GITHUB_WORKSPACE GITHUB_SHA JAVA_HOME GOPATH GOROOT CARGO_HOME XDG_CONFIG_HOME"
    " XDG_CACHE_HOME XDG_DATA_HOME # ? $ ! 0 PIPESTATUS CI".split()
)
# commands whose output is names, hashes or numbers
TAME_OUTPUT = frozenset(
    "pwd date nproc wc basename dirname realpath readlink mktemp id uname hostname whoami seq"
    " which ls find fd sha256sum md5sum stat getconf arch tty du".split()
)
TAME_GIT = frozenset(
    "rev-parse merge-base rev-list describe ls-files branch hash-object symbolic-ref diff".split()
)
BRACES_CAP = 64
_WRAPPING = frozenset("sudo doas env nice nohup timeout time stdbuf setsid builtin exec busybox".split())


@noun
class Field:
    """One argument after expansion. `text` holds ANY and SOME where it is not known."""

    text: str
    glob: bool = False  # holds an unquoted wildcard: the shell chooses among existing names
    quoted: bool = False

    @property
    def known(self) -> bool:
        return ANY not in self.text and SOME not in self.text


class Scope:
    """The variables a script is known to have set. A name maps to the values it may have; None: anything."""

    def __init__(self, values: Mapping[str, tuple[str, ...] | None] | None = None) -> None:
        self.values: dict[str, tuple[str, ...] | None] = dict(values or {})

    def get(self, name: str) -> str | None:
        """The variable's only possible value."""
        values = self.values.get(name)
        return values[0] if values is not None and len(values) == 1 else None

    def choices(self, word: Word) -> dict[str, tuple[str, ...]]:
        """The variables of a word that may have one of several known values."""
        found = {}
        for part in word.parts:
            if part.kind == "variable":
                values = self.values.get(part.text)
                if values is not None and len(values) > 1:
                    found[part.text] = values
        return found

    def child(self, **values: tuple[str, ...] | None) -> Scope:
        return Scope({**self.values, **values})


def expand_words(words: tuple[Word, ...], scope: Scope) -> list[Field]:
    """The arguments a list of words becomes."""
    fields: list[Field] = []
    for word in words:
        parts = word.parts
        if len(parts) == 1 and parts[0].kind == "text":
            text = parts[0].text
            if parts[0].quoted or not _ACTIVE.search(text):
                fields.append(Field(text, False, parts[0].quoted))
                continue
        fields.extend(expand_word(word, scope))
    return fields


_ACTIVE = lazy(r"[*?\[{]")


def expand_word(word: Word, scope: Scope) -> list[Field]:
    """The arguments one word becomes: braces, variables, static substitutions, splitting."""
    fields: list[Field] = []
    alternatives = _expand_braces(word.parts)
    if alternatives is None:
        return [Field(ANY)]
    for parts in alternatives:
        fields.extend(_split(parts, scope))
    return fields


def expand_text(word: Word, scope: Scope) -> str:
    """A word where the shell does not split it: an assignment's value, a here-string."""
    return "".join([_value(part, scope)[0] for part in word.parts]).replace(NEXT, " ")


# ── braces ───────────────────────────────────────────────────────────────────


def _expand_braces(parts: tuple[Part, ...]) -> list[tuple[Part, ...]] | None:
    """`a{b,c}d` as its alternatives; None when there are too many to look at."""
    if not any(part.kind == "text" and not part.quoted and "{" in part.text for part in parts):
        return [parts]
    if sum(part.text.count("{") for part in parts if part.kind == "text") > BRACES_CAP:
        return None
    atoms: list[Part] = []
    for part in parts:
        if part.kind == "text" and not part.quoted:
            atoms.extend(Part("text", char) for char in part.text)
        else:
            atoms.append(part)
    results = _expand_atoms(atoms, 0)
    return None if results is None else [tuple(_join(atoms)) for atoms in results]


def _join(atoms: list[Part]) -> list[Part]:
    joined: list[Part] = []
    for atom in atoms:
        if joined and atom.kind == "text" == joined[-1].kind and not atom.quoted and not joined[-1].quoted:
            joined[-1] = Part("text", joined[-1].text + atom.text)
        else:
            joined.append(atom)
    return joined


def _is(atom: Part, char: str) -> bool:
    return atom.kind == "text" and not atom.quoted and atom.text == char


def _expand_atoms(atoms: list[Part], depth: int) -> list[list[Part]] | None:
    if depth > 8:
        return None
    for start, atom in enumerate(atoms):
        if not _is(atom, "{"):
            continue
        level, commas, end = 0, [start], -1
        for at in range(start, len(atoms)):
            if _is(atoms[at], "{"):
                level += 1
            elif _is(atoms[at], "}"):
                level -= 1
                if not level:
                    end = at
                    break
            elif level == 1 and _is(atoms[at], ","):
                commas.append(at)
        if end < 0:
            continue
        inside = atoms[start + 1 : end]
        choices: list[list[Part]]
        if len(commas) > 1:
            commas.append(end)
            choices = [atoms[a + 1 : b] for a, b in pairwise(commas)]
        else:
            sequence = _expand_sequence(
                "".join([a.text for a in inside]) if all(a.kind == "text" for a in inside) else ""
            )
            if not sequence:
                continue
            choices = [[Part("text", text)] for text in sequence]
        if len(choices) > BRACES_CAP:
            return None
        tails = _expand_atoms(atoms[end + 1 :], depth + 1)
        if tails is None:
            return None
        results: list[list[Part]] = []
        for choice in choices:
            heads = _expand_atoms(choice, depth + 1)
            if heads is None or len(results) + len(heads) * len(tails) > BRACES_CAP:
                return None
            results.extend(atoms[:start] + head + tail for head in heads for tail in tails)
        return results
    return [atoms]


def _expand_sequence(text: str) -> list[str]:
    match = re.fullmatch(r"(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.-?\d+)?|([A-Za-z])\.\.([A-Za-z])", text)
    if not match:
        return []
    if match[3]:
        low, high = sorted((ord(match[3]), ord(match[4])))
        return [chr(code) for code in range(low, high + 1)]
    low, high = sorted((int(match[1]), int(match[2])))
    return [str(value) for value in range(low, min(high, low + BRACES_CAP) + 1)]


# ── values ───────────────────────────────────────────────────────────────────


def _split(parts: tuple[Part, ...], scope: Scope) -> list[Field]:
    """Fields of a brace-free word: unquoted expansions are split at blanks."""
    fields: list[Field] = []
    text, begun, glob, quoted = "", False, False, False
    for part in parts:
        value, splits = _value(part, scope)
        if NEXT in value:
            if part.quoted and (part.text == "@" or "@" in part.op):
                *values, value = value.split(NEXT)
                fields.extend(
                    [Field(text + values[0], False, True), *[Field(v, False, True) for v in values[1:]]]
                )
                text = ""
            value = value.replace(NEXT, " ")
        if part.kind == "text" or not splits:
            text += value
            begun = begun or part.quoted or bool(value)
            quoted = quoted or part.quoted
            glob = glob or (part.kind == "text" and not part.quoted and any(c in "*?[" for c in value))
            continue
        pieces = re.split(_separators(scope), value)
        for number, piece in enumerate(pieces):
            if number and (begun or text):
                fields.append(Field(text, glob, quoted))
                text, begun, glob, quoted = "", False, False, False
            text += piece
            begun = begun or bool(piece)
            glob = glob or any(c in "*?[" for c in piece)
    if begun or text:
        fields.append(Field(text, glob, quoted))
    return fields


def _separators(scope: Scope) -> str:
    """The pattern at which unquoted expansions are split."""
    separators = scope.get("IFS")
    if separators is None:
        return r"[ \t\n]+"
    return "[" + re.escape(separators) + "]+" if separators else r"(?!)"


def _value(part: Part, scope: Scope) -> tuple[str, bool]:
    """A part's text, and whether the shell splits it into words."""
    if part.kind == "text":
        return part.text, False
    if part.kind in ("arithmetic", "process"):
        return SOME, False
    if part.kind == "command":
        output = evaluate_output(part.scripts[0], scope)
        if output is None:
            return (SOME if is_tame(part.scripts[0]) else ANY), not part.quoted
        return output.rstrip("\n"), not part.quoted
    return _variable(part, scope), not part.quoted


def _variable(part: Part, scope: Scope) -> str:
    name, op = part.text, part.op
    if name == "IFS" and not op and "IFS" not in scope.values:
        return " "
    value = scope.get(name)
    if name in ("SHELL", "BASH") and value is None and not op:
        return "sh"
    if value is not None and NEXT in value and name not in ("@", "*") and op not in ("[@]", "[*]"):
        index = re.fullmatch(r"\[(\d{1,4})\]", op)
        elements = value.split(NEXT)
        if op and not index:
            return ANY
        at = int(index[1]) if index else 0
        return elements[at] if at < len(elements) else ""
    if op.startswith(("!", "#")):
        return SOME if op.startswith("#") else (scope.get(value) or ANY) if value and op == "!" else ANY
    operand = expand_text(part.operand, scope) if part.operand is not None else ""
    if op in (":-", "-", ":=", "="):
        if value is not None:
            return value if value or op in ("-", "=") else operand
        if name not in scope.values and name not in TAME and not name.isdigit():
            if op.endswith("="):
                scope.values[name] = None if ANY in operand else (operand,)
            return operand
        return ANY
    if op in (":+", "+"):
        return operand if value else ANY if name not in TAME else operand
    if value is None:
        if op and op not in (":?", "?"):
            return SOME if name in TAME else ANY
        return SOME if name in TAME else ANY
    if not op or op in (":?", "?", "[@]", "[*]", "[0]", "[-1]"):
        return value
    return _transform(value, op, operand)


def _transform(value: str, op: str, operand: str) -> str:
    """`${value<op>operand}` for the operators whose outcome is plain; ANY for the rest."""
    if ANY in value or SOME in value or ANY in operand or SOME in operand:
        return ANY
    if op == ":":
        match = re.fullmatch(r" ?(-?\d+)(?::(-?\d+))?", operand)
        if not match:
            return ANY
        start = int(match[1])
        rest = value[start:]
        return rest if match[2] is None else rest[: int(match[2])]
    if op in ("^^", "^", ",,", ",") and not operand:
        changed = value.upper() if op[0] == "^" else value.lower()
        return changed if len(op) == 2 else changed[:1] + value[1:]
    if op in ("/", "//"):
        old, _, new = operand.partition("/")
        if old and not re.search(r"[*?\[\\]", old):
            return value.replace(old, new, -1 if op == "//" else 1)
    if op in ("#", "##", "%", "%%") and operand and not re.search(r"[*?\[\\]", operand):
        return value.removeprefix(operand) if op[0] == "#" else value.removesuffix(operand)
    return ANY


# ── output ───────────────────────────────────────────────────────────────────


def sole_commands(script: Script) -> tuple[Simple | Compound, ...]:
    """The commands of a script that is one pipeline; nothing otherwise."""
    return script.steps[0].pipeline.commands if len(script.steps) == 1 and not script.broken else ()


def is_tame(script: Script) -> bool:
    """Whether a script's output is names, hashes or numbers rather than words of anyone's choice."""
    commands = sole_commands(script)
    if not commands or not isinstance(commands[0], Simple) or not commands[0].words:
        return False
    names = [w.static for w in commands[0].words if w.static is not None]
    if names[:1] == ["git"]:
        tame = bool(TAME_GIT.intersection(names[1:4]))
    else:
        tame = bool(names) and names[0] in TAME_OUTPUT
    filters = ("head", "tail", "sort", "uniq", "wc", "grep", "sed", "cut", "tr", "awk", "xargs")
    return tame and all(
        isinstance(c, Simple) and c.words and c.words[0].static in filters for c in commands[1:]
    )


def evaluate_output(script: Script, scope: Scope) -> str | None:
    """What a script prints when that can be told without running it: `echo`, `printf` and plain filters."""
    output: str | None = ""
    for step in script.steps:
        if step.op not in ("", ";") or output is None or script.broken:
            return None
        piece: str | None = None
        for number, command in enumerate(step.pipeline.commands):
            if not isinstance(command, Simple) or command.assignments or (number and piece is None):
                return None
            for redirect in command.redirects:
                if redirect.op == "<<<":
                    piece = expand_text(redirect.target, scope) + "\n"
                elif redirect.body:
                    piece = expand_text(redirect.body[0], scope)
                elif redirect.op != ">" or redirect.fd != "2":
                    return None
            argv = [field.text for field in expand_words(command.words, scope)]
            if argv and argv[0] in _WRAPPING:
                from tether.control.commands.wrappers import unwrap

                argv = unwrap(argv)
            piece = evaluate_filter(argv, piece) if argv else None
        output = None if piece is None else output + piece
    return output if script.steps else None


def evaluate_filter(argv: list[str], given: str | None) -> str | None:
    """What a simple text command prints for a given input; None when that takes more than this."""
    name, args = argv[0].rpartition("/")[2], argv[1:]
    if name == "echo":
        escapes = False
        while args and re.fullmatch(r"-[neE]+", args[0]):
            escapes = "e" in args.pop(0) or escapes
        text = " ".join(args)
        return (unescape_ansi(text) if escapes else text) + "\n"
    if name == "printf" and args and not args[0].startswith("-"):
        return _printf(args[0], args[1:])
    if name in (":", "true") or (name == "cat" and args == ["/dev/null"]):
        return ""
    if (name == "which" and len(args) == 1) or (name == "command" and args[:1] == ["-v"] and len(args) == 2):
        return args[-1] + "\n"
    if given is None or ANY in given or SOME in given or any(ANY in a or SOME in a for a in args):
        return None
    try:
        return _FILTERS[name](args, given) if name in _FILTERS else None
    except (ValueError, IndexError, UnicodeDecodeError):
        return None


def _printf(template: str, args: list[str]) -> str | None:
    rest = list(args)
    out = ""
    for _ in range(len(args) + 1):
        out += re.sub(
            r"%(%|-?\d*[sbqcd])",
            lambda m: "%" if m[1] == "%" else _printf_one(m[1][-1], rest.pop(0) if rest else ""),
            unescape_ansi(template),
        )
        if not rest or "%" not in template:
            return out
    return None


def _printf_one(kind: str, value: str) -> str:
    return unescape_ansi(value) if kind == "b" else value[:1] if kind == "c" else value


def _cat(args: list[str], given: str) -> str | None:
    return given if args in ([], ["-"]) else None


def _tee(_args: list[str], given: str) -> str | None:
    return given


def _base64(args: list[str], given: str) -> str | None:
    import binascii

    if any(not a.startswith("-") for a in args) or not any(
        a in ("-d", "--decode", "-D", "-di", "-id") or a.startswith("--d") for a in args
    ):
        return None
    try:
        return binascii.a2b_base64(given).decode()
    except binascii.Error:
        return None


def _openssl(args: list[str], given: str) -> str | None:
    return (
        _base64(["-d"], given)
        if "-d" in args and "-in" not in args and ("base64" in args or "-base64" in args)
        else None
    )


def _xxd(args: list[str], given: str) -> str | None:
    if {"-r", "-rp", "-pr"} & set(args) and all(a.startswith("-") for a in args):
        return bytes.fromhex("".join(given.split())).decode()
    return None


def _rev(args: list[str], given: str) -> str | None:
    return None if args else "".join([line[::-1] + "\n" for line in given.splitlines()])


def _tr(args: list[str], given: str) -> str | None:
    flags = [a for a in args if a.startswith("-") and len(a) > 1]
    sets = [_tr_set(unescape_ansi(a)) for a in args if a not in flags]
    if flags in (["-d"], ["--delete"]) and len(sets) == 1:
        return given.translate({ord(c): None for c in sets[0]})
    if flags or len(sets) != 2 or not sets[1]:
        return None
    return given.translate({ord(c): sets[1][min(i, len(sets[1]) - 1)] for i, c in enumerate(sets[0])})


def _tr_set(text: str) -> str:
    text = text.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z").replace("[:space:]", " \t\n")
    return re.sub(r"(.)-(.)", _tr_range, text)


def _tr_range(match: re.Match[str]) -> str:
    low, high = ord(match[1]), ord(match[2])
    if not 0 <= high - low < 256:
        raise ValueError("a range too wide to look at")
    return "".join(map(chr, range(low, high + 1)))


def _cut(args: list[str], given: str) -> str | None:
    match = re.fullmatch(r"-c ?(\d*)(-?)(\d*)", " ".join(args))
    if not match:
        return None
    first = int(match[1] or 1)
    last = int(match[3]) if match[3] else None if match[2] else first
    return "".join([line[first - 1 : last] + "\n" for line in given.splitlines()])


def _sed(args: list[str], given: str) -> str | None:
    program = args[1] if args[:1] == ["-e"] and len(args) == 2 else args[0] if len(args) == 1 else ""
    match = re.fullmatch(r"s(.)([^\\*.\[\]^$&]*)\1([^\\&]*)\1(g?)", program)
    if not match or not match[2]:
        return None
    return "".join(
        [line.replace(match[2], match[3], -1 if match[4] else 1) for line in given.splitlines(True)]
    )


_FILTERS = {
    "cat": _cat,
    "tee": _tee,
    "base64": _base64,
    "openssl": _openssl,
    "xxd": _xxd,
    "rev": _rev,
    "tr": _tr,
    "cut": _cut,
    "sed": _sed,
}

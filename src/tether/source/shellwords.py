"""Words of a command line: quotes, escapes and everything that `$` and a backtick begin. HOOK PATH."""

from __future__ import annotations

import re

from tether.source.pattern import lazy
from tether.source.shelltree import Part, Script, Step, Word, scripts_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn, Self

MAX_DEPTH = 60  # of nested syntax; each level costs a handful of Python frames
_NAME = lazy(r"[A-Za-z_]\w*|\d|[@*#?$!_-]")
_PARAMETER = lazy(r"([!#]?)([A-Za-z_]\w*|\d+|[@*#?$!_-])(\[(?:[^\]$`'\"]*)\])?")
PLAIN = lazy(r"[^\s'\"$`\\|&;<>()]+")
_PLAIN_QUOTED = lazy(r"[^\"$`\\]+")
_PLAIN_OPERAND = lazy(r"[^'\"$`\\}]+")
_PLAIN_HEREDOC = lazy(r"[^$`\\]+")
_BACKSLASHES = {
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_ANSI = lazy(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.S)
_OPERATOR = lazy(r":[-=?+]|##?|%%?|//?[#%]?|\^\^?|,,?|@[A-Za-z]|[-=?+:]|\[")
_ANSI_QUOTED = lazy(r"\$'((?:[^'\\]|\\.)*)'", re.S)


class BrokenError(Exception):
    """The text is not a command line that this parser understands."""


def unescape_ansi(text: str) -> str:
    """The text of `$'…'`, its backslash escapes resolved."""
    return _ANSI.sub(_unescape_one, text)


def _unescape_one(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xuU" and len(code) > 1:
        value = int(code[1:], 16)
        return chr(value) if value < 0x110000 and not 0xD800 <= value < 0xE000 else "\ufffd"
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "c" and len(code) == 2:
        return chr(ord(code[1].upper()) & 0x1F)
    if code in _BACKSLASHES:
        return _BACKSLASHES[code]
    return code if code in "\\'\"?" else "\\" + code


class Words:
    """A place in the text, and the reading of words from it. The grammar of commands builds on it."""

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.pending: list[tuple[str, bool, bool, list[Word]]] = []
        self.top: list[Step] = []

    def fail(self, why: str) -> NoReturn:
        raise BrokenError(why)

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def read_script(self, closer: str = "", *, empty: bool = False) -> Script:
        """A nested list of commands up to and including `closer`: for the grammar to read."""
        self.fail(f"commands are not expected before `{closer}`")

    def parse_all(self) -> Script:
        """The whole text as a list of commands: for the grammar to read."""
        self.fail("commands are not expected here")

    def nest(self, text: str) -> Self:
        """A parser of the same kind for text inside this one."""
        if self.depth >= MAX_DEPTH:
            self.fail("the command is nested too deeply")
        return type(self)(text, self.depth + 1)

    def read_word(self) -> Word | None:
        """The word at this place, or None where something else is."""
        parts: list[Part] = []
        while self.at < len(self.text):
            match = PLAIN.match(self.text, self.at)
            if match:
                parts.append(Part("text", match[0]))
                self.at = match.end()
                # an extended glob: `@(a|b)`
                if match[0][-1] in "@?*+!" and self.peek() == "(":
                    parts.append(Part("text", self.read_balanced()))
                continue
            char = self.text[self.at]
            if char == "'":
                end = self.text.find("'", self.at + 1)
                if end < 0:
                    self.fail("a quote is not closed")
                parts.append(Part("text", self.text[self.at + 1 : end], True))
                self.at = end + 1
            elif char == '"':
                self.at += 1
                parts.append(Part("text", "", True))
                parts.extend(self.read_parts(_PLAIN_QUOTED, '"', True))
            elif char == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                if following != "\n":
                    parts.append(Part("text", following or "\\", True))
                self.at += 2
            elif char == "$":
                parts.extend(self.read_dollar(False))
            elif char == "`":
                parts.append(self.read_backtick(False))
            elif char in "<>" and self.text.startswith("(", self.at + 1):
                self.at += 2
                parts.append(Part("process", char, True, scripts=(self.read_script(")", empty=True),)))
            else:
                break
        return Word(tuple(parts)) if parts else None

    def read_document(self) -> Word:
        """The whole text as the body of a here-document whose delimiter was not quoted."""
        return Word(tuple(self.read_parts(_PLAIN_HEREDOC, "", True)))

    def read_balanced(self) -> str:
        """An extended glob's `(…)`, as text."""
        start, level = self.at, 0
        while self.at < len(self.text):
            char = self.text[self.at]
            level += (char == "(") - (char == ")")
            if char in "'\"$`\\\n":
                break
            self.at += 1
            if not level:
                return self.text[start : self.at]
        return self.fail("an extended glob is not closed, or holds a quote or an expansion")

    def read_parts(self, plain: re.Pattern[str], closer: str, quoted: bool) -> list[Part]:
        """Text with expansions up to and including `closer` (or the end, where there is none)."""
        parts: list[Part] = []
        while True:
            match = plain.match(self.text, self.at)
            if match:
                parts.append(Part("text", match[0], quoted))
                self.at = match.end()
                continue
            char = self.peek()
            if char == closer:
                self.at += len(closer)
                return parts
            if not char:
                self.fail(f"`{closer}` is missing")
            if char == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                self.at += 2
                if following == "\n":
                    continue
                keep = quoted and following not in '$`"\\}'
                parts.append(Part("text", "\\" + following if keep else following, True))
            elif char == "$":
                parts.extend(self.read_dollar(quoted))
            elif char == "`":
                parts.append(self.read_backtick(quoted))
            elif char == '"':  # inside `${…}` or a here-document
                self.at += 1
                if closer == "}":
                    parts.extend(self.read_parts(_PLAIN_QUOTED, '"', True))
                else:
                    parts.append(Part("text", '"', True))
            elif char == "'" and not quoted:
                end = self.text.find("'", self.at + 1)
                if end < 0:
                    self.fail("a quote is not closed")
                parts.append(Part("text", self.text[self.at + 1 : end], True))
                self.at = end + 1
            else:
                parts.append(Part("text", char, quoted))
                self.at += 1

    def read_backtick(self, quoted: bool) -> Part:
        start = self.at = self.at + 1
        while True:
            char = self.peek()
            if not char:
                self.fail("a backtick is not closed")
            if char == "`":
                break
            self.at += 2 if char == "\\" else 1
        inner = re.sub(r"\\([\\$`" + ('"' if quoted else "") + "])", r"\1", self.text[start : self.at])
        self.at += 1
        script = self.nest(inner).parse_all()
        if script.broken:
            self.fail(script.broken)
        return Part("command", inner, quoted, scripts=(script,))

    def read_dollar(self, quoted: bool) -> list[Part]:
        text = self.text
        following = text[self.at + 1 : self.at + 2]
        if following == "(":
            arithmetic = self.try_arithmetic("$((") if text.startswith("$((", self.at) else None
            if arithmetic is not None:
                return [arithmetic]
            start = self.at = self.at + 2
            script = self.read_script(")", empty=True)
            return [Part("command", text[start : self.at - 1], quoted, scripts=(script,))]
        if following == "{":
            self.at += 2
            return [self.read_parameter(quoted)]
        if following == "[":
            arithmetic = self.try_arithmetic("$[")
            if arithmetic is None:
                self.fail("`]` is missing")
            return [arithmetic]
        if following == "'" and not quoted:
            match = _ANSI_QUOTED.match(text, self.at)
            if not match:
                self.fail("a quote is not closed")
            self.at = match.end()
            value = unescape_ansi(match[1])
            if "\0" in value:
                value = value[: value.index("\0")]
            return [Part("text", value, True)]
        if following == '"' and not quoted:
            self.at += 2
            return [Part("text", "", True), *self.read_parts(_PLAIN_QUOTED, '"', True)]
        match = _NAME.match(text, self.at + 1)
        if match:
            self.at = match.end()
            return [Part("variable", match[0], quoted)]
        self.at += 1
        return [Part("text", "$", quoted)]

    def read_parameter(self, quoted: bool) -> Part:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail("the command is nested too deeply")
        match = _PARAMETER.match(self.text, self.at)
        if not match:
            self.fail("`${` has no name")
        prefix, name, subscript = match[1], match[2], match[3] or ""
        self.at = match.end()
        operator = re.compile(r":[-=?+]|##?|%%?|//?[#%]?|\^\^?|,,?|@[A-Za-z]|[-=?+:]|\[").match(
            self.text, self.at
        )
        op = prefix + subscript
        operand = None
        if operator and self.peek() != "}":
            op += operator[0]
            self.at = operator.end()
        operand_parts = self.read_parts(_PLAIN_OPERAND, "}", quoted)
        if operand_parts or op:
            operand = Word(tuple(operand_parts))
        self.depth -= 1
        return Part("variable", name, quoted, op, operand)

    def try_arithmetic(self, opener: str) -> Part | None:
        """`((…))`, `$((…))` or `$[…]`; None, with nothing consumed, where it is something else."""
        start = self.at
        self.at += len(opener)
        closer = "]" if opener == "$[" else ")"
        level = 0
        scripts: list[Script] = []
        while True:
            char = self.peek()
            if not char or (char in "\n;" and opener == "$(("):
                break
            if char == closer and not level:
                width = 1 if closer == "]" else 2
                if self.text.startswith(closer * width, self.at):
                    source = self.text[start + len(opener) : self.at]
                    self.at += width
                    return Part("arithmetic", source, True, scripts=tuple(scripts))
                break
            if char == "$" and self.text[self.at + 1 : self.at + 2] in ("(", "{"):
                self.depth += 1
                try:
                    for part in self.read_dollar(True):
                        scripts.extend(scripts_of(part))
                except BrokenError:
                    break
                finally:
                    self.depth -= 1
                continue
            if char == "`":
                scripts.extend(self.read_backtick(True).scripts)
                continue
            if closer == ")":
                level += (char == "(") - (char == ")")
            self.at += 1
        self.at = start
        return None

"""A command line as a tree: a parser of bash syntax that never guesses. HOOK PATH.

What it cannot parse is marked broken, with the part understood so far, so that nobody takes it for harmless.
"""

from __future__ import annotations

import re

from tether.source.pattern import lazy
from tether.source.shelltree import Assignment, Compound, Part, Pipeline, Redirect, Script, Simple, Step, Word
from tether.source.shellwords import MAX_DEPTH, PLAIN, BrokenError, Words

MAX_LENGTH = 64 * 1024
_BLANK = lazy(r"(?:[ \t]|\\\n)*(?:#[^\n]*)?")
_BLANK_IN_WORD = lazy(r"(?:[ \t]|\\\n)*")
_REDIRECT = lazy(r"(\d+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<>|<&|<|&>>|&>|>>|>&|>\||>)")
_RESERVED = lazy(r"(!|\{|\}|\[\[|[a-z]+)(?=[ \t\n;&|()<>]|\\\n|$)")
_FUNCTION = lazy(r"([^\s'\"$`|&;<>()\\{}]+)[ \t]*\([ \t]*\)")
_ASSIGN = lazy(r"([A-Za-z_]\w*)(\+?=)")
_SUBSCRIPT = lazy(r"([A-Za-z_]\w*)\[([^\]\s'\"$`|&;<>()]*)\](\+?=)")
_STOPPERS = frozenset(("then", "do", "done", "fi", "elif", "else", "esac", "}"))
_SIMPLE = lazy(r"[A-Za-z0-9_./=:@%+,-]+(?: [A-Za-z0-9_./=:@%+,-]+)*")
_READERS = {
    "if": "if",
    "while": "loop",
    "until": "loop",
    "for": "for",
    "select": "for",
    "case": "case",
    "function": "function",
    "coproc": "coproc",
}
_BRACKETS = lazy(r"[ \t]*\([ \t]*\)")
_IDENTIFIER = lazy(r"[A-Za-z_]\w*")
_COPROC_NAME = lazy(r"([A-Za-z_]\w*)[ \t]+(?=[{(]|while|for|if|case|until|select)")


def parse(text: str) -> Script:
    """The tree of a command line; broken, never an exception, when it is not understood."""
    if len(text) > MAX_LENGTH:
        return Script((), f"the command is longer than {MAX_LENGTH} characters")
    if "\0" in text:
        return Script((), "the command holds a NUL")
    plain = split_plain(text)
    if plain is not None:
        words = tuple([Word((Part("text", word),)) for word in plain])
        return Script((Step(Pipeline((Simple((), words, ()),))),))
    return _Parser(text, 0).parse_all()


def split_plain(text: str) -> list[str] | None:
    """The words of a command that has no syntax at all, or None: most commands never need the parser."""
    if _SIMPLE.fullmatch(text) is None:
        return None
    words = text.split(" ")
    first = words[0]
    if "=" in first or first in _WORDS_OF_SYNTAX:
        return None
    return words


_WORDS_OF_SYNTAX = frozenset(
    "if then elif else fi for while until do done case esac in select function time coproc".split()
)


class _Parser(Words):
    """Recursive descent over the characters: a shell's lexer depends on its grammar."""

    # ── lists ────────────────────────────────────────────────────────────────

    def parse_all(self) -> Script:
        try:
            self.read_steps("", self.top)
            if self.at < len(self.text):
                self.fail(f"`{self.text[self.at]}` is not expected here")
            if self.pending:
                self.fail("a here-document has no body")
            return Script(tuple(self.top))
        except BrokenError as broken:
            return Script(tuple(self.top), str(broken))
        except RecursionError:
            return Script(tuple(self.top), "the command is nested too deeply")

    def read_script(self, closer: str = "", *, empty: bool = False) -> Script:
        """A nested list, up to and including `closer`; without one, up to a reserved word that ends it."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail("the command is nested too deeply")
        steps: list[Step] = []
        self.read_steps(closer, steps)
        if not steps and not empty:
            self.fail("a list of commands is empty")
        if closer:
            self.expect(closer)
        self.depth -= 1
        return Script(tuple(steps))

    def read_steps(self, closer: str, steps: list[Step]) -> None:
        while True:
            self.skip_newlines()
            char = self.peek()
            if not char or char == ")" or self.text.startswith(";;", self.at) or self.at_stopper(closer):
                return
            if self.text.startswith(";&", self.at):
                return
            pipeline = self.read_pipeline()
            self.skip_blank()
            op = ""
            for candidate in ("&&", "||", "&", ";", "\n"):
                if self.text.startswith(candidate, self.at):
                    if candidate == ";" and self.text.startswith((";;", ";&"), self.at):
                        break
                    op = ";" if candidate == "\n" else candidate
                    if candidate != "\n":
                        self.at += len(candidate)
                    break
            steps.append(Step(pipeline, op))
            if not op:
                return
            if op in ("&&", "||"):
                self.skip_newlines()
                if not self.peek():
                    self.fail(f"nothing follows `{op}`")

    def at_stopper(self, closer: str) -> bool:
        match = _RESERVED.match(self.text, self.at)
        return match is not None and match[1] in _STOPPERS and (match[1] != "}" or closer == "}")

    def expect(self, token: str) -> None:
        self.skip_blank()
        if not self.text.startswith(token, self.at):
            self.fail(f"`{token}` is missing")
        self.at += len(token)

    def skip_blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        if match:
            self.at = match.end()

    def skip_newlines(self) -> None:
        while True:
            self.skip_blank()
            if self.peek() != "\n":
                return
            self.at += 1
            if self.pending:
                self.read_heredocs()

    def reserved(self) -> str:
        match = _RESERVED.match(self.text, self.at)
        return match[1] if match else ""

    # ── commands ─────────────────────────────────────────────────────────────

    def read_pipeline(self) -> Pipeline:
        commands = []
        while True:
            self.skip_blank()
            word = self.reserved()
            while word in ("!", "time"):
                self.at += len(word)
                self.skip_blank()
                if word == "time" and re.compile(r"-p(?=\s)").match(self.text, self.at):
                    self.at += 2
                    self.skip_blank()
                word = self.reserved()
            commands.append(self.read_command())
            self.skip_blank()
            if self.text.startswith("||", self.at) or self.peek() != "|":
                return Pipeline(tuple(commands))
            self.at += 2 if self.text.startswith("|&", self.at) else 1
            self.skip_newlines()
            if not self.peek():
                self.fail("nothing follows `|`")

    def read_command(self) -> Simple | Compound:
        word = self.reserved()
        if self.peek() == "(":
            arithmetic = self.try_arithmetic("((") if self.text.startswith("((", self.at) else None
            if arithmetic is not None:
                return self.finish(Compound("arithmetic", "", (Word((arithmetic,)),)))
            self.at += 1
            return self.finish(Compound("subshell", bodies=(self.read_script(")"),)))
        if word == "{":
            self.at += 1
            return self.finish(Compound("group", bodies=(self.read_script("}"),)))
        if word == "[[":
            return self.finish(self.read_test())
        if word in ("if", "while", "until", "for", "select", "case", "function", "coproc"):
            self.at += len(word)
            return getattr(self, f"read_{_READERS[word]}")(word)  # type: ignore[no-any-return]
        if word in _STOPPERS:
            self.fail(f"`{word}` is not expected here")
        match = _FUNCTION.match(self.text, self.at)
        if match and "=" not in match[1]:
            self.at = match.end()
            return self.read_body(match[1])
        return self.read_simple()

    def finish(self, compound: Compound) -> Compound:
        """The compound with the redirects that follow it."""
        redirects: list[Redirect] = []
        while True:
            self.skip_blank()
            redirect = self.read_redirect()
            if redirect is None:
                break
            redirects.append(redirect)
        if not redirects:
            return compound
        return Compound(compound.kind, compound.name, compound.words, compound.bodies, tuple(redirects))

    def read_body(self, name: str) -> Compound:
        self.skip_newlines()
        command = self.read_command()
        if isinstance(command, Simple):
            self.fail("a function needs a compound command as its body")
        return Compound("function", name, (), (Script((Step(Pipeline((command,))),)),))

    def read_function(self, _word: str) -> Compound:
        self.skip_blank()
        match = PLAIN.match(self.text, self.at)
        if not match:
            self.fail("a function has no name")
        self.at = match.end()
        brackets = _BRACKETS.match(self.text, self.at)
        if brackets:
            self.at = brackets.end()
        return self.read_body(match[0])

    def read_coproc(self, _word: str) -> Compound:
        self.skip_blank()
        name = _COPROC_NAME.match(self.text, self.at)
        if name:
            self.at = name.end()
        command = self.read_command()
        return Compound("coproc", name[1] if name else "", (), (Script((Step(Pipeline((command,))),)),))

    def keyword(self, *names: str) -> str:
        self.skip_newlines()
        word = self.reserved()
        if word not in names:
            self.fail(f"`{names[0]}` is missing")
        self.at += len(word)
        return word

    def read_if(self, _word: str) -> Compound:
        bodies = [self.read_script()]
        self.keyword("then")
        bodies.append(self.read_script())
        while True:
            word = self.keyword("fi", "else", "elif")
            if word == "fi":
                return self.finish(Compound("if", bodies=tuple(bodies)))
            bodies.append(self.read_script())
            if word == "elif":
                self.keyword("then")
                bodies.append(self.read_script())

    def read_loop(self, word: str) -> Compound:
        condition = self.read_script()
        self.keyword("do")
        body = self.read_script()
        self.keyword("done")
        return self.finish(Compound(word, bodies=(condition, body)))

    def read_for(self, word: str) -> Compound:
        self.skip_blank()
        words: list[Word] = []
        name = ""
        if self.text.startswith("((", self.at):
            arithmetic = self.try_arithmetic("((")
            if arithmetic is None:
                self.fail("`))` is missing")
            words.append(Word((arithmetic,)))
        else:
            match = _IDENTIFIER.match(self.text, self.at)
            if not match:
                self.fail(f"`{word}` needs a variable")
            name, self.at = match[0], match.end()
            self.skip_newlines()
            if self.reserved() == "in":
                self.at += 2
                words = self.read_words()
            else:
                words = [Word((Part("variable", "@", True),))]
        self.skip_blank()
        if self.peek() == ";":
            self.at += 1
        self.skip_newlines()
        if self.reserved() == "{":
            self.at += 1
            body = self.read_script("}")
        else:
            self.keyword("do")
            body = self.read_script()
            self.keyword("done")
        return self.finish(Compound(word, name, tuple(words), (body,)))

    def read_case(self, _word: str) -> Compound:
        self.skip_blank()
        subject = self.read_word()
        if subject is None:
            self.fail("`case` needs a word")
        self.keyword("in")
        bodies: list[Script] = []
        words = [subject]
        while True:
            self.skip_newlines()
            if self.reserved() == "esac":
                self.at += 4
                return self.finish(Compound("case", "", tuple(words), tuple(bodies)))
            if self.peek() == "(":
                self.at += 1
            while True:
                self.skip_blank()
                pattern = self.read_word()
                if pattern is None:
                    self.fail("a `case` pattern is missing")
                words.append(pattern)
                self.skip_blank()
                if self.peek() != "|":
                    break
                self.at += 1
            self.expect(")")
            bodies.append(self.read_script(empty=True))
            self.skip_newlines()
            for end in (";;&", ";;", ";&"):
                if self.text.startswith(end, self.at):
                    self.at += len(end)
                    break
            else:
                if self.reserved() != "esac":
                    self.fail("`esac` is missing")

    def read_test(self) -> Compound:
        """`[[ … ]]`: operators are of no interest, expansions are."""
        self.at += 2
        words: list[Word] = []
        while True:
            self.skip_newlines()
            if self.reserved_close():
                self.at += 2
                return Compound("test", "", tuple(words))
            char = self.peek()
            if not char:
                self.fail("`]]` is missing")
            if char in "()|&<>;":
                self.at += 1
                continue
            word = self.read_word()
            if word is None:
                self.fail("`]]` is missing")
            words.append(word)

    def reserved_close(self) -> bool:
        return self.text.startswith("]]", self.at) and not PLAIN.match(self.text, self.at + 2)

    def read_words(self) -> list[Word]:
        words: list[Word] = []
        while True:
            self.skip_blank()
            word = self.read_word()
            if word is None:
                return words
            words.append(word)

    def read_simple(self) -> Simple:
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        while True:
            self.skip_blank()
            redirect = self.read_redirect()
            if redirect is not None:
                redirects.append(redirect)
                continue
            match = _ASSIGN.match(self.text, self.at) or _SUBSCRIPT.match(self.text, self.at)
            if match and not words:
                self.at = match.end()
                assignments.append(self.read_assignment(match[1], match[match.lastindex or 0]))
                continue
            word = self.read_word()
            if word is None:
                break
            if match and self.peek() == "(" and self.text[self.at - 1] == "=":
                # `declare x=(…)`: the list's words are expanded, hence run what they hold
                words.extend(self.read_assignment(match[1], "=").values)
            words.append(word)
        if not (assignments or words or redirects):
            self.fail(f"`{self.peek() or 'the end'}` is not expected here")
        return Simple(tuple(assignments), tuple(words), tuple(redirects))

    def read_assignment(self, name: str, op: str) -> Assignment:
        if self.peek() == "(":
            self.at += 1
            values: list[Word] = []
            while True:
                self.skip_newlines()
                if self.peek() == ")":
                    self.at += 1
                    return Assignment(name, tuple(values), op, array=True)
                word = self.read_word()
                if word is None:
                    self.fail("`)` is missing")
                values.append(word)
        return Assignment(name, (self.read_word() or Word(),), op)

    def read_redirect(self) -> Redirect | None:
        match = _REDIRECT.match(self.text, self.at)
        if not match:
            return None
        fd, op = match[1] or "", match[2]
        if op in "<>" and self.text.startswith("(", match.end()) and not fd:
            return None
        self.at = match.end()
        blank = _BLANK_IN_WORD.match(self.text, self.at)
        if blank:
            self.at = blank.end()
        start = self.at
        target = self.read_word()
        if target is None:
            self.fail(f"`{op}` has no target")
        body: list[Word] = []
        if op in ("<<", "<<-"):
            quoted = any(char in self.text[start : self.at] for char in "'\"\\")
            self.pending.append((target.static or self.text[start : self.at], quoted, op == "<<-", body))
        return Redirect(op, target, fd, body)

    def read_heredocs(self) -> None:
        pending, self.pending = self.pending, []
        for delimiter, quoted, dedent, body in pending:
            lines = []
            while True:
                if self.at >= len(self.text):
                    self.fail(f"the here-document `{delimiter}` does not end")
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                if dedent:
                    line = line.lstrip("\t")
                if line == delimiter:
                    # the newline stays: it ends the line after the here-document too
                    self.at = end
                    break
                lines.append(line + "\n")
                self.at = end + 1
            text = "".join(lines)
            if quoted:
                body.append(Word((Part("text", text, True),)))
            else:
                body.append(self.nest(text).read_document())
            if self.pending:
                self.fail("a here-document inside a here-document")
            if pending[-1][3] is not body:
                self.at += 1

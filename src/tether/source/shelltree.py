"""What a parsed command line is made of. HOOK PATH."""

from __future__ import annotations

from tether.types import noun


@noun
class Part:
    """A piece of a word.

    kind: text | variable | command | process | arithmetic. `text` is the literal text (quotes removed), the
    variable's name, or the arithmetic's source; `op` and `operand` belong to `${name<op><operand>}`;
    `scripts` are the commands that run when the piece is expanded.
    """

    kind: str
    text: str = ""
    quoted: bool = False
    op: str = ""
    operand: Word | None = None
    scripts: tuple[Script, ...] = ()


@noun
class Word:
    """One word as written, before expansion."""

    parts: tuple[Part, ...] = ()

    @property
    def static(self) -> str | None:
        """The word's text when no expansion can change it (globs and braces aside), else None."""
        if all(part.kind == "text" for part in self.parts):
            return "".join(part.text for part in self.parts)
        return None


@noun
class Assignment:
    """`name=value`, `name+=value`, `name[i]=value` or `name=(values)`."""

    name: str
    values: tuple[Word, ...]
    op: str = "="
    array: bool = False


@noun
class Redirect:
    """`fd op target`. A here-document's text is in `body` (a list, filled when its lines are reached)."""

    op: str
    target: Word
    fd: str = ""
    body: list[Word] = []  # noqa: RUF012 — always given


@noun
class Simple:
    """Assignments, words and redirects: what a shell calls a simple command."""

    assignments: tuple[Assignment, ...] = ()
    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()


@noun
class Compound:
    """A command made of commands.

    kind: subshell | group | for | while | until | if | case | select | function | test | arithmetic | coproc.
    `words` are what is iterated over, switched on or tested; `bodies` every list of commands inside.
    """

    kind: str
    name: str = ""
    words: tuple[Word, ...] = ()
    bodies: tuple[Script, ...] = ()
    redirects: tuple[Redirect, ...] = ()


@noun
class Pipeline:
    """Commands joined by `|`. `time` and `!` are left out: they change nothing about what runs."""

    commands: tuple[Simple | Compound, ...]


@noun
class Step:
    """One pipeline of a list, and the operator after it: `;`, `&`, `&&`, `||` or nothing."""

    pipeline: Pipeline
    op: str = ""


@noun
class Script:
    """A list of pipelines. `broken` says why the text is not wholly understood; empty when it is."""

    steps: tuple[Step, ...] = ()
    broken: str = ""


def scripts_of(part: Part) -> tuple[Script, ...]:
    """Every command that expanding a part of a word runs."""
    if part.operand is None:
        return part.scripts
    return part.scripts + tuple(script for inner in part.operand.parts for script in scripts_of(inner))

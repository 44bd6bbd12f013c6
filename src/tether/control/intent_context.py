"""`<intent_context>`: what an agent is told when it selects an intent, well-formed, budgeted. HOOK PATH.

When it does not fit, the oldest changes go first; then siblings, references, criteria and scope are cut,
each with a note. Constraints are shortened last, and always with their number and where to read them.
A parent's constraints hold for its children too, so they are listed with the id they come from.
"""

from __future__ import annotations

from tether.control.intents import is_id
from tether.source.pattern import lazy
from tether.types import fields, noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tether.types import Intent

MIN_TOKENS = 750  # below this even the frame and its notes would not fit
CHARS_PER_TOKEN = 4
MAX_RECENT = 50
LONGEST = 1_000  # characters of one text, before anything else is shortened

# What XML 1.0 cannot hold, not even escaped.
_ILLEGAL = lazy("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;", "\r": "&#13;"}
)
_IN_ATTRIBUTE = str.maketrans({"\n": "&#10;", "\t": "&#9;"})


@noun
class Touch:
    """One recent change made under the intent, as the record has it."""

    record: str
    at: str
    path: str
    change: str = ""  # the mutation class
    author: str = ""
    lines: str = ""


def escape(text: str) -> str:
    """The text as XML character data; what XML cannot hold is spelled out."""
    return _ILLEGAL.sub(lambda found: found[0].encode("unicode_escape").decode(), text).translate(_ESCAPES)


def render(
    intent: Intent,
    parent: Intent | None,
    recent: Sequence[Touch],
    siblings: Sequence[Intent],
    budget_tokens: int = 2000,
    *,
    above: Sequence[Intent] = (),
) -> str:
    """The context of one intent; `recent` is newest first, `above` the ancestors beyond the parent."""
    most = max(budget_tokens, MIN_TOKENS) * CHARS_PER_TOKEN
    lineage = ([parent] if parent is not None else []) + [other for other in above if other is not parent]
    page = _Page(intent, lineage, recent, siblings)
    for section in ("recent", "siblings", "related", "criteria", "scope"):
        if len(page.text()) <= most:
            break
        page.shorten(section, most)
    while len(page.text()) > most and page.longest > 60:
        page.longest //= 2
    if len(page.text()) > most:
        page.shorten("constraints", most)
    return page.text()


class _Page:
    """The parts of a context, how many of each are shown, and how long a text may be."""

    def __init__(
        self, intent: Intent, lineage: Sequence[Intent], recent: Sequence[Touch], siblings: Sequence[Intent]
    ) -> None:
        self.intent = intent
        self.lineage = lineage
        self.recent = recent
        self.siblings = siblings
        self.constraints = [(text, "") for text in intent.constraints]
        self.constraints += [(text, other.id) for other in lineage for text in other.constraints]
        self.longest = LONGEST
        self.shown = {
            "recent": min(len(recent), MAX_RECENT),
            "siblings": len(siblings),
            "related": len(intent.related),
            "criteria": len(intent.acceptance_criteria),
            "scope": len(intent.owned_scope),
            "constraints": len(self.constraints),
        }

    def shorten(self, section: str, most: int) -> None:
        """Show as many of the section as fit, which may be none."""
        low, high = 0, self.shown[section]
        while low < high:
            self.shown[section] = (low + high + 1) // 2
            if len(self.text()) <= most:
                low = self.shown[section]
            else:
                high = self.shown[section] - 1
        self.shown[section] = low

    def text(self) -> str:
        """The page as it stands."""
        intent, shown = self.intent, self.shown
        # A note must not grow with what it is about.
        name = intent.id if is_id(intent.id) else "ID"
        see = f"`tether intent show {name}`"
        about = self._attributes(id=intent.id, status=intent.status, owner=intent.owner)
        lines = ["<intent_context>", f"<intent{about}>{self._clip(intent.name)}</intent>"]
        lines += self._section(
            "scope",
            "globs",
            (f"<glob>{self._clip(glob)}</glob>" for glob in intent.owned_scope[: shown["scope"]]),
            len(intent.owned_scope) - shown["scope"],
            f"read the whole scope with {see}",
            rule="gitignore-style; the last glob that matches decides, ! takes away",
        )
        lines += self._section(
            "constraints",
            "constraints",
            (
                f"<constraint{self._attributes(source=source)}>{self._clip(text)}</constraint>"
                for text, source in self.constraints[: shown["constraints"]]
            ),
            len(self.constraints) - shown["constraints"],
            f"they hold all the same: read them with {see} before any change",
        )
        criteria = intent.acceptance_criteria
        lines += self._section(
            "acceptance_criteria",
            "criteria",
            (
                f"<criterion{self._attributes(command=c.command)}>{self._clip(c.text)}</criterion>"
                for c in criteria[: shown["criteria"]]
            ),
            len(criteria) - shown["criteria"],
            f"read them with {see}",
        )
        lines += self._section(
            "related",
            "references",
            (f"<reference>{self._clip(text)}</reference>" for text in intent.related[: shown["related"]]),
            len(intent.related) - shown["related"],
            f"read them with {see}",
        )
        for other in self.lineage[:1]:
            attributes = self._attributes(id=other.id, status=other.status)
            lines.append(f"<parent{attributes}>{self._clip(other.name)}</parent>")
        lines += self._section(
            "siblings",
            "siblings",
            (
                f"<sibling{self._attributes(id=kin.id, owner=kin.owner, scope=' '.join(kin.owned_scope))}/>"
                for kin in self.siblings[: shown["siblings"]]
            ),
            len(self.siblings) - shown["siblings"],
            "see `tether intent list`",
            rule="others write here: leave these paths to them",
        )
        lines += self._section(
            "recent_trace",
            "older changes",
            (
                f"<change{self._attributes(**dict(fields(touch)))}/>"
                for touch in self.recent[: shown["recent"]]
            ),
            len(self.recent) - shown["recent"],
            f"see `tether trace list --intent {name}`",
        )
        lines.append(f"<next>{escape(self._next())}</next>")
        return "\n".join([*lines, "</intent_context>"])

    def _next(self) -> str:
        intent = self.intent
        if intent.status != "active":
            status = self._short(intent.status, self.longest)
            return f"This intent is {status}: nothing can be changed under it. Select an active one."
        checks = " Then run its commands with `tether intent check`." if intent.acceptance_criteria else ""
        return (
            "Read before you write, change only paths inside the scope, keep every constraint, "
            f"and stop when the acceptance criteria hold.{checks}"
        )

    def _section(
        self, name: str, what: str, rows: Iterable[str], hidden: int, then: str, **attributes: str
    ) -> list[str]:
        body = [f"  {row}" for row in rows]
        if hidden:
            body.append(f'  <cut count="{hidden}">{escape(f"{hidden} {what} not shown; {then}")}</cut>')
        return [f"<{name}{self._attributes(**attributes)}>", *body, f"</{name}>"] if body else []

    def _attributes(self, **values: str) -> str:
        return "".join(
            f' {name}="{self._clip(value).translate(_IN_ATTRIBUTE)}"'
            for name, value in values.items()
            if value
        )

    def _clip(self, text: str) -> str:
        return escape(self._short(text, self.longest))

    def _short(self, text: str, most: int) -> str:
        if len(text) <= most:
            return text
        return f"{text[:most]}… [{len(text) - most} characters cut]"

"""The nouns, frozen. Importing this module must stay cheap: a hook pays for it on every tool call."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeVar, dataclass_transform

    T = TypeVar("T")

    @dataclass_transform(frozen_default=True)
    def noun(cls: type[T]) -> type[T]: ...

else:

    def noun(cls):
        """A frozen value class with keyword or positional fields, without the cost of `dataclasses`."""
        names = tuple(cls.__annotations__)
        required = frozenset(n for n in names if n not in cls.__dict__)
        known = frozenset(names)

        def __init__(self, *args, **given):  # noqa: N807
            values = self.__dict__
            if args:
                if len(args) > len(names):
                    raise TypeError(f"{cls.__name__} takes at most {len(names)} values")
                values.update(zip(names, args, strict=False))
            if given:
                if not known.issuperset(given):
                    raise TypeError(f"{cls.__name__} has no field {sorted(set(given) - known)}")
                values.update(given)
            if not values.keys() >= required:
                raise TypeError(f"{cls.__name__} needs {sorted(required - values.keys())}")

        def __setattr__(self, name, value):  # noqa: N807
            raise AttributeError(f"{cls.__name__} is frozen")

        def __eq__(self, other):  # noqa: N807
            return type(other) is cls and all(getattr(self, n) == getattr(other, n) for n in names)

        def __hash__(self):  # noqa: N807
            return hash(tuple(getattr(self, n) for n in names))

        def __repr__(self):  # noqa: N807
            return f"{cls.__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in names)})"

        cls.__fields__ = names
        for method in (__init__, __setattr__, __eq__, __hash__, __repr__):
            setattr(cls, method.__name__, method)
        return cls


def fields(value: Any) -> Iterator[tuple[str, Any]]:
    """A noun's fields and values, in order."""
    for name in type(value).__fields__:
        yield name, getattr(value, name)


def replace(value: T, **changes: Any) -> T:
    """The same noun with some fields changed."""
    return type(value)(**{**dict(fields(value)), **changes})


def plain(value: Any) -> Any:
    """A noun, or a structure of nouns, as JSON-ready data."""
    if hasattr(type(value), "__fields__"):
        return {name: plain(item) for name, item in fields(value)}
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    return value


# ── who and what ─────────────────────────────────────────────────────────────


@noun
class Agent:
    """Who calls. `session` is the agent's own conversation: intents are selected per session."""

    session: str
    kind: str = "agent"  # agent | human | system
    name: str = ""
    model: str = ""  # models.dev style, e.g. `anthropic/claude-opus-4-5`
    conversation: str = ""  # a URL at which the conversation can be looked up


@noun
class Call:
    """One request of one agent, the same shape at every door."""

    id: str
    verb: str
    args: dict[str, Any]
    agent: Agent
    work: str = ""  # 003's workId
    door: str = "cli"  # cli | hook:claude-code | mcp | …


@noun
class Effect:
    """What a call would do, as data, before anything is touched.

    kind: read | write | delete | run | reach | external. A move is a delete and a write.
    `before` is the hash the caller believes the file has: None = does not say, "" = believes it absent.
    `after` is the hash the file will have; None where it cannot be known.
    """

    kind: str
    target: str  # a path as given, a command line, or a host
    before: str | None = None
    after: str | None = None
    anchored: bool = False  # an edit that names the text it replaces: the file need not have been read
    command: bool = False  # a target named by a command, not by the call itself
    risk: Risk | None = None  # of a `run`
    cwd: str = ""  # of a `run`


@noun
class Risk:
    """What parsing a command line showed. `writes` are paths it certainly names as targets."""

    level: str  # SAFE | UNKNOWN | DESTRUCTIVE
    reasons: tuple[str, ...] = ()  # plain sentences, worst first
    rules: tuple[str, ...] = ()  # ids of the rules that matched, worst first
    read_only: bool = False  # proven to change nothing: counts as a read
    governs_tether: str = ""  # the `tether …` sub-command an agent may not use, if any
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()


@noun
class Prepared:
    """A parsed call: what it would do, and how to do it once it may be done."""

    effects: tuple[Effect, ...]
    run: Callable[..., Any]


@noun
class Verb:
    """One thing an agent can ask for. `prepare(root, args)` parses and foresees; nothing is touched by it."""

    name: str
    prepare: Callable[..., Prepared]
    mutating: bool
    summary: str
    schema: dict[str, Any]  # JSON Schema of the arguments


# ── what decides ─────────────────────────────────────────────────────────────


@noun
class Intent:
    """One business intent of `.orchestration/active_intents.yaml`."""

    id: str
    name: str
    status: str = "draft"  # draft | active | paused | done | abandoned
    owned_scope: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    acceptance_criteria: tuple[Criterion, ...] = ()
    owner: str = ""
    related: tuple[str, ...] = ()  # specs and issues
    parent: str = ""
    created: str = ""
    updated: str = ""


@noun
class Criterion:
    """One acceptance criterion: a sentence, and the command that proves it if there is one."""

    text: str
    command: str = ""


@noun
class Spot:
    """Where a path given by a caller really leads, looked up by descriptor under the root."""

    given: str
    path: str = ""  # root-relative, symlinks resolved, "/"-separated; "" when `problem`
    problem: str = ""  # outside | nul | loop | not_regular | bad_name | ambiguous_name | symlink | …
    detail: str = ""
    kind: str = "absent"  # file | dir | absent | other
    hash: str = ""  # sha256 hex of the bytes; "" when absent
    links: int = 1


@noun
class Approval:
    """A person's answer, or its absence, to one exact call."""

    id: str
    call_hash: str
    state: str  # pending | approved | rejected | consumed | expired
    expires: float
    session: str = ""
    reason: str = ""
    by: str = ""


@noun
class Decision:
    """allow | ask | deny, and everything needed to explain it later."""

    verdict: str
    code: str = ""
    message: str = ""
    recoverable: bool = True
    required_action: str = ""
    suggested_action: str = ""
    rules: tuple[str, ...] = ()
    policy: str = ""  # revision of the policy that decided
    intent: str = ""
    approval: str = ""  # the approval this decision consumes
    plan_node: str = ""  # the open plan node that covers the call, as work/node


# ── what happened ────────────────────────────────────────────────────────────


@noun
class Outcome:
    """A settled call. A refusal is an outcome too: `ok` is False and `error` follows the error contract."""

    ok: bool
    value: Any = None
    error: dict[str, Any] | None = None
    decision: Decision | None = None
    records: tuple[str, ...] = ()  # trace record ids
    findings: tuple[
        dict[str, Any], ...
    ] = ()  # what formatter, linter and tests said: check, file, line, message
    notes: tuple[str, ...] = ()


@noun
class Pending:
    """A call that waits for a person. Retrying the same call after approval goes on."""

    approval_id: str
    call_hash: str
    expires: float
    decision: Decision


@noun
class Head:
    """A position in the journal."""

    seq: int
    hash: str


@noun
class Entry:
    """One line of the journal."""

    seq: int
    at: str
    kind: str
    run: str
    call: str
    body: dict[str, Any]
    prev: str
    hash: str


@noun
class Change:
    """One file's passage from one content to another, as the journal keeps it."""

    path: str
    before: str  # sha256 hex; "" = absent
    after: str  # sha256 hex; "" = deleted
    moved_from: str = ""  # the path it had before, for a move
    author: str = "ai"  # ai | human | mixed | unknown
    record: str = ""  # id of the trace record that carries it
    seq: int = 0  # journal entry that carries it
    at: str = ""  # RFC 3339, UTC

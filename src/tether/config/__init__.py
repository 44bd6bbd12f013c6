"""One frozen Config, read once, layered. This module is on the hook path; reading files is in `layers`."""

from __future__ import annotations

from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, TypeVar

    T = TypeVar("T")


class Option:
    """What is known of one setting beside its type and default."""

    __slots__ = ("choices", "code", "default", "doc", "order")

    def __init__(self, default: Any, doc: str, choices: tuple[str, ...], order: str, code: bool) -> None:
        self.default = default
        self.doc = doc
        self.choices = choices
        self.order = order
        self.code = code


if TYPE_CHECKING:
    from typing import dataclass_transform

    def option(
        *, default: T, doc: str, choices: tuple[str, ...] = (), order: str = "", code: bool = False
    ) -> T: ...

    @dataclass_transform(frozen_default=True, field_specifiers=(option,))
    def section(cls: type[T]) -> type[T]: ...

else:

    def option(*, default, doc, choices=(), order="", code=False):
        """One setting. `order` says what loosens security: `true`, a `larger` number, a `longer` list, an
        earlier one of the `choices`; lists of order `union` only ever add up."""
        return Option(default, doc, choices, order, code)

    def section(cls):
        """A noun whose fields are settings."""
        cls.__options__ = {n: cls.__dict__[n] for n in cls.__annotations__}
        for name, described in cls.__options__.items():
            setattr(cls, name, described.default)
        return noun(cls)


@section
class Governance:
    """How strictly calls are judged."""

    preset: str = option(
        default="intent",
        doc="`observe` blocks only what is always protected and records the rest; `intent` adds intent, "
        "scope, risk, approval and lock; `strict` also demands a validated plan.",
        choices=("observe", "intent", "strict"),
        order="choices",
    )
    loop_limit: int = option(
        default=5,
        doc="The same refusal this many times halts the agent until a person resets it.",
        order="larger",
    )


@section
class Security:
    """What no intent can grant."""

    write_enabled: bool = option(
        default=False,
        doc="Whether agents may change files at all. `tether shadow` turns it on once the project's own "
        "validation passes; a person may set it.",
        order="true",
    )
    symlinks: str = option(
        default="inside",
        doc="`inside` follows links that stay inside the project; `never` refuses every link.",
        choices=("inside", "never"),
        order="choices",
    )
    protected: tuple[str, ...] = option(
        default=(),
        doc="Further globs no agent may change, beside those always protected. The layers' lists add up.",
        order="union",
    )
    mcp_tools: tuple[str, ...] = option(
        default=("tether/**",),
        doc="MCP tools an agent may call without asking, as `server/tool` globs. Tether's own server judges "
        "its calls itself.",
        order="longer",
    )
    environment: tuple[str, ...] = option(
        default=(), doc="Further environment variables a command may inherit.", order="longer"
    )


@section
class Approval:
    """How a person is asked."""

    ttl_seconds: int = option(
        default=3600, doc="How long an unanswered or unused approval lives.", order="larger"
    )
    unknown: str = option(
        default="ask",
        doc="What to do with commands that parsing can neither prove safe nor destructive.",
        choices=("allow", "ask", "deny"),
        order="choices",
    )
    deletes: str = option(
        default="allow",
        doc="What to do with the deletion of a file inside the scope; its bytes are kept either way.",
        choices=("allow", "ask", "deny"),
        order="choices",
    )


@section
class RiskRules:
    """Rules for commands, beside the built-in ones."""

    rules: tuple[dict[str, Any], ...] = option(
        default=(),
        doc='Tables `{id, match, level, reason}`; `match` is an argv pattern such as `"git push *"`. '
        "Rules from an untrusted repository can only make a command riskier.",
    )


@section
class Quality:
    """What runs after a write, by glob."""

    checks: tuple[dict[str, Any], ...] = option(
        default=(),
        doc="Tables `{glob, format, lint, test, timeout}`: commands run after a matching file is written; "
        "`{path}` stands for the file.",
        code=True,
    )


@section
class Shadow:
    """How a change is proved before writes are allowed."""

    commands: tuple[str, ...] = option(
        default=(), doc="The project's validation commands, run in a throw-away worktree.", code=True
    )
    timeout_seconds: int = option(default=900, doc="The time each validation command may take.")


@section
class Commands:
    """How `run_command` runs."""

    timeout_seconds: int = option(
        default=120, doc="The time a command may take unless its call says otherwise."
    )
    max_timeout_seconds: int = option(default=1800, doc="The most a call may ask for.", order="larger")
    output_bytes: int = option(default=65536, doc="The output kept of one command, head and tail.")


@section
class Record:
    """What is kept."""

    brain: str = option(
        default="",
        doc="The shared-brain file; empty chooses AGENTS.md, AGENT.md or CLAUDE.md, whichever exists.",
    )
    update_brain: bool = option(default=True, doc="Keep the marked section of the shared brain up to date.")
    update_intent_map: bool = option(default=True, doc="Keep `.orchestration/intent_map.md` up to date.")
    context_tokens: int = option(default=2000, doc="The most tokens `<intent_context>` may take.")


@section
class PackRules:
    """How packs look at the project, beside the built-in lenses."""

    lenses: tuple[dict[str, Any], ...] = option(
        default=(),
        doc="Tables `{name, description, mode, limit, sort_by, sort_order, include, exclude, groups, "
        "fallback}`; `groups` holds `{pattern, priority, mode, limit}`. A lens named like a built-in one "
        "replaces it.",
    )


@section
class Index:
    """What of the project is indexed."""

    exclude: tuple[str, ...] = option(
        default=(), doc="Further globs to leave out, beside what git ignores and the usual build folders."
    )


@section
class Retrieval:
    """How code is searched."""

    semantic: str = option(
        default="off",
        doc="`on` searches by meaning too, beside words, names and paths; `off` loads no model at all.",
        choices=("off", "on"),
    )
    ranking: str = option(
        default="default",
        doc="`default` weighs words, names, paths and meaning; `seed` is cosine times freshness times language "
        "alone.",
        choices=("default", "seed"),
    )


@section
class Embedding:
    """Which model turns code into vectors."""

    model: str = option(
        default="", doc="A folder with an ONNX model and its tokenizer; empty is the built-in one.", code=True
    )
    cloud_enabled: bool = option(
        default=False, doc="Whether code may be sent to an embeddings service at all.", order="true"
    )
    cloud_url: str = option(
        default="https://api.openai.com/v1", doc="The service, if it speaks OpenAI's wire.", code=True
    )
    cloud_model: str = option(default="text-embedding-3-small", doc="The service's model.", code=True)
    cloud_dimension: int = option(default=1536, doc="The numbers in each of its vectors.", code=True)
    cloud_key: str = option(
        default="OPENAI_API_KEY", doc="The environment variable that holds the service's key.", code=True
    )


@noun
class Config:
    """Every setting, resolved."""

    governance: Governance = Governance()
    security: Security = Security()
    approval: Approval = Approval()
    risk: RiskRules = RiskRules()
    quality: Quality = Quality()
    shadow: Shadow = Shadow()
    commands: Commands = Commands()
    record: Record = Record()
    pack: PackRules = PackRules()
    index: Index = Index()
    retrieval: Retrieval = Retrieval()
    embedding: Embedding = Embedding()


SECTIONS: Final[dict[str, type]] = {
    "governance": Governance,
    "security": Security,
    "approval": Approval,
    "risk": RiskRules,
    "quality": Quality,
    "shadow": Shadow,
    "commands": Commands,
    "record": Record,
    "pack": PackRules,
    "index": Index,
    "retrieval": Retrieval,
    "embedding": Embedding,
}


def from_plain(values: dict[str, dict[str, Any]]) -> Config:
    """A Config from checked plain data, as `types.plain` made it."""
    built = {}
    for name, cls in SECTIONS.items():
        given = values.get(name, {})
        built[name] = cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})
    return Config(**built)

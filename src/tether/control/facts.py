"""What a decision is made of: everything known at one moment, handed in as data."""

from __future__ import annotations

from tether.types import Approval, Intent, Spot, noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tether.control.plan_cover import OpenNode


@noun
class Facts:
    """Folded from the journal, the configuration, the intents file and one look at the disk."""

    now: float = 0.0
    policy: str = ""
    preset: str = "intent"
    write_enabled: bool = False
    loop_limit: int = 5
    unknown_commands: str = "ask"  # allow | ask | deny
    deletes: str = "allow"  # allow | ask | deny
    protected: tuple[str, ...] = ()  # beside those always protected
    intents: tuple[Intent, ...] = ()
    intents_problem: str = ""  # why the intents file cannot be used
    selected: str = ""  # the intent this session selected
    halted: str = ""  # why this session is halted
    spots: dict[str, Spot] = {}  # noqa: RUF012  by path as given
    seen: dict[str, str] = {}  # noqa: RUF012  real path → hash this session last saw
    held: dict[str, str] = {}  # noqa: RUF012  real path → session of another call still open on it
    approval: Approval | None = None  # the last one asked for exactly this call
    root: str = ""  # the project's real path, for commands that say where they run
    plan_nodes: tuple[
        OpenNode, ...
    ] = ()  # of accepted plans, those whose turn it is; looked up under `strict`


def from_plain(data: dict[str, Any]) -> Facts:
    """Facts from plain data, as policy cases state them."""
    from tether.control.intents import from_plain as intents_from_plain

    built = dict(data)
    if "intents" in built:
        built["intents"] = intents_from_plain(built["intents"])
    if "spots" in built:
        built["spots"] = {given: Spot(given=given, **spot) for given, spot in built["spots"].items()}
    if built.get("approval"):
        built["approval"] = Approval(**built["approval"])
    if "protected" in built:
        built["protected"] = tuple(built["protected"])
    if "plan_nodes" in built:
        from tether.control.plan_cover import OpenNode

        lists = ("files", "deletes", "checks")
        nodes = [{**node, **{k: tuple(node.get(k, ())) for k in lists}} for node in built["plan_nodes"]]
        built["plan_nodes"] = tuple(OpenNode(**node) for node in nodes)
    return Facts(**built)

"""What each journal entry means for later decisions: a disposable fold, kept beside the entries.

Scopes of facts:
  session:<id>   intent (selected id), halted (reason), model, told (intent whose context was given)
  refused:<id>   <signature> → how often the same refusal came in a row
  seen:<id>      <path> → hash the session last saw
  approval       <approval id> → the approval
  asked          <session> <call hash> → the approval id asked last
  open           <call id> → a call decided and not yet settled
  path:<tree>    <path> → {hash, record}: the content Tether last knew
  project        write_enabled, …
  record         <trace record id> → the entry that carries it
  quality        <check signature> → failures in a row
  plan:<tree>    <work> → the accepted plan in force: its id, nodes, and which of them are done
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from tether.types import Entry

    Get = Callable[[str, str], Any]
    Row = tuple[str, str, Any]


def project(entry: Entry, get: Get) -> Iterator[Row]:
    """The facts an entry sets; a value of None removes, key `*` the whole scope."""
    fold = _FOLDS.get(entry.kind)
    if fold:
        yield from fold(entry, entry.body, get)


def _selected(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    yield f"session:{entry.run}", "intent", body["intent"] or None


def _decided(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    verdict = body["verdict"]
    if approval := body.get("consumes"):
        held = get("approval", approval)
        yield "approval", approval, {**held, "state": "consumed"}
    if verdict == "deny" and body.get("signature"):
        scope = f"refused:{entry.run}"
        yield scope, body["signature"], (get(scope, body["signature"]) or 0) + 1
    if verdict == "allow" and body.get("mutating"):
        yield f"refused:{entry.run}", "*", None
        yield (
            "open",
            entry.call,
            {
                "seq": entry.seq,
                "session": entry.run,
                "tree": body.get("tree", ""),
                "paths": body.get("paths", []),
                "writes": body.get("writes", []),
                "tool_use": body.get("tool_use", ""),
                "expires": body.get("expires", 0),
                "life": body.get("life", ""),
            },
        )


def _settled(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    yield "open", entry.call, None
    yield from _changes(entry, body)
    if body.get("saw", True):
        for change in body.get("changes", ()):
            # what the agent wrote is what it is taken to have seen; a mixed result it has not
            if change.get("author") == "ai":
                yield f"seen:{entry.run}", change["path"], change["after"] or None


def _observed(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    yield from _changes(entry, body)


def _changes(entry: Entry, body: dict[str, Any]) -> Iterator[Row]:
    scope = f"path:{body.get('tree', '')}"
    for identity in {change["record"] for change in body.get("changes", ())}:
        yield "record", identity, entry.seq
    for change in body.get("changes", ()):
        if change.get("moved_from"):
            yield scope, change["moved_from"], {"hash": "", "record": change.get("record", "")}
        yield scope, change["path"], {"hash": change["after"], "record": change.get("record", "")}


def _read(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    for path, digest in body["saw"].items():
        yield f"seen:{entry.run}", path, digest


def _asked(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    approval = body["approval"]
    yield "approval", approval["id"], approval
    # INVARIANT: what a person allowed one session no other can use up
    yield "asked", f"{approval['session']} {approval['call_hash']}", approval["id"]


def _answered(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    held = get("approval", body["approval"])
    if held:
        yield (
            "approval",
            body["approval"],
            {
                **held,
                "state": body["state"],
                "by": body.get("by", ""),
                "reason": body.get("reason", ""),
                "expires": body.get("expires", held["expires"]),
            },
        )


def _session(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    yield f"session:{entry.run}", "model", body["model"]


def _told(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    yield f"session:{entry.run}", "told", body["intent"]


def _halted(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    yield f"session:{entry.run}", "halted", body["reason"]


def _reset(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    yield f"session:{entry.run}", "halted", None
    yield f"refused:{entry.run}", "*", None


def _enabled(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    yield "project", "write_enabled", {"on": body["on"], "by": body["by"], "seq": entry.seq}


def _checked(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    for signature, passed in body["results"].items():
        held = get("quality", signature) or {"failures": 0}
        yield "quality", signature, {"failures": 0 if passed else held["failures"] + 1}


def _planned(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    # a plan takes the place of the one its work had; one without nodes only takes it away
    held = {"plan": body["plan"], "nodes": body["nodes"], "done": []}
    yield f"plan:{body['tree']}", body["work"], held if body["nodes"] else None


def _node_done(entry: Entry, body: dict[str, Any], get: Get) -> Iterator[Row]:
    scope = f"plan:{body['tree']}"
    held = get(scope, body["work"])
    if held is None or held["plan"] != body["plan"] or body["node"] in held["done"]:
        return
    done = [*held["done"], body["node"]]
    left = any(node["id"] not in done for node in held["nodes"])
    yield scope, body["work"], {**held, "done": done} if left else None


_FOLDS: dict[str, Callable[[Entry, dict[str, Any], Get], Iterator[Row]]] = {
    "selected": _selected,
    "decided": _decided,
    "settled": _settled,
    "observed": _observed,
    "read": _read,
    "asked": _asked,
    "answered": _answered,
    "session": _session,
    "told": _told,
    "halted": _halted,
    "reset": _reset,
    "enabled": _enabled,
    "checked": _checked,
    "planned": _planned,
    "node_done": _node_done,
}

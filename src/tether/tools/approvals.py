"""A person's answer to a call that waits, written down: the one way every door gives it."""

from __future__ import annotations

from tether.errors import TetherError
from tether.record.digest import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tether.project import Project


def answer(project: Project, approval_id: str, state: str, who: str, reason: str) -> dict[str, Any]:
    """Writes a person's answer down; only a pending approval can be answered."""
    with project.journal.turn(durable=True) as turn:
        held: dict[str, Any] | None = turn.fact("approval", approval_id)
        if held is None:
            raise TetherError("NOT_FOUND", f"no approval `{approval_id}`", action="See `tether approvals`")
        if held["state"] != "pending":
            raise TetherError("APPROVAL_EXPIRED", f"approval `{approval_id}` is already {held['state']}")
        if turn.now >= held["expires"]:
            raise TetherError("APPROVAL_EXPIRED", f"approval `{approval_id}` has expired")
        said = {"state": state, "by": who, "reason": clean(reason)}
        turn.append("answered", {"approval": approval_id, **said}, run=held["session"])
        return {**held, **said}

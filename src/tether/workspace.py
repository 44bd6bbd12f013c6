"""Wires one project directory together, by hand, in one readable place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tether.control.risk import classify
from tether.pack import verbs as packs
from tether.project import Project, open_project
from tether.tools import files, intents, listing, patches, shell
from tether.types import replace

if TYPE_CHECKING:
    from tether.source.root import Root
    from tether.tools.work import Work
    from tether.types import Prepared, Verb


# every verb there is, for whoever only wants to list them
VERBS: dict[str, Verb] = {
    **intents.VERBS,
    **files.VERBS,
    **listing.VERBS,
    **patches.VERBS,
    **packs.VERBS,
    **shell.VERBS,
}


class Workspace:
    """A project and everything that can be done in it."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.verbs: dict[str, Verb] = {
            **VERBS,
            "run_command": replace(shell.VERBS["run_command"], prepare=self._prepare_command),
        }

    def _prepare_command(self, root: Root, args: dict[str, Any]) -> Prepared:
        """Commands are judged by the built-in rules and the project's, and run within its limits."""
        limits = self.project.config.commands
        given = {"timeout": limits.timeout_seconds, "max_output": limits.output_bytes, **args}
        asked = given["timeout"]
        if isinstance(asked, (int, float)) and asked > limits.max_timeout_seconds:
            given["timeout"] = limits.max_timeout_seconds
        return shell.prepare_command(
            root,
            given,
            classify=lambda line: classify(line, self.project.config.risk.rules),
            allow=self.project.config.security.environment,
        )

    def check(self, work: Work) -> list[dict[str, Any]]:
        """Runs the quality loop on what a call changed; what a formatter rewrote joins the same change."""
        if not self.project.config.quality.checks:
            return []
        from tether.tools.quality import check

        work.changes, findings = check(self.project, work.changes)
        return findings

    def drain(self) -> None:
        """Brings the ledger and the derived documents up to date."""
        self.project.drain()

    def close(self) -> None:
        """Lets go of the project."""
        self.project.close()


def open_workspace(start: str = ".") -> Workspace:
    """The workspace of the project a directory belongs to."""
    return Workspace(open_project(start))

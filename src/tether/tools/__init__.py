"""The hands: every verb that touches files or runs programs, behind the gate."""

from __future__ import annotations

from tether.tools import files, listing, patches, shell
from tether.types import Verb

VERBS: dict[str, Verb] = {**files.VERBS, **listing.VERBS, **patches.VERBS, **shell.VERBS}

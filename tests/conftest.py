"""How the tests run: no deadline per example, because a loaded machine is not a wrong program."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

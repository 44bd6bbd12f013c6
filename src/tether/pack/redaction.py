"""Secrets taken out of a text before anything else is done with it."""

from __future__ import annotations


def take_out_secrets(text: str) -> tuple[str, int]:
    """The text without its secrets, and how many there were; line numbers stay what they were."""
    from tether.source.redact import redact

    found = redact(text)
    return found.text, len(found.findings)

"""Secrets, found in a text before anything else is done with it."""

from __future__ import annotations


def find_secrets(text: str) -> list[tuple[int, int, str]]:
    """Where the secrets of a text stand, and what goes in their place; line numbers stay what they were."""
    from tether.source.redact import find

    return [
        (secret.start, secret.end, secret.label + "\n" * text.count("\n", secret.start, secret.end))
        for secret in find(text)
    ]

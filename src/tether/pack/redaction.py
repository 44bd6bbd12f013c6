"""Secrets, found in a text before anything else is done with it."""

from __future__ import annotations

WINDOW = 250_000  # characters looked at together: the finder's memory grows with what it is given
OVERLAP = 40_000  # more than the longest secret, a private key, and than what must be seen around one


def find_secrets(text: str) -> list[tuple[int, int, str]]:
    """Where the secrets of a text stand, and what goes in their place; line numbers stay what they were."""
    from tether.source.redact import find

    found: list[tuple[int, int, str]] = []
    for body in range(0, len(text) or 1, WINDOW):
        start = max(0, body - OVERLAP)
        seen = text if len(text) <= WINDOW else text[start : body + WINDOW + OVERLAP]
        for secret in find(seen):
            at, end = secret.start + start, secret.end + start
            # INVARIANT: each secret counts where it starts, and there all of it can be seen.
            if body <= at < body + WINDOW and (not found or at >= found[-1][1]):
                found.append((at, end, secret.label + "\n" * seen.count("\n", secret.start, secret.end)))
    return found

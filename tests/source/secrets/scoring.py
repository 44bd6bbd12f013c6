"""How a case is judged."""

from __future__ import annotations

import re
from hashlib import sha256

from tether.source.redact import redact


def half(text: str) -> str:
    """Which half of the corpus a case is in: rules are tuned on one and judged on both."""
    return "tuned" if sha256(text.encode()).digest()[0] % 2 == 0 else "held"


def leaks(text: str, secret: str) -> bool:
    """Whether the secret is still there once the text is redacted, marks aside."""
    return secret in re.sub(r"\[REDACTED:[a-z0-9-]+\]", "", redact(text).text)

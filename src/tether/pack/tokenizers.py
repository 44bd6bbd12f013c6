"""The tokenizers a pack can count by: two exact ones, and an estimate that needs nothing."""

from __future__ import annotations

from typing import Final

from tether.errors import TetherError
from tether.pack.measure import ESTIMATE, Tokenizer

NAMES: Final = ("o200k", "cl100k", "estimate")


def find_tokenizer(name: str) -> Tokenizer:
    """A tokenizer by name; its vocabulary is loaded when something is first counted."""
    short = name.removesuffix("_base")
    if short == "estimate":
        return ESTIMATE
    if short not in NAMES:
        raise TetherError("BAD_ARGUMENTS", f"unknown tokenizer `{name}`: choose {', '.join(NAMES)}")
    from tether.source.tokens import tokenizer

    return Tokenizer(short, tokenizer(f"{short}_base").count)

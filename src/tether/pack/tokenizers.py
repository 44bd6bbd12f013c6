"""The tokenizers a pack can count by: two exact ones, and an estimate that needs nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tether.errors import TetherError
from tether.pack.measure import ESTIMATE, Tokenizer

NAMES: Final = ("o200k", "cl100k", "estimate")


def find_tokenizer(name: str) -> Tokenizer:
    """A tokenizer by name; its vocabulary is loaded when something is first counted."""
    if name == "estimate":
        return ESTIMATE
    if name not in NAMES:
        raise TetherError("BAD_ARGUMENTS", f"unknown tokenizer `{name}`: choose {', '.join(NAMES)}")
    loaded: list[Callable[[str], int]] = []

    def count(text: str) -> int:
        if not loaded:
            loaded.append(_load(name))
        return loaded[0](text)

    return Tokenizer(name, count)


def _load(name: str) -> Callable[[str], int]:
    from rs_bpe.bpe import openai

    model = openai.o200k_base() if name == "o200k" else openai.cl100k_base()
    count: Callable[[str], int] = model.count
    return count


def best_tokenizer() -> Tokenizer:
    """The exact tokenizer where its wheel is installed, else the estimate."""
    from importlib.util import find_spec

    return find_tokenizer("o200k") if find_spec("rs_bpe") else ESTIMATE

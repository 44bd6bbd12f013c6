"""The exact tokenizers as the pack takes them, and ways to read a pack back."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from lxml import etree
from rs_bpe.bpe import openai

import tether.pack
from tether.pack.escape import restore
from tether.pack.measure import ESTIMATE, Tokenizer

SCHEMA = Path(tether.pack.__file__).parent / "context.xsd"


@cache
def exact(name: str = "o200k") -> Tokenizer:
    """o200k or cl100k."""
    model = openai.o200k_base() if name == "o200k" else openai.cl100k_base()
    return Tokenizer(name, model.count)


TOKENIZERS = {"estimate": lambda: ESTIMATE, "o200k": exact, "cl100k": lambda: exact("cl100k")}


@cache
def schema() -> Any:
    """The shipped schema, compiled."""
    return etree.XMLSchema(etree.parse(str(SCHEMA)))


def parse(text: str) -> Any:
    """The tree of a document that is well-formed and valid."""
    root = etree.fromstring(text.encode(), etree.XMLParser(huge_tree=True, resolve_entities=False))
    schema().assertValid(root)
    return root


def read_back(file: Any) -> str:
    """The text a `<file>` of claude-xml carries."""
    raw = file.text or ""
    assert raw.startswith("\n      \n") or raw == "\n      \n      "
    text = re.sub(r"      \s*\Z", "", raw[len("\n      \n") :])
    if file.get("eol") == "none":
        text = text.removesuffix("\n")
    return restore(text) if file.get("escaped") else text

"""Source text as a syntax tree, in bounded time and memory, whatever the bytes are."""

from __future__ import annotations

import codecs
import re
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from tether.source.grammar import load_grammar, make_parser
from tether.source.languages.names import BY_EXTENSION, BY_FILE_NAME, BY_INTERPRETER, EXTENSIONS

if TYPE_CHECKING:
    from tree_sitter import Tree

LANGUAGES: Final = frozenset(EXTENSIONS)

MAX_BYTES: Final = 4_000_000
TIMEOUT_MS: Final = 2_000

# The clock is looked at each time the parser asks for input: small pieces make the limit hold.
_PIECE: Final = 8_192

# Declarations that C++ has and C has not, in a header that could be either.
_CPP_HEADER: Final = re.compile(
    rb"^\s*(?:class\s+\w|namespace\b|template\s*<|using\s+\w|(?:public|private|protected)\s*:|constexpr\b)"
    rb"|\bstd::|^\s*#\s*include\s*<(?:string|vector|memory|map|cstd\w+|functional|utility)>",
    re.MULTILINE,
)
_SHEBANG: Final = re.compile(rb"#![ \t]*(\S+)(?:[ \t]+(.*))?")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A tree, or the reason why there is none."""

    tree: Tree | None
    reason: str = ""


def language_of(path: str, head: bytes = b"") -> str | None:
    """The language of a file, by its name and, where that does not say, by its first line."""
    name = path.rsplit("/", 1)[-1]
    found = BY_FILE_NAME.get(name)
    if found is None and "." in name:
        found = BY_EXTENSION.get(name.rsplit(".", 1)[1].lower())
    if found == "c" and name.endswith((".h", ".H")) and _CPP_HEADER.search(head):
        return "cpp"
    if found is None and head.startswith(b"#!"):
        return _language_of_shebang(head)
    if found is None and head.startswith(b"<?php"):
        return "php"
    return found


def _language_of_shebang(head: bytes) -> str | None:
    match = _SHEBANG.match(head)
    if match is None:
        return None
    program = match[1].rsplit(b"/", 1)[-1]
    if program == b"env":
        words = [word for word in (match[2] or b"").split() if not word.startswith(b"-") and b"=" not in word]
        program = words[0].rsplit(b"/", 1)[-1] if words else b""
    word = program.decode("ascii", "replace")
    return BY_INTERPRETER.get(word) or BY_INTERPRETER.get(word.rstrip("0123456789."))


def attempt(
    data: bytes, language: str, *, timeout_ms: float = TIMEOUT_MS, max_bytes: int = MAX_BYTES
) -> Attempt:
    """Parse within limits. A tree always covers the whole of `data`; anything less is a reason instead."""
    if language not in LANGUAGES:
        return Attempt(None, f"no grammar for `{language}`")
    if len(data) > max_bytes:
        return Attempt(None, f"{len(data)} bytes, more than the limit of {max_bytes}")
    data = _mend(data)
    if language == "yaml" and _yaml_depth(data) > _YAML_DEPTH:
        return Attempt(None, f"nested deeper than {_YAML_DEPTH} levels")
    parser = make_parser(language)
    if len(data) <= _PIECE:
        return Attempt(parser.parse(data))
    deadline = time.monotonic() + timeout_ms / 1000
    late = False

    # tree-sitter's own progress callback crashes the interpreter in every release up to 0.26.0, so the
    # clock is read where input is asked for: out of time, the text ends, and the half tree is dropped.
    def read(offset: int, _point: object) -> bytes:
        nonlocal late
        late = late or time.monotonic() > deadline
        if late:
            return b""
        end = min(offset + _PIECE, len(data))
        # INVARIANT: no piece ends inside a character, and every byte is valid UTF-8: the lexer reads
        # freed memory otherwise.
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        return data[offset:end]

    tree = parser.parse(read)
    if late:
        return Attempt(None, f"not parsed within {timeout_ms:g} ms")
    return Attempt(tree)


def _mend(data: bytes) -> bytes:
    """The same bytes, each that is not UTF-8 replaced by one that is, so that no offset moves."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "tether.mend").encode()
    return data


def _replace_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "?" * (error.end - error.start), error.end


# The YAML scanner writes past its buffer where some 250 levels are open at once.
_YAML_DEPTH: Final = 200
_YAML_LEAD: Final = re.compile(rb"^([ ]*)((?:[-?:][ \t]+)*)(?=[^\s#])", re.MULTILINE)


def _yaml_depth(data: bytes) -> int:
    """How many block collections are open at once, at most."""
    deepest = 0
    columns: list[int] = []
    for match in _YAML_LEAD.finditer(data):
        column = len(match[1])
        while columns and columns[-1] >= column:
            columns.pop()
        columns.append(column)
        columns.extend(column + mark.end() for mark in re.finditer(rb"[-?:][ \t]+", match[2]))
        deepest = max(deepest, len(columns))
    return deepest


codecs.register_error("tether.mend", _replace_bytes)


def parse(
    data: bytes, language: str, *, timeout_ms: float = TIMEOUT_MS, max_bytes: int = MAX_BYTES
) -> Tree | None:
    """The syntax tree of `data`, or None when `attempt` would give a reason."""
    return attempt(data, language, timeout_ms=timeout_ms, max_bytes=max_bytes).tree


@cache
def kind_ids(language: str, kinds: frozenset[str]) -> dict[int, str]:
    """The numeric ids under which a grammar knows these named node kinds."""
    grammar = load_grammar(language)
    found: dict[int, str] = {}
    for number in range(grammar.node_kind_count):
        name = grammar.node_kind_for_id(number)
        if name in kinds and grammar.node_kind_is_named(number):
            found[number] = name
    return found

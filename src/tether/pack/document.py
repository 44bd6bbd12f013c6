"""One file as read, and what can be known of it from its bytes alone."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tether.pack.escape import escape_surrogates
from tether.pack.measure import Tokenizer, starts_at_seam
from tether.pack.text import decode

Cut = tuple[int, int, str]  # start, end, what stands there instead
# text → the secrets in it, in order, none overlapping another
Redactor = Callable[[str], Sequence[Cut]]

_CONTROLS = bytes([*range(9), 11, 12, *range(14, 32)])


class Facts(NamedTuple):
    """Everything that follows from a file's bytes, a tokenizer and a redactor: what the cache keeps."""

    sha: str  # SHA-256 of the normalised text
    checksum: str  # MD5 of the normalised text
    md5: str  # MD5 of the text after redaction
    units: int  # of the text after redaction, with a newline at its end
    lines: int
    cuts: tuple[Cut, ...]  # the secrets taken out
    verbatim: bool  # the file's bytes can be written as they are, in XML too
    ended: bool  # the last line has its newline
    seam: bool  # the text starts a new token after any newline

    @property
    def redacted(self) -> int:
        """How many secrets were taken out."""
        return len(self.cuts)


class Lexicon(NamedTuple):
    """How texts are measured and cleaned in one run, and what is remembered of it."""

    tokenizer: Tokenizer
    redact: Redactor | None
    memory: MutableMapping[bytes, tuple[object, ...]]
    salt: bytes = b""  # what else the facts depend on: tokenizer, redactor and its version


@dataclass(frozen=True, slots=True)
class File:
    """A path and its content, or the way to get at it; None from `load` means there is no text to show."""

    path: str
    load: Callable[[], bytes | None]
    mtime: float = 0.0
    ctime: float = 0.0
    size: int = 0
    escaped: int = 0  # characters that had to be escaped to make the content text at all


def make_file(path: str, content: str | bytes, mtime: float = 0.0) -> File:
    """A file from memory."""
    escaped = 0
    if isinstance(content, str):
        content, escaped = escape_surrogates(content)
        content = content.encode()
    data = content
    return File(path, lambda: data, mtime, mtime, len(data), escaped)


def take_out(text: str, cuts: Sequence[Cut]) -> str:
    """The text with something else in the place of each cut."""
    if not cuts:
        return text
    pieces = []
    at = 0
    for start, end, instead in cuts:
        pieces += [text[at:start], instead]
        at = end
    return "".join([*pieces, text[at:]])


class Document:
    """A loaded file. The text is decoded only when somebody asks for it."""

    __slots__ = ("_clean", "data", "facts", "path")

    def __init__(self, path: str, data: bytes, lexicon: Lexicon) -> None:
        self.path = path
        self.data = data
        self._clean: str | None = None
        key = hashlib.sha256(data).digest() + lexicon.salt
        known = lexicon.memory.get(key)
        if known is None:
            self.facts = self._examine(lexicon)
            lexicon.memory[key] = tuple(self.facts)
        else:
            self.facts = Facts(*known)  # type: ignore[arg-type]

    @property
    def clean(self) -> str:
        """The text, newlines normalised, with its secrets taken out."""
        if self._clean is None:
            self._clean = take_out(decode(self.data), self.facts.cuts)
        return self._clean

    def _examine(self, lexicon: Lexicon) -> Facts:
        data = self.data
        text = decode(data)
        cuts = tuple(lexicon.redact(text)) if lexicon.redact else ()
        lines = text.count("\n") + 1
        normal = text.encode()
        sha, checksum = hashlib.sha256(normal).hexdigest(), _hash_md5(normal)
        verbatim = not cuts and normal == data and text.endswith("\n") and _is_legal(data)
        del normal
        self._clean = clean = take_out(text, cuts)
        # From here on only the clean text is needed, and a large one should not be there twice.
        del text
        ended = clean.endswith("\n")
        return Facts(
            sha,
            checksum,
            _hash_md5(clean.encode()) if cuts else checksum,
            lexicon.tokenizer.units(clean if ended else clean + "\n"),
            lines,
            cuts,
            verbatim,
            ended,
            starts_at_seam(clean),
        )


def _hash_md5(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def _is_legal(data: bytes) -> bool:
    """Whether UTF-8 can stand in CDATA as it is."""
    return (
        b"]]>" not in data
        and len(data.translate(None, _CONTROLS)) == len(data)
        and b"\xef\xbf\xbe" not in data
        and b"\xef\xbf\xbf" not in data
    )

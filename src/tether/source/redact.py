"""Secrets never leave: found by shape or by the name they are given to, and replaced by what they were.

HOOK PATH. Text without a trigger costs a few substring searches. Every step is linear in the text.
"""

from __future__ import annotations

from tether.source.detect import detect
from tether.source.likely import is_placeholder, is_secret_name
from tether.source.pattern import lazy
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = "[REDACTED:"
_MARK = lazy(r"\[REDACTED:[a-z0-9-]{1,40}\]")
_FILLER = "\x00"  # stands for what is already found while the rest is scanned: no rule accepts it
_BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_BREAK = lazy(f"\r\n|[{_BREAKS}]")
_MAX_DEPTH = 200


@noun
class Finding:
    """One secret: which rule found it, and where it stands in the text."""

    rule: str
    start: int
    end: int
    label: str  # what replaces it


@noun
class Redacted:
    """A text without its secrets, and what they were."""

    text: str
    findings: tuple[Finding, ...]


def redact(text: str) -> Redacted:
    """`text` with every secret replaced by a visible mark; line numbers stay what they were."""
    findings = find(text)
    if not findings:
        return Redacted(text, ())
    pieces: list[str] = []
    at = 0
    for finding in findings:
        pieces.append(text[at : finding.start])
        pieces.append(finding.label)
        # INVARIANT: as many line breaks as before, so that line numbers still point at the same lines.
        # A lone carriage return becomes a newline: it must not join the one that may come next.
        pieces.extend(
            "\n" if brk == "\r" else brk for brk in _BREAK.findall(text, finding.start, finding.end)
        )
        at = finding.end
    pieces.append(text[at:])
    return Redacted("".join(pieces), tuple(findings))


def redact_bytes(data: bytes) -> bytes:
    """`redact` for bytes of any encoding that keeps ASCII where it is."""
    return redact(data.decode("utf-8", "surrogateescape")).text.encode("utf-8", "surrogateescape")


def redact_value(value: Any, depth: int = 0) -> Any:
    """JSON-ready data without its secrets; what stands under a secret's name goes whole."""
    if isinstance(value, str):
        return redact(value).text
    if isinstance(value, dict):
        if depth >= _MAX_DEPTH:
            return f"{MARK}too-deep]"
        return {_redact_key(key): _redact_item(key, item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        if depth >= _MAX_DEPTH:
            return f"{MARK}too-deep]"
        return type(value)([redact_value(item, depth + 1) for item in value])
    if isinstance(value, bytes):
        return redact_bytes(value)
    return value


def _redact_key(key: Any) -> Any:
    return redact(key).text if isinstance(key, str) else key


def _redact_item(key: Any, item: Any, depth: int) -> Any:
    if isinstance(key, str) and is_secret_name(key):
        if isinstance(item, str):
            clean = redact(item).text
            return clean if clean != item or not item or is_placeholder(item) else f"{MARK}named-secret]"
        if isinstance(item, list):
            return [_redact_item(key, entry, depth + 1) for entry in item]
    return redact_value(item, depth)


def find(text: str) -> list[Finding]:
    """Every secret in `text`, in order, none overlapping another."""
    scan = _mask(text, [(m.start(), m.end()) for m in _MARK.finditer(text)]) if MARK in text else text
    found: list[Finding] = []
    # What stood next to a secret may be one too once the secret is out of its way.
    for _ in range(4):
        fresh = _scan(scan)
        if not fresh:
            break
        found.extend(fresh)
        scan = _mask(scan, [(finding.start, finding.end) for finding in fresh])
    found.sort(key=lambda finding: finding.start)
    return found


def _mask(text: str, spans: list[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces.append(text[at:start])
        pieces.append(_FILLER * (end - start))
        at = end
    pieces.append(text[at:])
    return "".join(pieces)


def _scan(text: str) -> list[Finding]:
    """One pass. Claims that overlap become one, named after the longest."""
    claims = []
    for order, (start, end, rule) in enumerate(detect(text)):
        while end > start and text[end - 1] in _BREAKS:
            end -= 1
        if start < end:
            claims.append((start, -end, order, rule))
    claims.sort()
    merged: list[tuple[int, int, int, str]] = []  # start, end, length of the claim that names it, rule
    for start, minus_end, _, rule in claims:
        end = -minus_end
        if merged and start < merged[-1][1]:
            first, last, length, name = merged[-1]
            if end - start > length:
                length, name = end - start, rule
            merged[-1] = (first, max(last, end), length, name)
        else:
            merged.append((start, end, end - start, rule))
    return [Finding(rule, start, end, f"{MARK}{rule}]") for start, end, _, rule in merged]

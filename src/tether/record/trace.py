"""One Agent Trace 0.1.0 record for each settled mutation. HOOK PATH."""

from __future__ import annotations

import re
from hashlib import blake2b, sha1, sha256

from tether import __version__
from tether.errors import TetherError
from tether.record.patience import compare, split, strip
from tether.source.pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any, Final

    from tether.types import Agent, Change, Decision

VERSION: Final = "0.1.0"
NAMESPACE: Final = "dev.tether"
FINGERPRINT: Final = 6  # bytes
EDGE: Final = b"\0" * FINGERPRINT  # stands before the first and after the last line of a file
_MODEL_LIMIT: Final = 250
_CONTRIBUTORS: Final = frozenset({"human", "ai", "mixed", "unknown"})
_URI: Final = lazy(r"[A-Za-z][A-Za-z0-9+.-]*:(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+"
                         r"(?:#(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?\Z")  # fmt: skip
_UNRESERVED: Final = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_EXECUTABLE: Final = ("javascript:", "vbscript:", "data:")


def build(
    changes: Iterable[Change],
    contents: Callable[[str], bytes | None],
    *,
    journal: str,
    seq: int,
    at: str,
    agent: Agent,
    decision: Decision | None = None,
    intent: str = "",
    related: Iterable[str] = (),
    revision: str = "",
    node: str = "",
    tree: str = "",
    anchor: str = "",
    mutation_class: str = "",
) -> dict[str, Any]:
    """The record of one journal entry: the same arguments give the same record, always.

    Several changes of one path are one passage: lines each of them introduced keep their own contributor.
    `anchor` is the hash of a journal entry, so that a cut or rewritten journal cannot match its ledger.
    """
    groups: dict[str, list[Change]] = {}
    for change in changes:
        groups.setdefault(change.path, []).append(change)
    url = _uri(agent.conversation) or f"urn:tether:session:{_quote(agent.session) or 'unknown'}"
    links = _relate(intent, related)
    files, details = [], []
    for group in groups.values():
        file, detail = _describe(group, contents, agent, url, links)
        files.append(file)
        details.append(detail)
    kept: dict[str, Any] = {
        "journal": journal,
        "seq": seq,
        "agent": _drop_empty({"session": clean(agent.session), "name": clean(agent.name)}),
        "files": details,
    }
    if decision is not None:
        kept["decision"] = _drop_empty(
            {
                "verdict": decision.verdict,
                "rules": [clean(rule) for rule in decision.rules],
                "policy": clean(decision.policy),
                "approval": clean(decision.approval),
                "plan_node": clean(decision.plan_node),
            }
        )
    kept |= _drop_empty({"node": clean(node), "tree": clean(tree), "anchor": anchor, "class": mutation_class})
    record: dict[str, Any] = {
        "version": VERSION,
        "id": derive_id(journal, seq),
        "timestamp": at,
        "tool": {"name": "tether", "version": __version__},
        "files": files,
        "metadata": {NAMESPACE: kept},
    }
    if revision:
        record["vcs"] = {"type": "git", "revision": revision}
    return record


def derive_id(journal: str, seq: int) -> str:
    """The id of the record of a journal entry: uuid5 of the position within the journal's own uuid."""
    digits = journal.replace("-", "")
    if not re.fullmatch(r"[0-9a-fA-F]{32}", digits):
        raise TetherError("BAD_ARGUMENTS", f"`{journal}` is not a uuid; a journal is named by one")
    raw = bytearray(sha1(bytes.fromhex(digits) + str(seq).encode()).digest()[:16])  # noqa: S324
    raw[6] = raw[6] & 0x0F | 0x50
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def fingerprint(stripped: bytes) -> bytes:
    """48 bits that stand for a line, whitespace ignored; never those of a file's edge."""
    digest = blake2b(stripped, digest_size=FINGERPRINT).digest()
    return digest if digest != EDGE else b"\xff" * FINGERPRINT


def hash_range(lines: Sequence[bytes]) -> str:
    """The `content_hash` of a range: its exact bytes with LF newlines, the last line's included."""
    return "sha256:" + sha256(b"".join(line + b"\n" for line in lines)).hexdigest()


def own(record: dict[str, Any]) -> dict[str, Any]:
    """What Tether itself keeps in a record; empty for another tool's."""
    metadata = record.get("metadata")
    found = metadata.get(NAMESPACE) if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def is_sound(record: Any) -> bool:
    """Whether a record read from a ledger has the shape its readers count on; ledgers come with clones."""
    try:
        for file in record["files"]:
            if not isinstance(file["path"], str):
                return False
            for conversation in file["conversations"]:
                hands = [conversation.get("contributor", {})]
                for span in conversation["ranges"]:
                    if not isinstance(span["start_line"], int):
                        return False
                    hands.append(span.get("contributor", {}))
                if not {hand.get("type", "unknown") for hand in hands} <= _CONTRIBUTORS:
                    return False
                if not all(
                    isinstance(link["type"] + link["url"], str) for link in conversation.get("related", ())
                ):
                    return False
        kept = own(record)
        for detail in kept.get("files", ()):
            if not isinstance(detail["path"] + detail.get("moved_from", ""), str):
                return False
            for start, packed in detail.get("lines", ()):
                if not isinstance(start, int) or len(unpack(packed)) < 2:
                    return False
        return isinstance(kept.get("decision", {}), dict) and isinstance(kept.get("agent", {}), dict)
    except (ValueError, KeyError, TypeError, AttributeError):
        return False


def _describe(
    group: list[Change],
    contents: Callable[[str], bytes | None],
    agent: Agent,
    url: str,
    links: list[dict[str, str]],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """One file of the record, and what Tether adds about it."""
    first, last = group[0], group[-1]
    path = clean(last.path)
    detail: dict[str, Any] = {
        "path": path,
        "kind": _kind(first, last),
        "before": first.before,
        "after": last.after,
    }
    if path != last.path:
        detail["path_bytes"] = _encode(last.path).hex()
    if first.moved_from:
        detail["moved_from"] = clean(first.moved_from)
    lines, authors = _introduce(group, contents)
    if lines is None:
        detail["content"] = "missing"
        lines = []
    kinds = {author for author in authors if author}
    overall = kinds.pop() if len(kinds) == 1 else _overall(group) if not kinds else "mixed"
    conversation: dict[str, Any] = {"url": url, "contributor": _contributor(overall, agent), "ranges": []}
    prints: list[list[Any]] = []
    if any(authors):
        marks = [EDGE, *map(fingerprint, strip(lines)), EDGE]
        for start, end, author in _ranges(authors):
            span: dict[str, Any] = {
                "start_line": start + 1,
                "end_line": end,
                "content_hash": hash_range(lines[start:end]),
            }
            if author != overall:
                span["contributor"] = _contributor(author, agent)
            conversation["ranges"].append(span)
            prints.append([start + 1, _pack(marks[start : end + 2])])
    if prints:
        detail["lines"] = prints
    if links:
        conversation["related"] = links
    return {"path": path, "conversations": [conversation]}, detail


def _introduce(
    group: list[Change], contents: Callable[[str], bytes | None]
) -> tuple[list[bytes] | None, list[str]]:
    """The final lines, and who introduced each; "" for one that stood there before."""
    start = _read(group[0].before, contents)
    if start is None or _read(group[-1].after, contents) is None:
        return None, []
    lines, authors, certain = start, [""] * len(start), True
    for change in group:
        after = _read(change.after, contents)
        if after is None:
            certain = False
            continue
        carried = [_author(change.author) if certain else "unknown"] * len(after)
        for i, j, count in compare(lines, after):
            carried[j : j + count] = authors[i : i + count]
        lines, authors, certain = after, carried, True
    return lines, authors


def _read(sha: str, contents: Callable[[str], bytes | None]) -> list[bytes] | None:
    if not sha:
        return []
    data = contents(sha)
    return None if data is None else split(data)


def _ranges(authors: list[str]) -> Iterator[tuple[int, int, str]]:
    start = 0
    for end in range(1, len(authors) + 1):
        if end == len(authors) or authors[end] != authors[start]:
            if authors[start]:
                yield start, end, authors[start]
            start = end


def _pack(marks: list[bytes]) -> str:
    from binascii import b2a_base64

    return b2a_base64(b"".join(marks), newline=False).decode("ascii")


def unpack(text: str) -> list[bytes]:
    """The fingerprints of a `lines` entry: one context line, the introduced lines, one context line."""
    from binascii import a2b_base64

    raw = a2b_base64(text)
    return [raw[i : i + FINGERPRINT] for i in range(0, len(raw) - FINGERPRINT + 1, FINGERPRINT)]


def _kind(first: Change, last: Change) -> str:
    if not last.after:
        return "delete"
    if first.moved_from:
        return "move"
    return "modify" if first.before else "create"


def _overall(group: list[Change]) -> str:
    kinds = {_author(change.author) for change in group}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _author(author: str) -> str:
    return author if author in _CONTRIBUTORS else "unknown"


def _contributor(kind: str, agent: Agent) -> dict[str, str]:
    contributor = {"type": kind}
    if kind in ("ai", "mixed") and agent.model:
        contributor["model_id"] = clean(agent.model)[:_MODEL_LIMIT]
    return contributor


def _relate(intent: str, related: Iterable[str]) -> list[dict[str, str]]:
    links = []
    if intent:
        links.append({"type": "intent", "url": f"urn:intent:{_quote(intent)}"})
    for reference in related:
        kind, name = "spec", reference.strip()
        if re.match(r"#\d+\Z", name):
            kind, name = "issue", name[1:]
        elif re.match(r"(?:issue|spec):[^/]", name):
            kind, name = name.split(":", 1)
        elif re.match(r"https?://", name):
            kind = "issue" if re.search(r"/(?:issues|pull|merge_requests)/", name) else "spec"
        if name:
            links.append({"type": kind, "url": _uri(name) or f"urn:{kind}:{_quote(name)}"})
    return links


def _uri(text: str) -> str:
    """The text as a URI, what may not stand in one percent-encoded; "" when it cannot be one."""
    text = re.sub(r"[^!#-;=?-Z_a-z~]", lambda found: _quote(found[0]), text.strip())
    if not _URI.match(text) or text.lower().startswith(_EXECUTABLE):
        return ""
    return text


def _quote(text: str) -> str:
    """Percent-encodes all but the characters every part of a URI may hold."""
    return "".join(chr(c) if c in _UNRESERVED else f"%{c:02X}" for c in _encode(text))


def clean(text: str) -> str:
    """Text any JSON reader accepts: no half surrogates, as file names may bring."""
    return _encode(text).decode("utf-8", "replace")


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _drop_empty(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}

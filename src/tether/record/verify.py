"""Proves that a journal is what was written: every entry chained, none altered, missing or reordered."""

from __future__ import annotations

import json
import sqlite3

from tether.errors import TetherError
from tether.record.journal import GENESIS, canonical, chain_hash, storable
from tether.record.projection import project
from tether.types import Entry, noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

TRIGGERS = ("entry_chained", "entry_no_delete", "entry_no_update")


@noun
class Problem:
    """One thing wrong, and where."""

    seq: int
    kind: str  # altered | missing | reordered | unreadable | anchor | projection | trigger
    message: str


@noun
class Verified:
    """What a verification looked at and found."""

    journal: str
    entries: int
    head: str
    problems: tuple[Problem, ...]


def verify(path: str, anchors: Iterable[tuple[int, str]] = ()) -> Verified:
    """Checks a journal file; `anchors` are (seq, hash) pairs kept elsewhere that the journal must still hold."""
    problems: list[Problem] = []
    try:
        db = sqlite3.connect(f"file:{_quoted(path)}?mode=ro", uri=True)
    except sqlite3.Error as error:
        raise TetherError("JOURNAL_UNAVAILABLE", f"`{path}` cannot be opened: {error}") from None
    try:
        identity = db.execute("SELECT val FROM meta WHERE key='id'").fetchone()
        found = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='trigger'")}
        problems += [
            Problem(0, "trigger", f"the append-only trigger `{name}` is gone")
            for name in TRIGGERS
            if name not in found
        ]
        held: dict[tuple[str, str], Any] = {}
        hashes: dict[int, str] = {}
        wanted = dict(anchors)
        prev, expected, count = GENESIS, 1, 0
        for row in db.execute("SELECT seq, at, kind, run, call, body, prev, hash FROM entry ORDER BY seq"):
            seq, at, kind, run, call, body, linked, digest = row
            count += 1
            if seq != expected:
                problems.append(Problem(seq, "missing", f"entries {expected} to {seq - 1} are missing"))
            if chain_hash(linked, seq, at, kind, run, call, body) != digest:
                problems.append(Problem(seq, "altered", f"entry {seq} is not what was written"))
            elif linked != prev and seq == expected:
                problems.append(Problem(seq, "reordered", f"entry {seq} does not follow entry {seq - 1}"))
            try:
                _fold(held, Entry(seq, at, kind, run, call, json.loads(body), linked, digest))
            except (ValueError, KeyError, TypeError) as error:
                problems.append(
                    Problem(seq, "unreadable", f"entry {seq} cannot be read: {type(error).__name__}")
                )
            if seq in wanted:
                hashes[seq] = digest
            prev, expected = digest, seq + 1
        for seq, digest in sorted(wanted.items()):
            if hashes.get(seq) != digest:
                what = "was cut off or rewritten" if seq not in hashes else "was rewritten"
                problems.append(Problem(seq, "anchor", f"entry {seq}, which the ledger vouches for, {what}"))
        if not problems:
            problems += _compare(db, held)
        return Verified(str(identity[0]) if identity else "", count, prev, tuple(problems))
    except sqlite3.DatabaseError as error:
        problems.append(Problem(0, "unreadable", f"the file is damaged: {error}"))
        return Verified("", 0, "", tuple(problems))
    finally:
        db.close()


def _fold(held: dict[tuple[str, str], Any], entry: Entry) -> None:
    def get(scope: str, key: str) -> Any:
        return held.get((storable(scope), storable(key)))

    for scope, key, val in list(project(entry, get)):
        scope, key = storable(scope), storable(key)
        if key == "*" and val is None:
            for known in [k for k in held if k[0] == scope]:
                del held[known]
        elif val is None:
            held.pop((scope, key), None)
        else:
            held[(scope, key)] = json.loads(canonical(val))


def _compare(db: sqlite3.Connection, held: dict[tuple[str, str], Any]) -> list[Problem]:
    stored = {(s, k): json.loads(v) for s, k, v in db.execute("SELECT scope, key, val FROM fact")}
    wrong = sorted(key for key in stored.keys() | held.keys() if stored.get(key) != held.get(key))
    return [
        Problem(0, "projection", f"the fact `{scope}/{key}` does not follow from the entries")
        for scope, key in wrong
    ]


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")

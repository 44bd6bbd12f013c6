"""The portable ledger `agent_trace.jsonl`: the journal's trace records, a line each. HOOK PATH.

The journal is the outbox. An exporter killed at any moment leaves at worst a torn last line, which the
next one takes away before it appends what follows the journal's last record: none lost, none doubled.
Each journal chains its own lines, so branches that both appended merge by union and still verify.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import stat
from hashlib import sha256

from tether.errors import TetherError
from tether.record.trace import NAMESPACE, own
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Final

    Records = Iterable[tuple[int, dict[str, Any]]]

ATTRIBUTES: Final = "agent_trace.jsonl merge=union -text"
_BATCH: Final = 4 << 20
_TAIL: Final = 4096


@noun
class Exported:
    """What an export did."""

    count: int
    seq: int  # of this journal's last record in the ledger; 0 when it has none
    chain: str
    torn: str = ""  # where the remains of a torn last line were put


@noun
class Problem:
    """One thing wrong with a ledger. kind: unparsable | altered | missing | reordered | doubled | behind."""

    kind: str
    line: int  # 1-based; 0 where no line is at fault
    journal: str
    seq: int
    detail: str


def canonical(record: dict[str, Any]) -> str:
    """The one spelling of a record: the line written, and what its chain is taken of."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"))


def link(record: dict[str, Any], prev: str) -> dict[str, Any]:
    """The record with its place in the journal's chain."""
    kept = {**own(record), "prev": prev}
    kept.pop("chain", None)
    linked = {**record, "metadata": {**record.get("metadata", {}), NAMESPACE: kept}}
    kept["chain"] = sha256((prev + canonical(linked)).encode("ascii")).hexdigest()
    return linked


def export(
    path: str,
    journal: str,
    records: Records | Callable[[int], Records],
    *,
    state: str,
) -> Exported:
    """Append this journal's records that the ledger lacks.

    `records` are `(seq, record)` in journal order, or a function that gives those after a seq; a record
    must depend on its journal entry alone, so that every branch of a repository gets the same line.
    `state` is the folder of this machine's lock, cursor and torn lines.
    """
    os.makedirs(state, mode=0o700, exist_ok=True)
    name = os.path.join(
        state, "ledger-" + sha256(os.path.abspath(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    )
    lock = os.open(f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ledger = _open(path)
        try:
            torn = _mend(ledger, name)
            seq, chain = _recall(ledger, journal, f"{name}.json") or _search(ledger, journal)
            count = 0
            for batch, size, last, tip in _compose(records, journal, seq, chain):
                _append(ledger, batch, path)
                count += size
                seq, chain = last, tip
            _remember(ledger, journal, seq, chain, f"{name}.json")
        finally:
            os.close(ledger)
    finally:
        os.close(lock)
    return Exported(count, seq, chain, torn)


def read(path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of a ledger with their line numbers, each once; what is no record is passed over."""
    seen: set[bytes] = set()
    for number, line, record in _parse(path):
        digest = sha256(line).digest()
        if record is not None and digest not in seen:
            seen.add(digest)
            yield number, record


def verify(path: str, journal: str = "", records: Records = ()) -> list[Problem]:
    """Everything wrong with a ledger; compared with the `records` of a journal at hand, if given.

    A chain cannot see that its end was cut off: only a comparison with the journal can.
    """
    problems: list[Problem] = []
    chains: dict[str, dict[int, tuple[int, dict[str, Any]]]] = {}
    seen: set[bytes] = set()
    for number, line, record in _parse(path):
        digest = sha256(line).digest()
        if record is None:
            problems.append(Problem("unparsable", number, "", 0, "the line is not a trace record"))
            continue
        kept = own(record)
        if digest in seen or not kept:
            continue  # a union merge may repeat lines; other tools' records have no chain
        seen.add(digest)
        name, seq = kept.get("journal"), kept.get("seq")
        if not isinstance(name, str) or not isinstance(seq, int):
            problems.append(
                Problem("altered", number, str(name), 0, "the record names no journal or position")
            )
            continue
        mine = chains.setdefault(name, {})
        if seq in mine:
            detail = f"lines {mine[seq][0]} and {number} both claim this position"
            problems.append(Problem("doubled", number, name, seq, detail))
            continue
        if mine and seq < next(reversed(mine)):
            detail = f"it stands after position {next(reversed(mine))}"
            problems.append(Problem("reordered", number, name, seq, detail))
        mine[seq] = (number, record)
    for name, mine in chains.items():
        problems += _check(name, mine)
    if journal:
        problems += _compare(journal, chains.get(journal, {}), records)
    return sorted(problems, key=lambda problem: (problem.line, problem.seq))


def _check(journal: str, mine: dict[int, tuple[int, dict[str, Any]]]) -> Iterator[Problem]:
    last, chain = 0, ""
    for seq in sorted(mine):
        number, record = mine[seq]
        kept = own(record)
        prev, claimed = str(kept.get("prev")), kept.get("chain")
        if own(link(record, prev))["chain"] != claimed:
            yield Problem("altered", number, journal, seq, "the record does not have the hash it carries")
        if prev != chain:
            where = f"between positions {last} and {seq}" if last else f"before position {seq}"
            yield Problem("missing", number, journal, seq, f"records {where} are missing or were replaced")
        last, chain = seq, str(claimed)


def _compare(
    journal: str, mine: dict[int, tuple[int, dict[str, Any]]], records: Records
) -> Iterator[Problem]:
    end = max(mine, default=0)
    known = set()
    for seq, record in records:
        known.add(seq)
        if seq in mine:
            number, found = mine[seq]
            if link(found, "") != link(record, ""):
                yield Problem(
                    "altered", number, journal, seq, "the journal has another record at this position"
                )
        elif seq > end:
            yield Problem(
                "behind", 0, journal, seq, "the journal's record is not in the ledger yet, or was cut off"
            )
        else:
            yield Problem("missing", 0, journal, seq, "the journal's record is not in the ledger")
    for seq in sorted(mine.keys() - known):
        yield Problem("altered", mine[seq][0], journal, seq, "the journal has no record at this position")


def _parse(path: str) -> Iterator[tuple[int, bytes, dict[str, Any] | None]]:
    if not os.path.exists(path):
        return
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text:
                continue
            try:
                record = json.loads(text)
            except (ValueError, RecursionError):
                record = None
            good = isinstance(record, dict) and isinstance(record.get("files"), list) and "id" in record
            yield number, text, record if good else None


def _open(path: str) -> int:
    """The ledger's descriptor. A link in its place is refused: a clone could lead appends anywhere."""
    folder, name = os.path.split(os.path.abspath(path))
    try:
        os.makedirs(folder, exist_ok=True)
        parent = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            ledger = os.open(name, flags, 0o644, dir_fd=parent)
        finally:
            os.close(parent)
    except OSError as error:
        raise TetherError("NOT_A_FILE", f"cannot append to the ledger `{path}`: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(ledger).st_mode):
        os.close(ledger)
        raise TetherError("NOT_A_FILE", f"the ledger `{path}` is not a regular file")
    return ledger


def _mend(ledger: int, name: str) -> str:
    """Set aside what follows the last newline; a record that only lacks its newline gets it."""
    size = os.fstat(ledger).st_size
    start, tail = size, b""
    while start and b"\n" not in tail:
        step = min(start, _TAIL if not tail else len(tail))
        start -= step
        tail = os.pread(ledger, step, start) + tail
    torn = tail[tail.rfind(b"\n") + 1 :]
    if not torn:
        return ""
    try:
        whole = isinstance(json.loads(torn), dict)
    except (ValueError, RecursionError):
        whole = False
    if whole:
        _write(ledger, b"\n")
        return ""
    aside = f"{name}-torn-{sha256(torn).hexdigest()[:12]}"
    with open(aside, "wb") as file:
        file.write(torn)
    os.ftruncate(ledger, size - len(torn))
    return aside


def _compose(
    records: Records | Callable[[int], Records], journal: str, seq: int, chain: str
) -> Iterator[tuple[bytes, int, int, str]]:
    """Batches to append: their bytes, how many records, and where the chain then stands."""
    lines: list[bytes] = []
    size = 0
    for at, record in records(seq) if callable(records) else records:
        if at <= seq:
            continue
        kept = own(record)
        if kept.get("journal") != journal or kept.get("seq") != at:
            raise TetherError(
                "BAD_ARGUMENTS", f"the record `{record.get('id')}` is not position {at} of this journal"
            )
        linked = link(record, chain)
        seq, chain = at, own(linked)["chain"]
        line = canonical(linked).encode("ascii") + b"\n"
        lines.append(line)
        size += len(line)
        if size >= _BATCH:
            yield b"".join(lines), len(lines), seq, chain
            lines, size = [], 0
    if lines:
        yield b"".join(lines), len(lines), seq, chain


def _append(ledger: int, batch: bytes, path: str) -> None:
    size = os.fstat(ledger).st_size
    try:
        _write(ledger, batch)
    except OSError as error:
        os.ftruncate(ledger, size)
        raise TetherError(
            "STORE_CORRUPT", f"cannot append to the ledger `{path}`: {error.strerror}"
        ) from error


def _write(ledger: int, data: bytes) -> None:
    written = os.write(ledger, data)
    while written < len(data):
        written += os.write(ledger, data[written:])


def _search(ledger: int, journal: str) -> tuple[int, str]:
    """Position and chain of the journal's last record, by reading the whole ledger."""
    # In a line as written here the two keys appear once outside strings, where quotes are escaped.
    pattern = re.compile(rb'"journal":"%s".*"seq":(\d+)' % re.escape(journal.encode()))
    found: list[tuple[int, bytes]] = []
    with open(os.dup(ledger), "rb") as file:
        file.seek(0)
        for line in file:
            match = pattern.search(line)
            if match and (not found or int(match[1]) >= found[-1][0]):
                found.append((int(match[1]), line))
    for _, line in reversed(found):
        try:
            kept = own(json.loads(line))
        except (ValueError, RecursionError):
            continue  # two writers' lines glued together by a crash: `verify` reports it
        if kept.get("journal") == journal and isinstance(kept.get("seq"), int):
            return kept["seq"], str(kept.get("chain", ""))
    return 0, ""


def _recall(ledger: int, journal: str, cursor: str) -> tuple[int, str] | None:
    """What the last export left, if the ledger is still exactly as it was."""
    try:
        with open(cursor, "rb") as file:
            kept = json.load(file)
        if kept["journal"] == journal and kept["mark"] == _mark(ledger):
            return int(kept["seq"]), str(kept["chain"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # the cursor only saves reading the ledger
    return None


def _remember(ledger: int, journal: str, seq: int, chain: str, cursor: str) -> None:
    kept = {"journal": journal, "mark": _mark(ledger), "seq": seq, "chain": chain}
    # Written in place: replacing a file by rename makes some file systems flush it. Cut short, it is
    # no JSON, and the ledger is read instead.
    descriptor = os.open(cursor, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, os.write(descriptor, json.dumps(kept).encode("ascii")))
    finally:
        os.close(descriptor)


def _mark(ledger: int) -> list[Any]:
    status = os.fstat(ledger)
    tail = os.pread(ledger, _TAIL, max(0, status.st_size - _TAIL))
    return [status.st_ino, status.st_size, status.st_mtime_ns, sha256(tail).hexdigest()]

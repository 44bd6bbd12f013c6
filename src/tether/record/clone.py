"""Whose a line is where only the ledger and git's history tell: on a fresh clone, or of others' work.

`git blame` names the commit that brought a line, and the ledger the records that may have gone into it:
those of the file, made before the commit and after the one it builds on. Among these the line is found by
its fingerprint and those of its neighbours. History may have been squashed or rebased since, so a record's
revision is never required to exist, and a line no record of that time claims is looked for in older ones.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final

from tether.record.catalog import gram
from tether.record.patience import match, split, strip
from tether.record.trace import EDGE, clean, fingerprint, own, unpack
from tether.source.git import read_objects, run_git
from tether.types import noun

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from tether.record.catalog import Catalog, Row
    from tether.source.git import Repo

_SKEW: Final = 2.0  # seconds: commits are dated to the second
_TELLING: Final = 6  # characters that make a line worth recognising alone
# how sure a match is: with both neighbours, with one, alone, and alone for a line that tells nothing
TRIGRAM: Final = 0.95
BIGRAM: Final = 0.85
UNIGRAM: Final = 0.7
PLAIN: Final = 0.6
_OLDER: Final = 0.8  # of that, for a record made before the commit this one builds on


@noun
class Verdict:
    """Whose a line is: ai | human | mixed | unknown | ambiguous, and by which record if any."""

    author: str
    confidence: float
    record: int = 0  # in the catalog
    commit: str = ""
    candidates: tuple[int, ...] = ()
    note: str = ""


@noun
class Commit:
    """What `git blame` says of the commit that brought some lines."""

    sha: str
    authored: float
    committed: float
    path: str  # the file's name in it
    previous: str = ""  # the commit it builds on, where that has the file
    previous_path: str = ""


class Prints:
    """The lines one record introduced to a file, to be recognised by."""

    def __init__(self, row: Row, record: dict[str, Any], names: Collection[str]) -> None:
        self.row = row
        self.runs: list[tuple[list[bytes], str]] = []  # a neighbour, the lines, a neighbour; and whose
        self.lines: dict[bytes, str] = {}
        self.pairs: set[tuple[bytes, bytes, bool]] = set()
        self.triples: set[tuple[bytes, bytes, bytes]] = set()
        for marks, author in _runs(record, names):
            self.runs.append((marks, author))
            for at in range(1, len(marks) - 1):
                before, line, after = marks[at - 1 : at + 2]
                self.lines[line] = author
                self.pairs.add((before, line, False))
                self.pairs.add((line, after, True))
                self.triples.add((before, line, after))

    def claim(self, marks: list[bytes], asked: dict[int, bool]) -> dict[int, tuple[float, str]]:
        """Which of the lines asked about (line → is it telling) are this record's, how surely, and whose.

        A line that tells something is known by itself. One that does not, such as a blank, is known by
        its place among the others; where that is taken it cannot be this record's.
        """
        claims: dict[int, tuple[float, str]] = {}
        spare: dict[bytes, int] = {}
        present = {marks[at + 1] for at in asked}
        # A run lies anywhere in the file: its ends must not be drawn to the file's ends.
        text = [b"(", *marks[1:-1], b")"]
        for run, author in self.runs:
            if present.isdisjoint(run[1:-1]):
                continue
            for mark in run[1:-1]:
                spare[mark] = spare.get(mark, 0) + 1
            for i, j, count in match([b"[", *run, b"]"], text):
                sure = count > 2 or any(asked.get(at - 1) for at in range(j, j + count))
                for n in range(count):
                    at, own_at = j + n - 1, i + n - 1
                    level = self._recognise(*marks[at : at + 3])
                    if (sure or level == TRIGRAM) and at in asked and 0 < own_at < len(run) - 1:
                        spare[run[own_at]] -= 1
                        claims[at] = (level, author)
        for at, telling in asked.items():
            mark = marks[at + 1]
            if at in claims or mark not in self.lines:
                continue
            if telling:
                claims[at] = (self._recognise(*marks[at : at + 3]), self.lines[mark])
            elif spare.get(mark, 0) > 0:
                claims[at] = (PLAIN, self.lines[mark])
        return claims

    def _recognise(self, before: bytes, line: bytes, after: bytes) -> float:
        if (before, line, after) in self.triples:
            return TRIGRAM
        if (before, line, False) in self.pairs or (line, after, True) in self.pairs:
            return BIGRAM
        return UNIGRAM


class Clone:
    """A repository's history read together with its ledger."""

    def __init__(self, repo: Repo, catalog: Catalog, skip: Callable[[Row], bool] = lambda row: False) -> None:
        self.repo = repo
        self.catalog = catalog
        self.skip = skip
        self._objects: dict[str, bytes | None] = {}

    def judge(
        self,
        path: str,
        data: bytes,
        wanted: Collection[int],
        formers: Callable[[str], Sequence[str]] = lambda path: (),
    ) -> dict[int, Verdict]:
        """A verdict for each wanted line (from 0) of a file that now holds `data`.

        `formers` tells the names it had before; it is asked when the last commit does not know the file.
        """
        lines = split(data)
        (head,) = read_objects(self.repo, [f"HEAD:{path}"])
        if head is None:
            names = formers(path)
            heads = zip(names, read_objects(self.repo, [f"HEAD:{name}" for name in names]), strict=True)
            path, head = next((known for known in heads if known[1] is not None), (path, None))
        if head is None:
            return {at: Verdict("human", 0.5, note="the file is not committed") for at in wanted}
        there: dict[int, int] = {}
        for i, j, count in match(strip(split(head)), strip(lines)):
            there |= {j + n: i + n for n in range(count)}
        found = {
            at: Verdict("human", 0.9, note="changed since the last commit")
            for at in wanted
            if at not in there
        }
        asked = {there[at]: at for at in wanted if at in there}
        blamed = self._blame(path, asked.keys())
        self._fetch([commit for commit, _ in blamed])
        for commit, places in blamed:
            verdicts = self._judge_commit(commit, set(places.values()))
            for at, origin in places.items():
                found[asked[at]] = verdicts[origin]
        return found

    def _blame(self, path: str, wanted: Collection[int]) -> list[tuple[Commit, dict[int, int]]]:
        """Commits that brought the wanted lines, each with line at HEAD → line in that commit."""
        if not wanted:
            return []
        spans = [part for start, end in _spans(wanted) for part in ("-L", f"{start + 1},{end + 1}")]
        output = run_git(
            self.repo, "blame", "-w", "--no-textconv", "--porcelain", *spans, "HEAD", "--", path, seconds=120
        )  # fmt: skip
        facts: dict[str, dict[str, str]] = {}
        places: dict[tuple[str, str], dict[int, int]] = {}
        sha = ""
        origin = final = 0
        for line in (output or b"").split(b"\n"):
            text = os.fsdecode(line)
            if text.startswith("\t"):
                if final - 1 in wanted:
                    places.setdefault((sha, facts[sha]["filename"]), {})[final - 1] = origin - 1
            elif header := re.match(r"([0-9a-f]{40,64}) (\d+) (\d+)", text):
                sha, origin, final = header[1], int(header[2]), int(header[3])
                facts.setdefault(sha, {})
            elif text:
                key, _, value = text.partition(" ")
                facts[sha][key] = _unquote(value) if key == "filename" else value
        return [(_commit(sha, path, facts[sha]), lines) for (sha, path), lines in places.items()]

    def _judge_commit(self, commit: Commit, wanted: set[int]) -> dict[int, Verdict]:
        new = split(self._objects[f"{commit.sha}:{commit.path}"] or b"")
        old = split(self._objects[f"{commit.previous}:{commit.previous_path}"] or b"")
        keys = strip(new)
        introduced = set(range(len(new)))
        for _, j, count in match(strip(old), keys):
            introduced.difference_update(range(j, j + count))
        introduced |= wanted
        marks = [EDGE, *map(fingerprint, keys), EDGE]
        asked = {at: len(keys[at]) >= _TELLING for at in sorted(introduced) if at < len(keys)}
        names = {clean(commit.path), clean(commit.previous_path)} - {""}
        candidates = self._candidates(commit, names)
        claims = [(prints.row.n, prints.claim(marks, asked)) for prints in candidates]
        rest = {at: telling for at, telling in asked.items() if not any(at in claim for _, claim in claims)}
        older = self._older(commit, names, marks, rest, {fingerprint(key) for key in strip(old)})
        for prints in older:
            claim = prints.claim(marks, rest)
            weaker = {at: (max(PLAIN, _OLDER * level), author) for at, (level, author) in claim.items()}
            claims.append((prints.row.n, weaker))
        unclaimed = self._unclaimed(commit)
        verdicts = dict.fromkeys(wanted, unclaimed)
        for at in asked:
            rivals = sorted(((claim[at], n) for n, claim in claims if at in claim), key=lambda r: -r[0][0])
            if not rivals:
                verdicts[at] = unclaimed
                continue
            (sure, author), best = rivals[0]
            equals = tuple(n for (level, _), n in rivals if level == sure)
            if sure > PLAIN:
                verdicts[at] = Verdict(author, sure, best, commit.sha, equals)
            else:
                verdicts[at] = Verdict("ambiguous", sure, 0, commit.sha, equals)
        for at in wanted:
            if verdicts[at].author == "ambiguous":
                verdicts[at] = _lean(at, verdicts)
        return {at: verdicts[at] for at in wanted}

    def _candidates(self, commit: Commit, names: Collection[str]) -> list[Prints]:
        """Records of the file from the time in which the commit was made, newest first."""
        since = min(_authored(self._objects[commit.previous]), commit.authored)
        rows = self.catalog.find_by_path(names, since, commit.committed + _SKEW)
        return [prints for row in rows if (prints := self._load(row, names))]

    def _older(
        self,
        commit: Commit,
        names: Collection[str],
        marks: list[bytes],
        rest: dict[int, bool],
        before: set[bytes],
    ) -> list[Prints]:
        """Older records of the file that brought lines in the same company, newest first.

        A change may wait long before it is merged. But a record whose lines mostly stood in the file
        already belongs to a commit before this one.
        """
        rows: dict[int, Row] = {}
        for at, telling in rest.items():
            if telling:
                for row in self.catalog.find_by_gram(gram(marks[at], marks[at + 1], marks[at + 2])):
                    if row.at <= commit.committed + _SKEW and self.catalog.paths(row.n) & set(names):
                        rows[row.n] = row
        come = {marks[at + 1] for at in rest}
        found = []
        for row in sorted(rows.values(), key=lambda row: (row.at, row.seq), reverse=True):
            prints = self._load(row, names)
            if prints and len(prints.lines.keys() & come) > len(prints.lines.keys() & before):
                found.append(prints)
        return found

    def _load(self, row: Row, names: Collection[str]) -> Prints | None:
        record = None if self.skip(row) else self.catalog.load(row.n)
        return Prints(row, record, names) if record is not None else None

    def _unclaimed(self, commit: Commit) -> Verdict:
        begins = self.catalog.begins()
        if begins is None or commit.committed < begins:
            return Verdict("unknown", 0.5, 0, commit.sha, note="committed before the ledger begins")
        return Verdict("human", 0.8, 0, commit.sha, note="no record claims it")

    def _fetch(self, commits: list[Commit]) -> None:
        """Read what judging these commits needs, all at once."""
        names = {
            name
            for commit in commits
            for name in (
                f"{commit.sha}:{commit.path}",
                f"{commit.previous}:{commit.previous_path}",
                commit.previous,
            )
        }
        wanted = sorted(names - self._objects.keys())
        self._objects |= dict(zip(wanted, read_objects(self.repo, wanted), strict=True))


def _authored(commit: bytes | None) -> float:
    found = re.search(rb"^author .*> (\d+) [+-]\d+$", commit or b"", re.MULTILINE)
    return float(found[1]) if found else float("-inf")


def _runs(record: dict[str, Any], names: Collection[str]) -> Iterator[tuple[list[bytes], str]]:
    """The fingerprints of each range a record has of some files, and who introduced it."""
    spans = {
        (str(file.get("path")), span["start_line"]): span.get(
            "contributor", conversation.get("contributor", {})
        )
        for file in record.get("files", ())
        for conversation in file["conversations"]
        for span in conversation["ranges"]
    }
    for detail in own(record).get("files", ()):
        path = str(detail.get("path"))
        if path in names:
            for start, packed in detail.get("lines", ()):
                yield unpack(packed), str(spans.get((path, start), {}).get("type", "unknown"))


def recognise(
    catalog: Catalog, path: str, data: bytes, wanted: Collection[int], skip: Callable[[Row], bool]
) -> dict[int, Verdict]:
    """Verdicts from the ledger alone, where there is no history: only lines with their neighbours count."""
    marks = [EDGE, *map(fingerprint, strip(split(data))), EDGE]
    name = clean(path)
    verdicts: dict[int, Verdict] = {}
    for at in wanted:
        rows = [
            row
            for row in catalog.find_by_gram(gram(marks[at], marks[at + 1], marks[at + 2]))
            if not skip(row)
        ]
        here = [row for row in rows if name in catalog.paths(row.n)]
        rivals = tuple(row.n for row in here or rows)
        if here:
            prints = Prints(here[0], catalog.load(here[0].n) or {}, {name})
            author = prints.lines.get(marks[at + 1], "unknown")
            verdicts[at] = Verdict(author, PLAIN, here[0].n, candidates=rivals)
        elif rows:
            verdicts[at] = Verdict("ambiguous", PLAIN, candidates=rivals, note="recorded in another file")
        else:
            verdicts[at] = Verdict("unknown", 0.5, note="no record claims it, and there is no history to ask")
    return verdicts


def _lean(at: int, verdicts: dict[int, Verdict]) -> Verdict:
    """What a line too plain to tell inherits from its neighbours, if they agree."""
    sides = []
    for step in (-1, 1):
        near = at + step
        while near in verdicts and verdicts[near].author == "ambiguous":
            near += step
        if near in verdicts:
            sides.append((verdicts[near].author, verdicts[near].record))
    own_verdict = verdicts[at]
    if sides and all(side == sides[0] for side in sides):
        author, record = sides[0]
        return Verdict(author, PLAIN, record, own_verdict.commit, own_verdict.candidates, "as its neighbours")
    return own_verdict


def _commit(sha: str, path: str, facts: dict[str, str]) -> Commit:
    previous, _, name = facts.get("previous", "").partition(" ")
    times = float(facts["author-time"]), float(facts["committer-time"])
    return Commit(sha, *times, path, previous, _unquote(name))


def _unquote(name: str) -> str:
    """A path as git prints it, quoted where it holds a quote, a backslash or a control character."""
    if not name.startswith('"'):
        return name
    plain = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}

    def undo(found: re.Match[bytes]) -> bytes:
        code = found[1].decode("ascii")
        return bytes([int(code, 8) if code.isdigit() else plain.get(code, ord(code))])

    return os.fsdecode(re.sub(rb'\\([0-7]{3}|[abtnvfr"\\])', undo, os.fsencode(name[1:-1])))


def _spans(wanted: Collection[int]) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for at in sorted(wanted):
        if spans and spans[-1][1] == at - 1:
            spans[-1] = (spans[-1][0], at)
        else:
            spans.append((at, at))
    return spans

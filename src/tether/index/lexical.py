"""The lexical lanes: words, symbols and paths, weighed by file, then by passage within the best files."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections.abc import Container, Mapping
from typing import Final

from tether.index import traits
from tether.index.query import Query
from tether.index.segment import SCALE, Postings
from tether.index.store import FileRow, Store
from tether.index.terms import Lexicon
from tether.types import noun

CANDIDATES: Final = 150  # files looked at closely
REPORT_CANDIDATES: Final = 400

# Weights, chosen on public questions about 21 repositories; each stays near its best over a wide range.
FILE: Final = 0.2  # the whole file's words, beside its best passage
NEIGHBOURS: Final = 0.4  # its next three passages
COVERAGE: Final = 0.3  # how much of the question the file holds at all
STEM: Final = 2.0  # the file goes by a word of the question
DEFINES: Final = 0.5  # the file defines a name of the question
OUTER: Final = 1.0  # … at its top level
NAMESAKE: Final = 2.0  # … and goes by that name
NAMED: Final = 1.0  # the question names the file
MODULE: Final = 0.3  # the question names it as a module

PENALTIES: Final = (
    (traits.TEST, 0.4),
    (traits.EXAMPLE, 0.5),
    (traits.VENDORED, 0.6),
    (traits.DOCUMENT, 0.5),
    (traits.DATA, 0.5),
)


@noun
class Candidate:
    """A file that may answer, the passage that speaks for it, and why it is thought of."""

    file: FileRow
    passage: int
    score: float
    lanes: dict[str, float]  # what each lane gave


def rank_lexically(
    store: Store, query: Query, lexicon: Lexicon, *, allowed: Container[int] | None = None, limit: int = 50
) -> list[Candidate]:
    """The best files for a question, best first, each with its best passage."""
    segments, dead = store.segments()
    total = store.total_files()
    found: dict[str, tuple[float, list[Postings]]] = {}
    for term, weight in query.terms.items():
        key = term.encode()
        postings = [p for segment in segments if (p := segment.find(key)) is not None]
        if postings:
            held = sum(len(p.files) for p in postings)
            found[term] = (weight * _rarity(held, total), postings)
    whole = _weigh_files(found)
    names = _find_names(store, query)
    paths = _find_paths(store, query)
    modules = _find_modules(store, query)
    for extra in (names, paths, modules):
        for file in extra:
            whole.setdefault(file, 0.0)
    if dead:
        for file in dead & whole.keys():
            del whole[file]
    pool = whole.items() if allowed is None else ((f, v) for f, v in whole.items() if f in allowed)
    closest = heapq.nlargest(REPORT_CANDIDATES if query.is_report else CANDIDATES, pool, key=_second)
    for extra in (names, paths, modules):
        closest += [(f, whole[f]) for f in extra if f in whole and (allowed is None or f in allowed)]
    near = dict(closest)
    if not near:
        return []
    files = store.files(near)
    passages = {file: _weigh_passages(file, found) for file in near}
    best_file = max(near.values()) or 1.0
    best_passage = max((p[0][1] for p, _ in passages.values() if p), default=0.0) or 1.0
    asked = sum(weight for weight, _ in found.values()) or 1.0
    parts: dict[int, dict[str, float]] = {}
    for file in files:
        spots, covered = passages[file]
        near_by = sum(weight for _, weight in spots[:4])
        best = spots[0][1] if spots else 0.0
        parts[file] = {
            "lexical": (best + NEIGHBOURS * (near_by - best)) / best_passage
            + FILE * near[file] / best_file
            + COVERAGE * covered / asked
        }
    unit = max(part["lexical"] for part in parts.values()) or 1.0
    ranked = []
    for file, part in parts.items():
        row = files[file]
        stem = _match_stem(row.path, query, found, asked, total, lexicon)
        if stem:
            part["stem"] = unit * STEM * stem
        if file in names:
            part["symbol"] = unit * DEFINES * names[file]
        if file in paths:
            part["path"] = unit * NAMED * paths[file]
        if file in modules:
            part["module"] = unit * MODULE * modules[file]
        score = sum(part.values())
        score *= _penalty(row.traits, query.wants_tests)
        spots = passages[file][0]
        ranked.append(Candidate(row, spots[0][0] if spots else 0, score, part))
    ranked.sort(key=lambda candidate: (-candidate.score, candidate.file.path))
    return ranked[:limit]


def _second(pair: tuple[int, float]) -> float:
    return pair[1]


def _rarity(held: int, total: int) -> float:
    return math.log(1 + max(0.0, total - held + 0.5) / (held + 0.5))


def _penalty(bits: int, wants_tests: bool) -> float:
    factor = 1.0
    for trait, penalty in PENALTIES:
        if bits & trait and not (wants_tests and trait == traits.TEST):
            factor *= penalty
    return factor


def _weigh_files(found: Mapping[str, tuple[float, list[Postings]]]) -> dict[int, float]:
    whole: dict[int, float] = {}
    get = whole.get
    for weight, postings in found.values():
        unit = weight / SCALE
        for files, _, weights, _, _ in postings:
            for file, amount in zip(files, weights, strict=True):
                whole[file] = get(file, 0.0) + unit * amount
    return whole


def _weigh_passages(
    file: int, found: Mapping[str, tuple[float, list[Postings]]]
) -> tuple[list[tuple[int, float]], float]:
    """A file's passages, best first, and how much of the question the file holds."""
    spots: dict[int, float] = {}
    covered = 0.0
    for weight, postings in found.values():
        for files, starts, _, passages, within in postings:
            at = bisect_left(files, file)
            if at < len(files) and files[at] == file:
                covered += weight
                unit = weight / SCALE
                for place in range(starts[at], starts[at + 1]):
                    passage = passages[place]
                    spots[passage] = spots.get(passage, 0.0) + unit * within[place]
    return sorted(spots.items(), key=lambda item: (-item[1], item[0])), covered


def _match_stem(
    path: str,
    query: Query,
    found: Mapping[str, tuple[float, list[Postings]]],
    asked: float,
    total: int,
    lexicon: Lexicon,
) -> float:
    """How far a file goes by words of the question: of its name, and of the question's weight."""
    terms = lexicon.count(traits.stem_of(path))
    matched = sum(found[term][0] for term in terms if term in found)
    if not matched:
        return 0.0
    own = sum(found[term][0] if term in found else _rarity(1, total) for term in terms)
    return math.sqrt(min(1.0, matched / own) * min(1.0, matched / asked))


def _find_names(store: Store, query: Query) -> dict[int, float]:
    """Files that define names of the question."""
    found: dict[int, float] = {}
    for name, weight in query.names.items():
        rows = store.db.execute(
            "SELECT file, name, qualified, end_line > start_line FROM symbol WHERE folded = ? LIMIT 500",
            (name.lower(),),
        ).fetchall()
        exact = [row for row in rows if row[1] == name]
        scale = 1.0 if exact else 0.5
        places: dict[int, float] = {}
        for file, _, qualified, several in exact or rows:
            places[file] = max(places.get(file, 0.0), 1 + OUTER * (qualified == name and bool(several)))
        bare = "".join(filter(str.isalnum, name.lower()))
        for file, row in store.files(places).items():
            stem = "".join(filter(str.isalnum, traits.stem_of(row.path).lower()))
            amount = places[file] + NAMESAKE * (stem == bare)
            found[file] = found.get(file, 0.0) + scale * weight * amount / math.sqrt(len(places))
    return found


def _find_paths(store: Store, query: Query) -> dict[int, float]:
    """Files the question names, the more certainly the longer the part of the path that agrees."""
    found: dict[int, float] = {}
    for path in query.paths:
        parts = path.lower().split("/")
        alike: dict[int, int] = {}
        for file, real in store.db.execute(
            "SELECT id, path FROM file WHERE name = ? LIMIT 500", (parts[-1],)
        ):
            same = 0
            for mine, theirs in zip(reversed(parts), reversed(real.lower().split("/")), strict=False):
                if mine != theirs:
                    break
                same += 1
            alike[file] = same
        longest = max(alike.values(), default=0)
        if longest < min(3, len(parts)):
            continue  # `conf/settings.py` of the reporter's own project is not ours
        best = [file for file, same in alike.items() if same == longest]
        for file in best:
            found[file] = max(found.get(file, 0.0), 1 / len(best))
    return found


def _find_modules(store: Store, query: Query) -> dict[int, float]:
    """Files that dotted names lead to: `package.module.name` to `package/module.*`."""
    found: dict[int, float] = {}
    for parts in query.modules:
        low = [part.lower() for part in parts]
        for end in range(len(low), 1, -1):
            rows = store.db.execute(
                "SELECT id, path FROM file WHERE stem = ? LIMIT 500", (low[end - 1],)
            ).fetchall()
            tail = "/".join(low[:end])
            best = [file for file, path in rows if _leads_to(path.lower(), tail, low[end - 2])]
            if best:
                for file in best:
                    found[file] = max(found.get(file, 0.0), 1 / len(best))
                break
    return found


def _leads_to(path: str, tail: str, folder: str) -> bool:
    bare = path.rsplit(".", 1)[0]
    if bare.rsplit("/", 1)[-1] in traits.FACADES:
        bare = bare.rpartition("/")[0]
    return bare == tail or bare.endswith("/" + tail) or bare.rpartition("/")[0].rsplit("/", 1)[-1] == folder

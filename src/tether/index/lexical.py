"""The lexical lanes: words, symbols and paths, weighed by file, then by passage within the best files."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections.abc import Container, Mapping, Sequence
from typing import Final

from tether.index import traits
from tether.index.query import Query
from tether.index.segment import SCALE, Postings
from tether.index.store import FileRow, Store
from tether.index.terms import Lexicon
from tether.types import noun, replace

CANDIDATES: Final = 150  # files looked at closely
REPORT_CANDIDATES: Final = 400
CLOSE: Final = 60  # files whose passages are weighed

# Weights, chosen on public questions about 21 repositories; each stays near its best over a wide range.
FILE: Final = 0.2  # the whole file's words, beside its best passage
NEIGHBOURS: Final = 0.4  # its next three passages
COVERAGE: Final = 0.3  # how much of the question the file holds at all
STEM: Final = 2.0  # the file goes by a word of the question
DEFINES: Final = 0.5  # the file defines a name of the question
OUTER: Final = 1.0  # … at its top level
NAMESAKE: Final = 2.0  # … and goes by that name
NAMED: Final = 1.0  # the question names the file
SURE: Final = 0.5  # a name this certain also says which fragment is meant
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
    line: int = 0  # where it surely defines a name of the question


Found = dict[str, tuple[float, list[Postings]]]  # of each term: its weight, and where it stands


def rank_lexically(
    store: Store, query: Query, lexicon: Lexicon, *, allowed: Container[int] | None = None, limit: int = 50
) -> list[Candidate]:
    """The best files for a question, best first, each with its best passage."""
    segments, dead = store.segments()
    total = store.total_files()
    found: Found = {}
    for term, weight in query.terms.items():
        key = term.encode()
        postings = [p for segment in segments if (p := segment.find(key)) is not None]
        if postings:
            found[term] = (weight * _rarity(sum(len(p.files) for p in postings), total), postings)
    whole = _weigh_files(found)
    defined, lines = _find_names(store, query)
    lanes = {
        "symbol": _scale(defined, DEFINES),
        "path": _scale(_find_paths(store, query), NAMED),
        "module": _scale(_find_modules(store, query), MODULE),
    }
    for lane in lanes.values():
        for file in lane:
            whole.setdefault(file, 0.0)
    for file in dead & whole.keys():
        del whole[file]
    pool = whole.items() if allowed is None else [item for item in whole.items() if item[0] in allowed]
    near = dict(heapq.nlargest(REPORT_CANDIDATES if query.is_report else CANDIDATES, pool, key=_second))
    for lane in lanes.values():
        near.update((f, whole[f]) for f in lane if f in whole and (allowed is None or f in allowed))
    files = store.files(near)
    if not files:
        return []
    asked = sum(weight for weight, _ in found.values()) or 1.0
    lanes["stem"] = {
        file: STEM * match
        for file, row in files.items()
        if (match := _match_stem(_stem_terms(store, row, lexicon), found, asked, total))
    }
    close = _preselect(near, lanes, files, max(CLOSE, 2 * limit))
    ranked = _rank_closely(close, near, found, lanes, files, query, asked)[:limit]
    return [replace(one, line=lines[one.file.id]) if one.file.id in lines else one for one in ranked]


def _preselect(
    near: Mapping[int, float],
    lanes: Mapping[str, Mapping[int, float]],
    files: Mapping[int, FileRow],
    many: int,
) -> list[int]:
    """The files whose passages are worth weighing, judged by all that is known without them."""
    if len(files) <= many:
        return list(files)
    top = max(near.values()) or 1.0
    guess = {file: near[file] / top + sum(lane.get(file, 0.0) for lane in lanes.values()) for file in files}
    return heapq.nlargest(many, files, key=guess.__getitem__)


def _rank_closely(
    close: Sequence[int],
    near: Mapping[int, float],
    found: Found,
    lanes: Mapping[str, Mapping[int, float]],
    files: Mapping[int, FileRow],
    query: Query,
    asked: float,
) -> list[Candidate]:
    passages = {file: _weigh_passages(file, found) for file in close}
    best_file = max(near.values()) or 1.0
    best_passage = max((spots[0][1] for spots, _ in passages.values() if spots), default=0.0) or 1.0
    words: dict[int, float] = {}
    for file, (spots, covered) in passages.items():
        best = spots[0][1] if spots else 0.0
        beside = sum([weight for _, weight in spots[1:4]])
        words[file] = (
            (best + NEIGHBOURS * beside) / best_passage
            + FILE * near[file] / best_file
            + COVERAGE * covered / asked
        )
    unit = max(words.values()) or 1.0
    ranked = []
    for file, score in words.items():
        parts = {"lexical": score}
        for name, lane in lanes.items():
            if file in lane:
                parts[name] = unit * lane[file]
        row, spots = files[file], passages[file][0]
        score = sum(parts.values()) * penalty_of(row.traits, query.wants_tests)
        ranked.append((-score, row.path, row, spots[0][0] if spots else 0, parts))
    ranked.sort(key=lambda item: item[:2])
    return [Candidate(row, passage, -score, parts) for score, _, row, passage, parts in ranked]


def _scale(lane: Mapping[int, float], weight: float) -> dict[int, float]:
    return {file: weight * amount for file, amount in lane.items()}


_DEFINED: Final = "SELECT file, name, qualified, start_line, end_line FROM symbol WHERE folded = ? LIMIT 500"


def _second(pair: tuple[int, float]) -> float:
    return pair[1]


def _rarity(held: int, total: int) -> float:
    return math.log(1 + max(0.0, total - held + 0.5) / (held + 0.5))


def penalty_of(bits: int, wants_tests: bool) -> float:
    """What a file's traits take from its score: tests, examples, vendored code, documents, data."""
    factor = 1.0
    for trait, penalty in PENALTIES:
        if bits & trait and not (wants_tests and trait == traits.TEST):
            factor *= penalty
    return factor


def _weigh_files(found: Found) -> dict[int, float]:
    whole: dict[int, float] = {}
    get = whole.get
    for weight, postings in found.values():
        unit = weight / SCALE
        for files, _, weights, _, _ in postings:
            for file, amount in zip(files, weights, strict=True):
                whole[file] = get(file, 0.0) + unit * amount
    return whole


def _weigh_passages(file: int, found: Found) -> tuple[list[tuple[int, float]], float]:
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


def _stem_terms(store: Store, row: FileRow, lexicon: Lexicon) -> tuple[str, ...]:
    """The terms of the word a file goes by, remembered while the index stays as it is."""
    terms = store.stems.get(row.id)
    if terms is None:
        terms = store.stems[row.id] = tuple(lexicon.count(traits.stem_of(row.path)))
    return terms


def _match_stem(terms: Sequence[str], found: Found, asked: float, total: int) -> float:
    """How far a file goes by words of the question: of its name, and of the question's weight."""
    matched = own = 0.0
    for term in terms:
        if term in found:
            matched += found[term][0]
    if not matched:
        return 0.0
    for term in terms:
        own += found[term][0] if term in found else _rarity(1, total)
    return math.sqrt(min(1.0, matched / own) * min(1.0, matched / asked))


def _find_names(store: Store, query: Query) -> tuple[dict[int, float], dict[int, int]]:
    """Files that define names of the question, and the line of the surest definition in each."""
    found: dict[int, float] = {}
    lines: dict[int, tuple[float, int]] = {}
    for name, weight in query.names.items():
        rows = store.db.execute(_DEFINED, (name.lower(),)).fetchall()
        exact = [row for row in rows if row[1] == name]
        scale = 1.0 if exact else 0.5
        places: dict[int, tuple[float, int]] = {}
        for file, _, qualified, start, end in exact or rows:
            amount = 1 + OUTER * (qualified == name and end > start)
            if amount > places.get(file, (0.0, 0))[0]:
                places[file] = (amount, start)
        bare = "".join(filter(str.isalnum, name.lower()))
        for file, row in store.files(places).items():
            amount, start = places[file]
            stem = "".join(filter(str.isalnum, traits.stem_of(row.path).lower()))
            share = scale * weight * (amount + NAMESAKE * (stem == bare)) / math.sqrt(len(places))
            found[file] = found.get(file, 0.0) + share
            if weight * scale >= SURE and share > lines.get(file, (0.0, 0))[0]:
                lines[file] = (share, start)
    return found, {file: line for file, (_, line) in lines.items()}


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

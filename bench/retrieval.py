"""Search quality on questions with known answers: NDCG@10, recall@5, MRR.

    python -m bench.retrieval --repos DIR --data questions.json [--only flask,zod]

DIR/<name> holds each repository of the data at its commit. The data is a list of
`{name, root, k?, tasks: [{query, category, targets: [{path, start_line?, end_line?}]}]}`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Sequence
from typing import Any

from tether.index.home import open_index

Place = tuple[str, int, int]


def find_rank(results: Sequence[Place], target: dict[str, Any]) -> int | None:
    """The place of the first result that is the target and, if it has lines, meets them."""
    wanted = target["path"]
    for place, (path, start, end) in enumerate(results, 1):
        if path == wanted or path.endswith("/" + wanted) or wanted.endswith("/" + path):
            low, high = target.get("start_line"), target.get("end_line")
            if low is None or high is None or not (end < low or start > high):
                return place
    return None


def gain(ranks: Sequence[int], targets: int) -> float:
    """NDCG@10."""
    got = sum(1 / math.log2(rank + 1) for rank in set(ranks) if rank <= 10)
    return got / sum(1 / math.log2(place + 1) for place in range(1, min(10, targets) + 1))


def score(repos: str, data: Sequence[dict[str, Any]], only: frozenset[str] = frozenset()) -> dict[str, float]:
    """Index each repository, ask every question, and average."""
    by_repo, recall, first, spent = [], [], [], []
    for repo in data:
        if only and repo["name"] not in only:
            continue
        gains = []
        with open_index(os.path.join(repos, repo["name"], repo["root"])) as index:
            index.index()
            for task in repo["tasks"]:
                began = time.perf_counter()
                hits = index.search(task["query"], repo.get("k", 10)).hits
                spent.append((time.perf_counter() - began) * 1000)
                places = [(hit.file_path, hit.start_line, hit.end_line) for hit in hits]
                ranks = [rank for target in task["targets"] if (rank := find_rank(places, target))]
                gains.append(gain(ranks, len(task["targets"])))
                recall.append(sum(rank <= 5 for rank in ranks) / len(task["targets"]))
                first.append(1 / min(ranks) if ranks else 0.0)
        by_repo.append(statistics.fmean(gains))
        print(f"{repo['name']:<32} {by_repo[-1]:.3f}", file=sys.stderr)
    return {
        "ndcg10": statistics.fmean(by_repo),
        "recall5": statistics.fmean(recall),
        "mrr": statistics.fmean(first),
        "query_ms_p50": statistics.median(spent),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repos", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    with open(args.data, encoding="utf-8") as file:
        data = json.load(file)
    for name, value in score(args.repos, data, frozenset(filter(None, args.only.split(",")))).items():
        print(f"{name:<14} {value:.4f}")


if __name__ == "__main__":
    main()

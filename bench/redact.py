"""What finding secrets, walking a tree and counting tokens cost, and how well secrets are found.

    python -m bench.redact [TREE]

TREE is any directory with many files; without one, the running Python's own library. Each cost is a ratio of
CPU time to a peer's in the same run, best of five: walking against `rg --files` (left out where there is no
`rg`), redacting and counting against the exact tokenizer on the same text.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable

from tether.source.redact import find, redact
from tether.source.tokens import TokenCache, tokenizer
from tether.source.walk import collect, walk

TEXT_LIMIT = 8_000_000


def cpu(work: Callable[[], object], times: int = 5) -> float:
    """The least CPU seconds, of this process and its children, that `work` took."""
    best = float("inf")
    for _ in range(times):
        before = _spent()
        work()
        best = min(best, _spent() - before)
    return best


def _spent() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measure_walk(tree: str) -> None:
    """Listing and classifying `tree` against ripgrep's listing of it."""
    listed = cpu(lambda: collect(tree, exclude=(), read=False))
    judged = cpu(lambda: collect(tree, exclude=()))
    walked = collect(tree, exclude=())
    print(f"walk: {len(walked.files)} files, set aside {dict(sorted(walked.skipped.items()))}")
    rg = shutil.which("rg")
    if rg is None:
        print(f"walk: {listed:.3f} s listing, {judged:.3f} s with heads read (no rg here)")
        return
    peer = cpu(
        lambda: subprocess.run([rg, "--files", "--hidden", tree], stdout=subprocess.DEVNULL, check=False)
    )
    print(f"walk: listing {listed / peer:.2f} × rg --files (bound 3), with heads read {judged / peer:.2f} ×")


def read_texts(tree: str) -> list[str]:
    """Text files of `tree`, up to a few megabytes of them."""
    texts: list[str] = []
    size = 0
    for found in walk(tree):
        if found.reason is None:
            with open(os.path.join(tree, found.path), encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
            size += len(texts[-1])
            if size > TEXT_LIMIT:
                break
    return texts


def measure_text(texts: list[str]) -> None:
    """Redacting, counting and counting again from the cache, on the same text."""
    size = sum(map(len, texts)) / 1e6
    lines = sum(text.count("\n") for text in texts)
    counter = tokenizer()
    counter.count("")
    counted = cpu(lambda: [counter.count(text) for text in texts], 3)
    redacted = cpu(lambda: [redact(text) for text in texts], 3)
    found = sum(len(find(text)) for text in texts)
    print(f"redact: {redacted / counted:.2f} × exact tokenising, {size / redacted:.1f} MB/s")
    print(f"redact: {found} findings in {lines} lines ({found / max(1, lines) * 1000:.3f} per thousand)")
    with tempfile.TemporaryDirectory() as folder:
        cache = TokenCache(os.path.join(folder, "tokens.db"))
        cache.count_many(texts, counter)
        warm = cpu(lambda: cache.count_many(texts, counter), 3)
        cache.close()
    print(f"tokens: from the cache {warm / counted:.3f} × counting; counting {size / counted:.1f} MB/s")
    quiet = "def main():\n    return 1 + foo(bar)\n" * 30
    times = 300
    plain = cpu(lambda: [quiet.encode() for _ in range(times)], 3) or 1e-9
    scan = cpu(lambda: [find(quiet) for _ in range(times)], 3)
    print(f"redact: {scan / times * 1e6:.0f} µs for {len(quiet)} characters without a trigger", end=" ")
    print(f"({scan / plain:.0f} × encoding them)")


def measure_quality() -> None:
    """Recall and false alarms on the corpora of the tests."""
    from tests.source.secrets import fresh, lookalikes, true
    from tests.source.secrets.scoring import half, leaks

    parts = {
        "tuned half": ("tuned", true.cases(), lookalikes.cases()),
        "held half": ("held", true.cases(), lookalikes.cases()),
        "second corpus": ("", fresh.true_cases(), fresh.lookalike_cases()),
    }
    for title, (part, secrets, others) in parts.items():
        cases = [case for case in secrets if not part or half(case[0]) == part]
        quiet = [case for case in others if not part or half(case) == part]
        hits = sum(not leaks(text, secret) for text, secret in cases)
        alarms = sum(bool(find(text)) for text in quiet)
        print(f"{title}: {hits} of {len(cases)} secrets found, {alarms} of {len(quiet)} look-alikes")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tree", nargs="?", default=os.path.dirname(os.__file__))
    tree = parser.parse_args().tree
    measure_quality()
    measure_walk(tree)
    measure_text(read_texts(tree))


if __name__ == "__main__":
    main()

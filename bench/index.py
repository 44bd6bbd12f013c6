"""The index against its peers and bounds: cold, warm, one question, one file, one vector scan, growth.

Real code: this interpreter's own library. `TETHER_BENCH_SEMBLE` names a Python that has semble installed, which
is then run in its BM25 mode on the same tree; `rg` on the path is compared with where it exists.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator

from bench._row import Row
from tether.index.code import CodeIndex
from tether.index.home import open_index

QUESTIONS = (
    "parse an email header", "json decoder error position", "ThreadPoolExecutor", "how are sockets closed",
    "read zip central directory", "walk a directory tree", "format a traceback", "http client redirect",
    "compile a regular expression", "temporary file cleanup", "argument parser subcommands", "csv dialect",
    "event loop run forever", "urlparse", "heap push and pop", "locale encoding", "pickle protocol",
)  # fmt: skip

SEMBLE = """
import sys, time, numpy
from pathlib import Path
from semble.index.create import create_index_from_path
class Model:
    dim = 8
    def encode(self, texts, **_):
        return numpy.zeros((len(texts), 8), dtype=numpy.float32)
path = Path(sys.argv[1])
began, cpu = time.perf_counter(), time.process_time()
create_index_from_path(path, model=Model(), display_root=path)
print(time.perf_counter() - began, time.process_time() - cpu)
"""
COLD = """
import sys, time
from tether.index.code import CodeIndex
began, cpu = time.perf_counter(), time.process_time()
CodeIndex(sys.argv[1], folder=sys.argv[2]).index()
print(time.perf_counter() - began, time.process_time() - cpu)
import resource
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def copy_library(to: str, files: int) -> int:
    """The first Python files of the standard library, and after those the installed packages."""
    copied = 0
    for base in (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")):
        for folder, folders, names in os.walk(base):
            folders[:] = sorted(f for f in folders if f not in ("__pycache__", "site-packages", "lib2to3"))
            for name in sorted(names):
                if name.endswith(".py") and copied < files:
                    target = os.path.join(to, os.path.basename(base), os.path.relpath(folder, base))
                    os.makedirs(target, exist_ok=True)
                    shutil.copy2(os.path.join(folder, name), target)
                    copied += 1
    return copied


def best(times: int, work: Callable[[], object]) -> float:
    """The least time of several, in milliseconds: load only ever adds."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append((time.perf_counter() - began) * 1000)
    return min(found)


def run() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as scratch:
        tree = os.path.join(scratch, "tree")
        many = copy_library(tree, 600)
        yield from cold(tree, scratch)
        yield from warm(tree, many)
        yield from one_file(tree)
        yield from growth(scratch)
    yield from vectors()


def cold(tree: str, scratch: str) -> Iterator[Row]:
    """A first indexing in a new process, by processor time, interleaved with the peer's."""
    semble = os.environ.get("TETHER_BENCH_SEMBLE", "")
    mine, theirs = [], []
    for turn in range(3):
        folder = os.path.join(scratch, f"cold{turn}")
        done = subprocess.run(
            [sys.executable, "-c", COLD, tree, folder], check=True, capture_output=True, text=True
        )
        mine.append(float(done.stdout.split()[1]))
        peak = float(done.stdout.split()[2])
        if semble:
            done = subprocess.run([semble, "-c", SEMBLE, tree], check=True, capture_output=True, text=True)
            theirs.append(float(done.stdout.split()[1]))
    yield Row("peak memory of that", peak / 500, "500 MB", 1.0)
    if theirs:
        yield Row("index 600 files for the first time", min(mine) / min(theirs), "semble, BM25 mode", 1.5)


def warm(tree: str, many: int) -> Iterator[Row]:
    with CodeIndex(tree) as index:
        index.index()
    opened = best(10, lambda: open_ready(tree))
    yield Row("open a warm index, ready to answer", opened / 10, "10 ms", 1.0)
    with CodeIndex(tree) as index:
        for question in QUESTIONS:
            index.search(question)
        index.watched = True
        spent = [best(5, lambda q=question: index.search(q)) for question in QUESTIONS]  # type: ignore[misc]
        yield Row(f"a question in process, median ({many} files)", statistics.median(spent) / 2, "2 ms", 1.0)


def open_ready(tree: str) -> None:
    """Open an index as far as the first question needs it."""
    with open_index(tree) as index:
        store = index.store()
        assert store is not None and store.segments()[0]


def one_file(tree: str) -> Iterator[Row]:
    """Indexing one changed file again, against parsing and outlining it."""
    from tether.index.freshness import Changes
    from tether.source.outline import outline

    path = os.path.join(tree, os.path.basename(sysconfig.get_path("stdlib")), "argparse.py")
    with open(path, "rb") as file:
        data = file.read()
    with CodeIndex(tree) as index:
        index.index()
        index.lease.take(wait=5)
        name = os.path.relpath(path, index.root.path)
        turn = 0

        def again() -> None:
            nonlocal turn
            turn += 1
            with open(path, "wb") as file:
                file.write(data + f"\n# {turn}\n".encode())
            index.apply(Changes(changed=(name,)))

        spent = best(7, again)
    yield Row("index one changed file", spent / best(7, lambda: outline(data, "python")), "parsing it", 3.0)


def growth(scratch: str) -> Iterator[Row]:
    """The cost a byte at five times the size, and a whole process against grep on the larger tree."""
    rates = []
    for size in (1000, 5000):
        tree = os.path.join(scratch, f"grow{size}")
        many = copy_library(tree, size)
        with CodeIndex(tree) as index:
            began = time.process_time()
            index.index()
            total = sum(os.path.getsize(os.path.join(f, n)) for f, _, names in os.walk(tree) for n in names)
            rates.append((time.process_time() - began) / total)
    yield Row(f"cost a byte at {many} files", rates[1] / rates[0], "at 1,000 files", 1.5)
    rg = shutil.which("rg")
    if rg is not None:
        command = [sys.executable, "-m", "tether", "search", "-C", tree, "urlparse", "-k", "5"]
        search = best(7, lambda: subprocess.run(command, check=True, capture_output=True))
        grep = best(7, lambda: subprocess.run([rg, "-l", "urlparse", tree], check=True, capture_output=True))
        yield Row("`tether search` as a whole process", search / grep, "rg -l", 6.0)


def vectors() -> Iterator[Row]:
    """An exact scan of 100,000 vectors of 256 numbers."""
    try:
        import numpy
    except ImportError:
        return
    from tether.index.vectors import VectorStore

    rows = numpy.random.default_rng(1).normal(size=(100_000, 256)).astype(numpy.float32)
    with tempfile.TemporaryDirectory() as folder:
        store = VectorStore(folder)
        store.put("bench", [n.to_bytes(32, "big") for n in range(len(rows))], rows)
        (model,) = store.models()
        spent = best(7, lambda: store.scan(model, rows[7], 20))
        store.close()
    yield Row("scan 100,000 vectors exactly", spent / 50, "50 ms", 1.0)

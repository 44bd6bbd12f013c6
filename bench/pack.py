"""What a pack costs, beside programs that do the same job and the bounds nobody can beat.

    python -m bench.pack [--folder DIR] [--quick]

Each figure is CPU time, user and system, of whole processes of the same run, and peak memory. The job is:
walk the tree, read it, count exact tokens, write XML. `cold` remembers nothing, `warm` has packed it before.
"as peers" leaves out taking secrets out of contents, which only repomix also does in part; "default" has it.
Structure is compared by the definitions that can still be found in each file of the output.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator

from bench._row import Row
from bench.pack_peers import Peers, spend
from tether.pack.compose import Composer, Settings
from tether.pack.document import File
from tether.pack.engine import write_pack
from tether.pack.lenses import find_lens
from tether.pack.report import Run, finish
from tether.pack.shape import as_type, read_outline
from tether.pack.tokenizers import find_tokenizer
from tether.source.walk import walk

# -P: a tree that is a standard library must not stand in for the one we run on.
TETHER = (sys.executable, "-P", "-m", "tether.cli", "pack")
COUNT = (
    "import os, sys\n"
    "from tether.source.tokens import tokenizer\n"
    "count = tokenizer('o200k_base').count\n"
    "for path in sys.stdin.buffer.read().split(b'\\0'):\n"
    "    data = open(path, 'rb').read() if path else b''\n"
    "    if b'\\0' not in data[:8192] and len(data) <= 5 << 20:\n"
    "        count(data.decode('utf-8', 'replace'))\n"
)


def compare(what: str, ours: float, theirs: float, against: str, bound: float | None = None) -> Row:
    """Our figure as a ratio of another of the same run."""
    return Row(what, ours / theirs, f"{against} ({ours:.2f} / {theirs:.2f})", bound)


def measure_tree(name: str, tree: str, peers: Peers) -> Iterator[Row]:
    """The whole job on one tree."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "XDG_CACHE_HOME": folder, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        out = os.path.join(folder, "out")
        tether = [*TETHER, tree, "-o", out, "-q"]
        cold = spend([*tether, "--no-cache"], tree, env)
        plain = spend([*tether, "--no-cache", "--allow-sensitive"], tree, env)
        spend(tether, tree, env)
        warm = spend(tether, tree, env, times=3)
        repomix = spend([peers.node, peers.repomix, "--style", "xml", "-o", out, "--quiet", "."], tree)
        gitingest = spend([os.path.join(peers.bin, "gitingest"), ".", "-o", out], tree)
        prompt = spend([os.path.join(peers.bin, "files-to-prompt"), ".", "-o", out], tree)
        rg = os.path.join(peers.bin, "rg")
        bound = spend(["sh", "-c", f"{rg} --files --hidden -0 | xargs -0 cat > {out}"], tree, times=3)
        script = os.path.join(folder, "count.py")
        with open(script, "w") as file:
            file.write(COUNT)
        exact = spend(["sh", "-c", f"{rg} --files --hidden -0 | {sys.executable} {script}"], tree, env)
    floor = "tokenising + files-to-prompt, s"
    yield compare(f"{name}: cold, as peers", plain.cpu, exact.cpu + prompt.cpu, floor, 1.3)
    yield compare(f"{name}: cold, default", cold.cpu, exact.cpu + prompt.cpu, floor)
    yield compare(f"{name}: cold, default", cold.cpu, repomix.cpu, "repomix, s", 0.5)
    yield compare(f"{name}: cold, default", cold.cpu, gitingest.cpu, "gitingest, s")
    yield compare(f"{name}: warm, default", warm.cpu, bound.cpu, "rg | cat, s", 8)
    yield compare(f"{name}: warm, default", warm.cpu, repomix.cpu, "repomix, s", 0.1)
    yield compare(f"{name}: peak memory, cold, as peers", plain.peak, repomix.peak, "repomix, MB", 0.2)
    yield compare(f"{name}: peak memory, cold, default", cold.peak, repomix.peak, "repomix, MB", 0.2)
    yield compare(f"{name}: peak memory, warm, default", warm.peak, repomix.peak, "repomix, MB", 0.2)


def list_symbols(tree: str) -> dict[str, set[str]]:
    """The functions and classes each source file defines, as its parser sees them."""
    found: dict[str, set[str]] = {}
    for item in walk(tree):
        if item.reason is None and item.path.endswith((".py", ".ts", ".js")):
            with open(os.path.join(tree, item.path), "rb") as file:
                data = file.read()
            outline = read_outline(item.path, data)
            if outline is not None:
                found[item.path] = {s.name for s in outline.symbols if as_type(s)}
    return found


def count_kept(text: str, symbols: dict[str, set[str]]) -> int:
    """How many of the definitions a file's part of the output still names."""
    kept = 0
    parts = re.split(r'<file path="([^"]+)"', text)
    for path, body in zip(parts[1::2], parts[2::2], strict=True):
        words = set(re.findall(r"[\w$]+", body))
        kept += len(symbols.get(path, set()) & words)
    return kept


def measure_structure(name: str, tree: str, peers: Peers) -> Iterator[Row]:
    """Structure mode against `repomix --compress`, on the sources of one tree."""
    symbols = list_symbols(tree)
    count = find_tokenizer("o200k").count
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "XDG_CACHE_HOME": folder, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        ours, theirs = os.path.join(folder, "ours"), os.path.join(folder, "theirs")
        words = [*TETHER, tree, "-o", ours, "-q", "--truncate-mode", "structure"]
        for pattern in ("*.py", "*.ts", "*.js"):
            words += ["--include", pattern]
        cold = spend(words, tree, env)
        warm = spend(words, tree, env, times=3)
        compress = [peers.node, peers.repomix, *"--style xml --compress --quiet --include".split()]
        repomix = spend([*compress, "**/*.py,**/*.ts,**/*.js", "-o", theirs, "."], tree)
        with open(ours) as file:
            mine = file.read()
        with open(theirs) as file:
            other = file.read()
    against = "repomix --compress"
    yield compare(f"structure of {name}: tokens", count(mine), count(other), against, 1)
    total = sum(map(len, symbols.values()))
    lost = total - count_kept(mine, symbols), total - count_kept(other, symbols)
    what = f"structure of {name}: definitions lost of {total}"
    yield Row(what, lost[0] / max(1, lost[1]), f"{against} ({lost[0]} / {lost[1]})", 1)
    yield compare(f"structure of {name}: cold CPU", cold.cpu, repomix.cpu, against, 0.2)
    yield compare(f"structure of {name}: warm CPU", warm.cpu, repomix.cpu, against, 0.2)


def make_tree(folder: str, files: int) -> None:
    """Many files of real code: pieces of the standard library, about four kilobytes each."""
    sources = sorted(
        os.path.join(at, name)
        for at, _, names in os.walk(sysconfig.get_path("stdlib"))
        for name in names
        if name.endswith(".py") and "site-packages" not in at
    )
    made = 0
    while made < files:
        for path in sources:
            with open(path, errors="replace") as file:
                lines = file.read().splitlines(keepends=True)
            for start in range(0, len(lines), 120):
                if made >= files:
                    return
                target = os.path.join(folder, f"{made // 200:03}", f"piece_{made:05}.py")
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "w") as out:
                    out.write(f"# {made}\n" + "".join(lines[start : start + 120]))
                made += 1


def measure_formats(files: int, times: int = 3) -> Iterator[Row]:
    """XML against Plus/Minus on a tree of many files, and what the metadata costs."""
    with tempfile.TemporaryDirectory() as folder:
        tree, out = os.path.join(folder, "tree"), os.path.join(folder, "out")
        make_tree(tree, files)
        spent: dict[tuple[str, str], float] = {}
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        # In turns, so that load falls on both alike.
        for _ in range(times):
            for format_ in ("plus-minus", "claude-xml"):
                env["XDG_CACHE_HOME"] = os.path.join(folder, format_)
                words = [*TETHER, tree, "-o", out, "-q", "-f", format_]
                for state, extra in (("cold", ["--no-cache"]), ("filled", []), ("warm", [])):
                    took = spend([*words, *extra], tree, env).cpu
                    spent[state, format_] = min(took, spent.get((state, format_), took))
        for state in ("cold", "warm"):
            xml, plain = spent[state, "claude-xml"], spent[state, "plus-minus"]
            yield compare(f"claude-xml, {state}, {files} files", xml, plain, "plus-minus, s", 1.05)
        found = [item for item in walk(tree) if item.reason is None]
    memory: dict[bytes, tuple[object, ...]] = {}
    for lens in ("", "debug"):
        pieces = [File(item.path, lambda: b"x = 1\n") for item in found]
        settings = Settings(lens=find_lens(lens), tokenizer=find_tokenizer("o200k"))
        composer = Composer(settings, memory)
        done = write_pack(pieces, settings, lambda data: None, None, memory)
        best = min(_time(done, composer) for _ in range(20)) * 1000
        named = f"lens {lens}" if lens else "no lens"
        yield Row(f"metadata injection, {named}, {done.hot_files} hotspots", best, "1 ms", 1)


def _time(done: Run, composer: Composer) -> float:
    start = time.process_time()
    finish(done, composer, None, lambda: done.units)
    composer.format.head(done.report)
    return time.process_time() - start


FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "out", "pack")


def run(folder: str = FOLDER) -> Iterator[Row]:
    """Everything, on all trees; the peers are installed into `folder` first."""
    peers = Peers(folder)
    peers.install()
    trees = peers.trees()
    yield from measure_formats(10_000)
    for name, tree in trees.items():
        yield from measure_tree(name, tree, peers)
    for name, tree in trees.items():
        yield from measure_structure(name, tree, peers)


def main() -> None:
    """Print every ratio as it is measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--folder", default=FOLDER, help="where the peers and trees are kept")
    parser.add_argument("--quick", action="store_true", help="the formats alone, on fewer files")
    args = parser.parse_args()
    for row in measure_formats(1000, times=1) if args.quick else run(args.folder):
        bound = "" if row.bound is None else f"  target ≤ {row.bound:g}"
        print(f"{row.what:<58} {row.ratio:8.2f} ×  {row.against}{bound}", flush=True)


if __name__ == "__main__":
    main()

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
import shutil
import sys
import sysconfig
import tempfile
import time

from bench.pack_peers import Peers, run
from tether.pack.compose import Composer, Settings
from tether.pack.document import File
from tether.pack.engine import write_pack
from tether.pack.lenses import find_lens
from tether.pack.report import Run, finish
from tether.pack.shape import as_type, read_outline
from tether.pack.tokenizers import find_tokenizer
from tether.source.walk import walk

TETHER = (sys.executable, "-m", "tether.cli", "pack")
COUNT = (
    "import os, sys\n"
    "from tether.source.tokens import tokenizer\n"
    "count = tokenizer('o200k_base').count\n"
    "for path in sys.stdin.buffer.read().split(b'\\0'):\n"
    "    data = open(path, 'rb').read() if path else b''\n"
    "    if b'\\0' not in data[:8192] and len(data) <= 5 << 20:\n"
    "        count(data.decode('utf-8', 'replace'))\n"
)


def say(what: str, ours: float, theirs: float, target: str) -> None:
    """One line: our figure as a ratio of another of the same run."""
    print(f"  {what:<58} {ours / theirs:6.2f} ×   ({ours:.2f} / {theirs:.2f}; target {target})")


def measure_tree(name: str, tree: str, peers: Peers) -> None:
    """The whole job on one tree."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "XDG_CACHE_HOME": folder, "PYTHONPATH": os.pathsep.join(sys.path)}
        out = os.path.join(folder, "out")
        tether = [*TETHER, tree, "-o", out, "-q"]
        cold = run([*tether, "--no-cache"], tree, env)
        plain = run([*tether, "--no-cache", "--allow-sensitive"], tree, env)
        run(tether, tree, env)
        warm = run(tether, tree, env, times=3)
        repomix = run([peers.node, peers.repomix, "--style", "xml", "-o", out, "--quiet", "."], tree)
        gitingest = run([os.path.join(peers.bin, "gitingest"), ".", "-o", out], tree)
        prompt = run([os.path.join(peers.bin, "files-to-prompt"), ".", "-o", out], tree)
        rg = os.path.join(peers.bin, "rg")
        bound = run(["sh", "-c", f"{rg} --files --hidden -0 | xargs -0 cat > {out}"], tree, times=3)
        script = os.path.join(folder, "count.py")
        with open(script, "w") as file:
            file.write(COUNT)
        exact = run(["sh", "-c", f"{rg} --files --hidden -0 | {sys.executable} {script}"], tree, env)
    print(f"\n{name}: repomix {repomix.cpu:.2f} s {repomix.peak:.0f} MB, gitingest {gitingest.cpu:.2f} s "
          f"{gitingest.peak:.0f} MB, files-to-prompt {prompt.cpu:.2f} s, rg | cat {bound.cpu:.2f} s, "
          f"tokenising {exact.cpu:.2f} s")  # fmt: skip
    print(f"  tether: cold {cold.cpu:.2f} s {cold.peak:.0f} MB, "
          f"as peers {plain.cpu:.2f} s {plain.peak:.0f} MB, "
          f"warm {warm.cpu:.2f} s {warm.peak:.0f} MB")  # fmt: skip
    say("cold, as peers / (tokenising + files-to-prompt)", plain.cpu, exact.cpu + prompt.cpu, "≤ 1.3")
    say("cold, default / (tokenising + files-to-prompt)", cold.cpu, exact.cpu + prompt.cpu, "none")
    say("cold, default / repomix", cold.cpu, repomix.cpu, "≤ 0.5")
    say("cold, default / gitingest", cold.cpu, gitingest.cpu, "none")
    say("warm, default / (rg | cat)", warm.cpu, bound.cpu, "≤ 8")
    say("warm, default / repomix", warm.cpu, repomix.cpu, "≤ 0.1")
    say("peak memory, cold, default / repomix", cold.peak, repomix.peak, "≤ 0.2")
    say("peak memory, warm, default / repomix", warm.peak, repomix.peak, "≤ 0.2")


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


def measure_structure(name: str, tree: str, peers: Peers) -> None:
    """Structure mode against `repomix --compress`, on the sources of one tree."""
    symbols = list_symbols(tree)
    total = sum(map(len, symbols.values()))
    count = find_tokenizer("o200k").count
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "XDG_CACHE_HOME": folder, "PYTHONPATH": os.pathsep.join(sys.path)}
        ours, theirs = os.path.join(folder, "ours"), os.path.join(folder, "theirs")
        words = [*TETHER, tree, "-o", ours, "-q", "--truncate-mode", "structure"]
        for pattern in ("*.py", "*.ts", "*.js"):
            words += ["--include", pattern]
        cold = run(words, tree, env)
        warm = run(words, tree, env, times=3)
        patterns = "**/*.py,**/*.ts,**/*.js"
        compress = [
            peers.node,
            peers.repomix,
            "--style",
            "xml",
            "--compress",
            "--quiet",
            "--include",
            patterns,
        ]
        repomix = run([*compress, "-o", theirs, "."], tree)
        with open(ours) as file:
            mine = file.read()
        with open(theirs) as file:
            other = file.read()
    print(f"\nstructure of {name}: {len(symbols)} files, {total} definitions")
    say("tokens / repomix --compress", count(mine), count(other), "< 1")
    kept, kept_there = count_kept(mine, symbols), count_kept(other, symbols)
    print(
        f"  definitions kept: {kept * 100 / total:.1f} % against {kept_there * 100 / total:.1f} % "
        "(target: more)"
    )
    say("cold CPU / repomix --compress", cold.cpu, repomix.cpu, "≤ 0.2")
    say("warm CPU / repomix --compress", warm.cpu, repomix.cpu, "≤ 0.2")


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


def measure_formats(files: int, times: int = 3) -> None:
    """XML against Plus/Minus on a tree of many files; metadata; frozen."""
    with tempfile.TemporaryDirectory() as folder:
        tree, out = os.path.join(folder, "tree"), os.path.join(folder, "out")
        make_tree(tree, files)
        print(f"\nformats, {files} files")
        spent: dict[tuple[str, str], float] = {}
        for format_ in ("plus-minus", "claude-xml"):
            env = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, format_)}
            env["PYTHONPATH"] = os.pathsep.join(sys.path)
            words = [*TETHER, tree, "-o", out, "-q", "-f", format_]
            spent["cold", format_] = run([*words, "--no-cache"], tree, env, times).cpu
            run(words, tree, env)
            spent["warm", format_] = run(words, tree, env, times).cpu
        for state in ("cold", "warm"):
            say(
                f"{state}: claude-xml / plus-minus",
                spent[state, "claude-xml"],
                spent[state, "plus-minus"],
                "≤ 1.05",
            )
        found = [item for item in walk(tree) if item.reason is None]
        memory: dict[bytes, tuple[object, ...]] = {}
        for lens in ("", "debug"):
            pieces = [File(item.path, lambda: b"x = 1\n") for item in found]
            settings = Settings(lens=find_lens(lens), tokenizer=find_tokenizer("o200k"))
            composer = Composer(settings, memory)
            done = write_pack(pieces, settings, lambda data: None, None, memory)
            best = min(_time(done, composer) for _ in range(20))
            named = f"lens {lens}, {done.hot_files} hotspots" if lens else "no lens"
            print(f"  metadata injection, {files} files, {named}: {best * 1000:.2f} ms (target < 1 ms)")


def _time(done: Run, composer: Composer) -> float:
    start = time.process_time()
    finish(done, composer, None, lambda: done.units)
    composer.format.head(done.report)
    return time.process_time() - start


def main() -> None:
    """Run everything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--folder", default=os.path.join(os.path.dirname(__file__), "out", "pack"))
    parser.add_argument("--quick", action="store_true", help="the formats alone, on fewer files")
    args = parser.parse_args()
    if args.quick:
        measure_formats(1000, times=1)
        return
    if not shutil.which("npm"):
        sys.exit("npm is needed to install the peers")
    peers = Peers(args.folder)
    peers.install()
    trees = peers.trees()
    measure_formats(10_000)
    for name, tree in trees.items():
        measure_tree(name, tree, peers)
    for name, tree in trees.items():
        measure_structure(name, tree, peers)


if __name__ == "__main__":
    main()

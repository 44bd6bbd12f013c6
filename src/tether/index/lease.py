"""The indexer's lease: one process at a time writes the index, and a killed one holds nothing."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from types import TracebackType

from tether.errors import TetherError


class Lease:
    """A lock on an index folder, let go by the system when its holder dies."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "lease")
        self._fd = -1

    def take(self, wait: float = 0.0) -> bool:
        """Whether the lease is ours now, trying for `wait` seconds."""
        if self._fd >= 0:
            return True
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        deadline = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
                    os.close(fd)
                    raise
                if time.monotonic() >= deadline:
                    os.close(fd)
                    return False
                time.sleep(0.02)
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._fd = fd
        return True

    def release(self) -> None:
        """Let it go; harmless when it is not held."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    @property
    def held(self) -> bool:
        return self._fd >= 0

    def __enter__(self) -> Lease:
        if not self.take(wait=10.0):
            raise TetherError(
                "COLLISION",
                f"another process is indexing (`{self.path}`)",
                action="Wait for it, or search meanwhile: searching never waits",
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

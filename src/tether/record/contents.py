"""File contents by their hash, so that a change can be compared with what stood there before it."""

from __future__ import annotations

import hashlib
import os
import re
import time

from tether.errors import TetherError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Final

LIMIT: Final = 8 << 20
_HASH = re.compile(r"[0-9a-f]{64}\Z")
_STALE = 3600.0  # a temporary file this old belongs to a process that was killed


class Contents:
    """A content-addressed store that many processes share and any of them may be killed in.

    INVARIANT: an object appears under its name whole or not at all, and `get` returns it only if it
    still has the hash it is named after. There is no fsync: what power loss takes reads as absent.
    """

    def __init__(self, folder: str, limit: int = LIMIT) -> None:
        self.folder = folder
        self.limit = limit

    def put(self, data: bytes) -> str:
        """Keep `data` unless it exceeds the limit; either way, its sha256."""
        sha = hashlib.sha256(data).hexdigest()
        if len(data) > self.limit:
            return sha
        target = self._locate(sha)
        if self.get(sha) is not None:
            try:
                os.utime(target)  # pruning takes the longest unused first
            except FileNotFoundError:
                pass  # pruned this instant: written again below
            else:
                return sha
        import zlib

        packed = zlib.compress(data, 1)
        waiting = os.path.join(self.folder, "tmp")
        temporary = os.path.join(waiting, f"{os.getpid()}-{os.urandom(8).hex()}")
        try:
            os.makedirs(waiting, mode=0o700, exist_ok=True)
            os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                with open(descriptor, "wb") as file:
                    file.write(packed)
                os.replace(temporary, target)
            except BaseException:
                _remove(temporary)
                raise
        except OSError as error:
            # bytes that cannot be kept cannot be given back, so the change they belong to must not be made
            raise TetherError(
                "JOURNAL_UNAVAILABLE", f"`{self.folder}` cannot be written: {error.strerror}"
            ) from error
        return sha

    def get(self, sha: str) -> bytes | None:
        """The bytes with this hash; None when they are not kept, or no longer what they were."""
        if not _HASH.match(sha):
            return None
        try:
            with open(self._locate(sha), "rb") as file:
                packed = file.read()
        except FileNotFoundError:
            return None
        import zlib

        unpacker = zlib.decompressobj()
        try:
            data = unpacker.decompress(packed, self.limit + 1)
        except zlib.error:
            return None
        return data if hashlib.sha256(data).hexdigest() == sha else None

    def prune(self, keep: Collection[str], max_bytes: int) -> int:
        """Remove the longest unused objects outside `keep` until the rest fit; how many were removed."""
        found: list[tuple[float, int, str]] = []
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    status = os.stat(path)
                except FileNotFoundError:
                    continue  # another process pruned it
                if os.path.basename(folder) == "tmp":
                    if status.st_mtime < time.time() - _STALE:
                        _remove(path)
                elif _HASH.match(name):
                    found.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in found)
        removed = 0
        for _, size, path in sorted(found):
            if total <= max_bytes:
                break
            if os.path.basename(path) not in keep:
                _remove(path)
                total -= size
                removed += 1
        return removed

    def _locate(self, sha: str) -> str:
        return os.path.join(self.folder, sha[:2], sha)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass

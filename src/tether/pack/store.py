"""What was useful before: a learned score per file, safe under many writers, never in the way of a pack."""

from __future__ import annotations

import fcntl
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from tether.errors import TetherError

VERSION: Final = "2.0.0"
ALPHA: Final = 0.3
UNKNOWN: Final = 0.5
BUMP: Final = 0.05
FOLDER: Final = ".tether/local"
NAME: Final = "context_store.json"
LARGEST: Final = 64 * 1024 * 1024

T = TypeVar("T")


def blend(score: float, utility: float, alpha: float = ALPHA) -> float:
    """The exponential moving average: s ← α·u + (1−α)·s, everything clamped to 0..1."""
    alpha, utility, score = _clamp(alpha), _clamp(utility), _clamp(score)
    return round(alpha * utility + (1 - alpha) * score, 6)


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value)) if math.isfinite(value) else UNKNOWN


def _empty() -> dict[str, Any]:
    return {"version": VERSION, "files": {}, "lens_profiles": {}}


class Store:
    """The context store of one project, as read at one moment."""

    def __init__(self, data: dict[str, Any], notices: list[str] | None = None) -> None:
        self.data = data
        self.notices = notices or []

    @classmethod
    def read(cls, root: str) -> Store:
        """What the project's store holds; a corrupt one is set aside and reported."""
        notices: list[str] = []
        return cls(_load(locate(root), notices), notices)

    def utilities(self, lens: str) -> dict[str, tuple[float, str]]:
        """Path → utility and where it was learned; what a lens learned itself comes first."""
        found = {
            path: (record["utility_score"], "learned utility") for path, record in self.data["files"].items()
        }
        profile = self.data["lens_profiles"].get(lens, {})
        for path, score in profile.get("learned_priorities", {}).items():
            found[path] = (score, f"utility learned with lens `{lens}`")
        return found

    def record(self, path: str) -> dict[str, Any]:
        """One file's record, made if need be."""
        files = self.data["files"]
        if path not in files:
            files[path] = {"utility_score": UNKNOWN, "access_count": 0, "last_accessed": "", "tags": []}
        found: dict[str, Any] = files[path]
        return found

    def rate(self, path: str, utility: float, now: str, lens: str = "", tags: tuple[str, ...] = ()) -> float:
        """Learn how useful a file was."""
        record = self.record(path)
        record["utility_score"] = blend(record["utility_score"], utility)
        self._touch(record, now, tags)
        if lens:
            learned = self.profile(lens)["learned_priorities"]
            learned[path] = blend(learned.get(path, UNKNOWN), utility)
        score: float = record["utility_score"]
        return score

    def bump(self, path: str, now: str) -> float:
        """A zoom into a file says it was worth seeing: a little more than before."""
        record = self.record(path)
        record["utility_score"] = blend(record["utility_score"], min(1.0, record["utility_score"] + BUMP))
        self._touch(record, now, ())
        score: float = record["utility_score"]
        return score

    def _touch(self, record: dict[str, Any], now: str, tags: tuple[str, ...]) -> None:
        record["access_count"] += 1
        record["last_accessed"] = now
        record["tags"] = sorted({*record["tags"], *tags})

    def profile(self, lens: str) -> dict[str, Any]:
        """One lens's profile, made if need be."""
        profiles = self.data["lens_profiles"]
        if lens not in profiles:
            profiles[lens] = {"learned_priorities": {}, "effectiveness_score": UNKNOWN}
        found: dict[str, Any] = profiles[lens]
        return found

    def judge(self, lens: str, effectiveness: float) -> float:
        """Learn how well a whole pack served."""
        profile = self.profile(lens)
        profile["effectiveness_score"] = blend(profile["effectiveness_score"], effectiveness)
        score: float = profile["effectiveness_score"]
        return score


def locate(root: str) -> str:
    """Where a project's store lies."""
    return os.path.join(root, FOLDER, NAME)


def change(root: str, edit: Callable[[Store], T]) -> tuple[T, list[str]]:
    """Read, edit and write the store, one process at a time; returns what the edit returned, and notices."""
    notices: list[str] = []
    with locked(root) as folder:
        path = os.path.join(folder, NAME)
        store = Store(_load(path, notices), notices)
        answer = edit(store)
        write_whole(path, json.dumps(store.data, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    return answer, notices


@contextmanager
def locked(root: str) -> Iterator[str]:
    """The project's local folder, held by this process alone."""
    folder = os.path.join(root, FOLDER)
    try:
        if os.path.islink(os.path.join(root, ".tether")) or os.path.islink(folder):
            raise TetherError("SECURITY_VIOLATION", f"`{FOLDER}` is a symbolic link: make it a directory")
        made = not os.path.isdir(folder)
        os.makedirs(folder, exist_ok=True)
        if made:
            write_whole(os.path.join(folder, ".gitignore"), "*\n")
        fd = os.open(
            os.path.join(folder, "context.lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
    except OSError as error:
        raise TetherError("STORE_CORRUPT", f"cannot write `{FOLDER}`: {error.strerror}") from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(fd)


def write_whole(path: str, text: str) -> None:
    """Replace a file at once: a reader sees the old or the new one, never a part."""
    fd, staged = tempfile.mkstemp(dir=os.path.dirname(path), prefix=".staged-")
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(staged, path)
    except BaseException:
        os.unlink(staged)
        raise


def _load(path: str, notices: list[str]) -> dict[str, Any]:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return _empty()
    except OSError as error:
        notices.append(f"the context store cannot be read ({error.strerror}): packing without it")
        return _empty()
    try:
        with os.fdopen(fd, "rb") as file:
            raw = file.read(LARGEST + 1)
        data = json.loads(raw) if len(raw) <= LARGEST else None
        return _check(data)
    except (ValueError, RecursionError, OSError, TypeError, AttributeError, KeyError):
        aside = f"{path}.corrupt-{hashlib.sha256(raw).hexdigest()[:8]}"
        try:
            os.replace(path, aside)
            notices.append(f"the context store was corrupt and is set aside as `{os.path.basename(aside)}`")
        except OSError:
            notices.append("the context store is corrupt and cannot be set aside: packing without it")
        return _empty()


def _check(data: Any) -> dict[str, Any]:
    """The data in the schema's shape, scores clamped; raises when it is something else."""
    checked = _empty()
    if data["version"] != VERSION:
        raise ValueError("unknown version")
    for path, record in data["files"].items():
        checked["files"][str(path)] = {
            "utility_score": _clamp(float(record["utility_score"])),
            "access_count": int(record["access_count"]),
            "last_accessed": str(record["last_accessed"]),
            "tags": sorted({str(tag) for tag in record["tags"]}),
        }
    for lens, profile in data["lens_profiles"].items():
        checked["lens_profiles"][str(lens)] = {
            "learned_priorities": {
                str(p): _clamp(float(s)) for p, s in profile["learned_priorities"].items()
            },
            "effectiveness_score": _clamp(float(profile["effectiveness_score"])),
        }
    return checked

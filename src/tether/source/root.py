"""The project's root: where a path given by an agent really leads, found by descriptors alone. HOOK PATH.

Every component is opened relative to the one before it and no link is followed by the kernel, so a directory
swapped for a link between two looks changes what is found, never where it may lie.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from hashlib import sha256

from tether.errors import TetherError
from tether.source import names
from tether.source.pattern import lazy
from tether.types import Spot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

PROBLEMS = {
    "outside": "it leads out of the project",
    "home": "`~` is not expanded here",
    "nul": "it holds a NUL byte",
    "control": "it holds a control character",
    "bad_name": "it is not a portable path",
    "ambiguous_name": "it could be read as another name",
    "loop": "its symbolic links do not end",
    "not_regular": "it is not a regular file or directory",
    "symlink": "it passes through a symbolic link, which this project forbids",
    "too_long": "it is too long",
    "denied": "the system does not let it be opened",
}

LINKS = 40  # as many as the kernel follows
DEPTH = 128  # one descriptor each
PATH_BYTES = 4096
READ_LIMIT = 64 * 1024 * 1024

_DIR = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a FIFO put in a file's place must not make us wait for its writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_NOT_A_DIR = (errno.ENOTDIR, errno.ELOOP, errno.EMLINK)
_URL = lazy(r"[A-Za-z][A-Za-z0-9+.-]+://")


class _PathError(Exception):
    def __init__(self, problem: str, detail: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.detail = detail


class Root:
    """A project directory held open. Paths in are an agent's; paths out are root-relative and canonical."""

    def __init__(
        self, path: str, *, protected: Iterable[str] = names.GUARDED, symlinks: str = "inside"
    ) -> None:
        self.path = os.path.realpath(path)
        self.protected = frozenset(protected)
        self.symlinks = symlinks  # inside | never
        try:
            self.fd = os.open(self.path, _DIR)
        except OSError as error:
            raise TetherError("NOT_A_PROJECT", f"cannot open the directory `{path}`") from error
        here = os.fstat(self.fd)
        self.device = here.st_dev
        self._id = (here.st_dev, here.st_ino)
        self._folds: bool | None = None

    def __enter__(self) -> Root:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the directory; closing twice is harmless."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def look(self, given: str, *, hash: bool = True, follow: bool = True) -> Spot:  # noqa: A002
        """Where `given` leads, as data: a refusal is a `problem`, never an exception.

        With `follow=False` a symbolic link anywhere is a problem: for paths already found canonical.
        """
        stack = [self.fd]
        try:
            parts, found = self._trace(given, stack, follow)
            path = "/".join(parts) or "."
            if found is None:
                return Spot(given=given, path=path)
            if stat.S_ISDIR(found.st_mode):
                return Spot(given=given, path=path, kind="dir", links=found.st_nlink)
            if not stat.S_ISREG(found.st_mode):
                return Spot(
                    given=given, problem="not_regular", detail=_name_kind(found.st_mode), kind="other"
                )
            digest = ""
            if hash:
                fd, found = _open_regular(stack[-1], parts[-1])
                try:
                    digest = _digest(fd)
                finally:
                    os.close(fd)
            return Spot(given=given, path=path, kind="file", hash=digest, links=found.st_nlink)
        except _PathError as fault:
            kind = "other" if fault.problem == "not_regular" else "absent"
            return Spot(given=given, problem=fault.problem, detail=fault.detail, kind=kind)
        finally:
            for fd in stack[1:]:
                os.close(fd)

    def read(self, given: str, limit: int = READ_LIMIT, *, follow: bool = True) -> tuple[bytes, Spot]:
        """The bytes of a regular file and the spot they came from, with the hash of exactly those bytes."""
        stack = [self.fd]
        try:
            parts, found = self._trace(given, stack, follow)
            if found is None:
                raise TetherError("NOT_FOUND", f"`{given}` does not exist", path=given)
            if stat.S_ISDIR(found.st_mode):
                raise TetherError("NOT_A_FILE", f"`{given}` is a directory", path=given)
            if not stat.S_ISREG(found.st_mode):
                raise _PathError("not_regular", _name_kind(found.st_mode))
            fd, found = _open_regular(stack[-1], parts[-1])
            try:
                data = _slurp(fd, limit + 1)
            finally:
                os.close(fd)
            if len(data) > limit:
                raise TetherError("TOO_LARGE", f"`{given}` is larger than {limit} bytes", path=given)
            spot = Spot(
                given=given,
                path="/".join(parts),
                kind="file",
                hash=sha256(data).hexdigest(),
                links=found.st_nlink,
            )
            return data, spot
        except _PathError as fault:
            raise refusal(Spot(given=given, problem=fault.problem, detail=fault.detail)) from None
        finally:
            for fd in stack[1:]:
                os.close(fd)

    def open_parent(
        self, path: str, create: bool = False, *, mode: int = 0o777, made: list[str] | None = None
    ) -> tuple[int, str]:
        """A descriptor (the caller closes it) of a canonical path's directory, and the leaf's name in it.

        INVARIANT: no link is followed at all: a path found canonical that meets one was swapped since.
        `made` collects the directories created on the way, outermost first.
        """
        *above, leaf = path.split("/")
        for name in (*above, leaf):
            problem, detail = (
                ("bad_name", "not canonical")
                if name in ("", ".", "..")
                else names.find_fault(name, self.protected)
            )
            if problem:
                raise refusal(Spot(given=path, problem=problem, detail=detail))
        fd = os.dup(self.fd)
        try:
            for depth, name in enumerate(above, 1):
                try:
                    inner = os.open(name, _DIR, dir_fd=fd)
                except FileNotFoundError:
                    if not create:
                        raise TetherError("NOT_FOUND", f"`{path}` has no directory", path=path) from None
                    try:
                        os.mkdir(name, mode, dir_fd=fd)
                        if made is not None:
                            made.append("/".join(above[:depth]))
                    except FileExistsError:
                        pass  # another process made it first
                    inner = os.open(name, _DIR, dir_fd=fd)
                os.close(fd)
                fd = inner
        except OSError as error:
            os.close(fd)
            problem = "symlink" if error.errno in _NOT_A_DIR else "denied"
            detail = (
                f"`{name}` is not a plain directory"
                if problem == "symlink"
                else os.strerror(error.errno or 0)
            )
            raise refusal(Spot(given=path, problem=problem, detail=detail)) from error
        except TetherError:
            os.close(fd)
            raise
        return fd, leaf

    def _trace(self, given: str, stack: list[int], follow: bool) -> tuple[list[str], os.stat_result | None]:
        """The canonical components and the leaf's own stat (None: absent); `stack` ends at the leaf's parent.

        Opened descriptors are pushed on `stack` for the caller to close, whatever happens.
        """
        pending = self._split(given)[::-1]
        parts: list[str] = []
        absent = 0  # how many of the last `parts` do not exist
        links = 0
        while pending:
            name = pending.pop()
            if name in ("", "."):
                continue
            if name == "..":
                # INVARIANT: nothing above the root is ever opened, not even on the way back in.
                if not parts:
                    raise _PathError("outside", "`..` climbs above the project")
                parts.pop()
                if absent:
                    absent -= 1
                else:
                    os.close(stack.pop())
                continue
            problem, detail = names.find_fault(name, self.protected)
            if problem:
                raise _PathError(problem, detail)
            if len(parts) >= DEPTH:
                raise _PathError("too_long", f"at most {DEPTH} directories deep")
            found = None if absent else self._enter(name, stack, leaf=not pending)
            if found is None:
                if names.is_device(name):
                    raise _PathError("bad_name", f"`{name}` is a device on other systems")
                parts.append(name)
                absent += 1
                continue
            if stat.S_ISLNK(found.st_mode):
                links += 1
                if self.symlinks == "never" or not follow:
                    raise _PathError("symlink", f"`{name}` is a symbolic link")
                if links > LINKS:
                    raise _PathError("loop", f"more than {LINKS} symbolic links")
                target = _read_link(name, stack[-1])
                steps = self._split(target, link=True)
                if target.startswith("/"):
                    while len(stack) > 1:
                        os.close(stack.pop())
                    parts.clear()
                pending.extend(reversed(steps))
                continue
            where = stack[-1] if not pending else stack[-2]
            parts.append(names.canonical_name(where, name) if self._folding() else name)
            if not pending:
                return parts, found
        if absent:
            return parts, None
        # The path ended in `/`, `.` or `..`: it names the directory on top of the stack.
        found = os.fstat(stack[-1])
        if parts:
            os.close(stack.pop())
        return parts, found

    def _enter(self, name: str, stack: list[int], *, leaf: bool) -> os.stat_result | None:
        """The stat of `name` in the topmost directory; a directory on the way is opened and pushed."""
        try:
            if leaf:
                return os.stat(name, dir_fd=stack[-1], follow_symlinks=False)
            try:
                stack.append(os.open(name, _DIR, dir_fd=stack[-1]))
            except OSError as error:
                if error.errno not in _NOT_A_DIR:
                    raise
                found = os.stat(name, dir_fd=stack[-1], follow_symlinks=False)
                if stat.S_ISLNK(found.st_mode):
                    return found
                raise _PathError("not_regular", f"`{name}` is not a directory") from None
            return os.fstat(stack[-1])
        except FileNotFoundError:
            return None
        except OSError as error:
            problem = {errno.ENAMETOOLONG: "too_long", errno.ELOOP: "loop"}.get(error.errno or 0, "denied")
            raise _PathError(problem, os.strerror(error.errno or 0)) from error

    def _split(self, path: str, *, link: bool = False) -> list[str]:
        """The components to walk from the root, or from the link's directory when `link` is relative."""
        if not isinstance(path, str) or not path:
            raise _PathError("bad_name", "the path is empty")
        if "\0" in path:
            raise _PathError("nul", "a NUL byte cuts the path short")
        if len(path) > PATH_BYTES or len(path.encode("utf-8", "surrogatepass")) > PATH_BYTES:
            raise _PathError("too_long", f"a path may take {PATH_BYTES} bytes")
        if path.startswith("/"):
            return self._split_absolute(path, link=link)
        if not link:
            if path.startswith("~"):
                raise _PathError("home", "write the path from the project's root")
            if _URL.match(path):
                raise _PathError("bad_name", "a path is wanted, not a URL")
        return path.split("/")

    def _split_absolute(self, path: str, *, link: bool) -> list[str]:
        inside = self.path.rstrip("/") + "/"
        if path == self.path or path.startswith(inside):
            return path[len(inside) :].split("/")
        if path.startswith("//"):
            raise _PathError("bad_name", "network paths are not used here")
        # A link's absolute target counts only as written: asking the kernel about it would follow it.
        if not link:
            for end in (*(m.start() for m in re.finditer("/", path[1:])), len(path) - 1):
                try:
                    there = os.stat(path[: end + 1])
                except (OSError, ValueError):
                    break
                if (there.st_dev, there.st_ino) == self._id:
                    return path[end + 2 :].split("/")
        raise _PathError("outside", "the absolute path does not lie in the project")

    def _folding(self) -> bool:
        if self._folds is None:
            self._folds = names.folds_case(self.fd)
        return bool(self._folds)


def refusal(spot: Spot) -> TetherError:
    """The error that says why a spot cannot be used."""
    code = "NOT_A_FILE" if spot.problem == "not_regular" else "SECURITY_VIOLATION"
    why = PROBLEMS[spot.problem] + (f" ({spot.detail})" if spot.detail else "")
    return TetherError(code, f"`{ascii(spot.given)[1:-1]}` cannot be used: {why}", problem=spot.problem)


def _read_link(name: str, dir_fd: int) -> str:
    try:
        return os.readlink(name, dir_fd=dir_fd)
    except OSError as error:
        raise _PathError("denied", "the link changed while it was read") from error


def _open_regular(dir_fd: int, name: str) -> tuple[int, os.stat_result]:
    try:
        fd = os.open(name, _FILE, dir_fd=dir_fd)
    except OSError as error:
        swapped = error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOENT, errno.ENXIO)
        detail = "it changed while it was looked up" if swapped else os.strerror(error.errno or 0)
        raise _PathError("denied", detail) from error
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        os.close(fd)
        raise _PathError("not_regular", _name_kind(found.st_mode))
    return fd, found


def _name_kind(mode: int) -> str:
    kinds = {
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFBLK: "a block device",
        stat.S_IFCHR: "a character device",
        stat.S_IFDIR: "a directory",
    }
    return kinds.get(stat.S_IFMT(mode), "a special file")


def _digest(fd: int) -> str:
    digest = sha256()
    while block := os.read(fd, 1 << 20):
        digest.update(block)
    return digest.hexdigest()


def _slurp(fd: int, limit: int) -> bytes:
    blocks = []
    while limit > 0 and (block := os.read(fd, min(limit, 1 << 20))):
        blocks.append(block)
        limit -= len(block)
    return b"".join(blocks)

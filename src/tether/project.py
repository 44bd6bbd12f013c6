"""One project directory as every door sees it: where it is, what configures it, and its journal.

On the hook path: parsers for TOML and YAML are imported only when a cached snapshot misses.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from hashlib import sha256

from tether import __version__
from tether.config import Config, from_plain
from tether.control import intents as intent_nouns
from tether.control.protected import NAMES
from tether.errors import TetherError
from tether.record.contents import Contents
from tether.record.journal import Journal, canonical
from tether.source.git import Repo, find_repository
from tether.source.root import Root
from tether.types import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from tether.types import Intent

INTENTS_FILE = ".orchestration/active_intents.yaml"
LEDGER_FILE = ".orchestration/agent_trace.jsonl"
MAP_FILE = ".orchestration/intent_map.md"
CONFIG_FILES = ("tether.toml", "aop_config.json", "tether.local.toml")
MARKS = (".tether", "tether.toml", ".orchestration")
SNAPSHOT_VERSION = "1"
READ_CAP = 4 * 1024 * 1024
YOUNG = 50_000_000  # nanoseconds: coarser than any file system's clock


class Project:
    """A project opened in this process. Everything that can wait is opened on first use."""

    def __init__(self, root: str, *, create: bool = False, environment: dict[str, str] | None = None) -> None:
        self.path = root
        self.environment = dict(os.environ) if environment is None else environment
        self.repository: Repo | None = find_repository(root)
        self.state, self.tree = _state(root, self.repository)
        self.user = user_folder(self.environment, "state")
        self.own_folders = _own_folders(self.path, self.environment)
        _refuse_links(self.state)
        if create:
            _make_folder(self.state)
        self.journal = _open_journal(self.state, create)
        self._registered = self._registration()
        if create and not self._registered:
            self.register()
        self._load()
        self.unsettled: set[str] = set()  # calls of this process that the journal would not take an end of
        self._root: Root | None = None
        self._contents: Contents | None = None
        self._alive: tuple[str, int] | None = None

    # ── what configures it ───────────────────────────────────────────────────

    def _load(self) -> None:
        self._marks = self._stat()
        self._loaded = time.time_ns()
        texts = {name: _read(os.path.join(self.path, name)) for name in CONFIG_FILES}
        self.config_digest = sha256(
            canonical({k: v.decode("latin-1") for k, v in texts.items()}).encode()
        ).hexdigest()
        self.trusted = self._registered.get("trusted") == self.config_digest or not any(texts.values())
        user_file = self._user_file()
        sources = {"user": _read(user_file), **texts, "intents": _read(os.path.join(self.path, INTENTS_FILE))}
        settings = {k: v for k, v in self.environment.items() if k.startswith("TETHER_") and "__" in k}
        key = sha256()
        for part in (__version__, SNAPSHOT_VERSION, str(self.trusted), canonical(settings)):
            key.update(part.encode() + b"\0")
        for name, data in sources.items():
            key.update(f"{name}:{len(data)}:".encode() + data)
        digest = key.hexdigest()
        snapshot = self._cached(digest)
        if snapshot is None:
            snapshot = self._resolve(sources, settings, user_file)
            self._cache(digest, snapshot)
        self.config: Config = from_plain(snapshot["config"])
        self.origin: dict[str, str] = snapshot["origin"]
        self.ignored: tuple[str, ...] = tuple(snapshot["ignored"])
        self.intents: tuple[Intent, ...] = intent_nouns.from_plain(snapshot["intents"])
        self.intents_problem: str = snapshot["intents_problem"]
        self.policy: str = snapshot["policy"]

    def refresh(self) -> None:
        """Reads again what another process may have changed; nearly free when nothing has."""
        marks = self._stat()
        # a file changed as it was being read may carry the stamp it had: such a young one is read again
        young = any(mark is not None and mark[1] > self._loaded - YOUNG for mark in marks)
        if marks != self._marks or young:
            self.reload()

    def _stat(self) -> list[tuple[int, int, int, int] | None]:
        marks: list[tuple[int, int, int, int] | None] = []
        for path in self._sources():
            try:
                found = os.stat(path)
                marks.append((found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino))
            except OSError:
                marks.append(None)
        return marks

    def _sources(self) -> list[str]:
        """The files that decide what is allowed."""
        inside = [os.path.join(self.path, name) for name in (*CONFIG_FILES, INTENTS_FILE)]
        return [*inside, self._user_file(), self._registration_file()]

    def reload(self) -> None:
        """Reads configuration and intents again."""
        self._registered = self._registration()
        self._load()

    def _user_file(self) -> str:
        return os.path.join(user_folder(self.environment, "config"), "config.toml")

    def _resolve(self, sources: dict[str, bytes], settings: dict[str, str], user_file: str) -> dict[str, Any]:
        from tether.config.layers import Layer, resolve
        from tether.control.intent_file import parse

        layers = [
            Layer(user_file, _text(user_file, sources["user"])),
            *(Layer(name, _text(name, sources[name]), trusted=self.trusted) for name in CONFIG_FILES),
        ]
        resolved = resolve(layers, settings)
        intents: tuple[Intent, ...] = ()
        problem = ""
        try:
            intents = parse(_text(INTENTS_FILE, sources["intents"]), INTENTS_FILE)
        except TetherError as error:
            problem = error.message
        config = plain(resolved.config)
        policy = sha256(
            canonical([__version__, config, intent_nouns.to_plain(intents)]).encode()
        ).hexdigest()[:12]
        return {
            "config": config,
            "origin": resolved.origin,
            "ignored": list(resolved.ignored),
            "intents": intent_nouns.to_plain(intents),
            "intents_problem": problem,
            "policy": policy,
        }

    def _cached(self, digest: str) -> dict[str, Any] | None:
        # INVARIANT: snapshots live in the user's cache, never in the project, so a clone cannot ship one
        try:
            with open(
                os.path.join(user_folder(self.environment, "cache"), "snapshots", digest + ".json"), "rb"
            ) as f:
                found = json.load(f)
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) and "policy" in found else None

    def _cache(self, digest: str, snapshot: dict[str, Any]) -> None:
        folder = os.path.join(user_folder(self.environment, "cache"), "snapshots")
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            replace_file(os.path.join(folder, digest + ".json"), json.dumps(snapshot).encode())
        except OSError:
            return  # a cache that cannot be written only costs time

    # ── trust ────────────────────────────────────────────────────────────────

    def _registration(self) -> dict[str, Any]:
        try:
            with open(self._registration_file(), "rb") as file:
                found = json.load(file)
        except (OSError, ValueError):
            return {}
        # INVARIANT: the id alone proves nothing, for ledgers publish it; a journal made up by someone else
        # cannot hold the key
        own = isinstance(found, dict) and self.journal.key and found.get("key") == self.journal.key
        return found if own else {}

    def _registration_file(self) -> str:
        return os.path.join(self.user, "journals", self.journal.id + ".json")

    def require_own_journal(self) -> None:
        """Refuses a journal that came with a clone: its approvals and switches are a stranger's."""
        if not self._registered:
            raise TetherError("JOURNAL_FOREIGN", f"the journal of `{self.path}` was not begun by this user")

    def register(self, *, trust: bool = False, commands: bool = False) -> None:
        """Remembers, outside the project, that this journal is ours and what a person accepted."""
        record = {**self._registered, "root": self.path, "key": self.journal.key}
        if trust:
            record["trusted"] = self.config_digest
        if commands:
            record["commands"] = sorted(hash_command(c) for c in self.criteria())
        self._register(record)

    def _register(self, record: dict[str, Any]) -> None:
        try:
            os.makedirs(os.path.join(self.user, "journals"), mode=0o700, exist_ok=True)
            replace_file(self._registration_file(), json.dumps(record).encode())
        except OSError as error:
            raise TetherError(
                "JOURNAL_UNAVAILABLE",
                f"`{self.user}`, where it is kept whose journal this is, cannot be written: {error.strerror}",
                action="Make it writable, or set XDG_STATE_HOME to a folder of your own",
            ) from None
        self._registered = record

    def criteria(self) -> list[str]:
        """Every command that the intents name as proof."""
        found = (c.command for intent in self.intents for c in intent.acceptance_criteria if c.command)
        return list(dict.fromkeys(found))

    def accepts(self, command: str) -> bool:
        """Whether a person of this machine has accepted a command of the intents file, word for word."""
        return hash_command(command) in self._registered.get("commands", ())

    def accept(self, commands: Iterable[str]) -> None:
        """A person accepts commands of the intents file."""
        held = set(self._registered.get("commands", ()))
        self._register({**self._registered, "commands": sorted(held | {hash_command(c) for c in commands})})

    def trust(self, *, commands: bool = False) -> None:
        """A person accepts the configuration files as they are now; with `commands` the intents' criteria too."""
        self.register(trust=True, commands=commands)
        self.reload()

    # ── parts opened on first use ────────────────────────────────────────────

    @property
    def root(self) -> Root:
        """The path guard over the project directory."""
        if self._root is None:
            self._root = Root(self.path, protected=NAMES, symlinks=self.config.security.symlinks)
        return self._root

    @property
    def contents(self) -> Contents:
        """The bytes of files before and after each change."""
        if self._contents is None:
            self._contents = Contents(os.path.join(self.state, "objects"))
        return self._contents

    def folder(self, name: str) -> str:
        """A directory of the state, made if absent."""
        path = os.path.join(self.state, name)
        os.makedirs(path, exist_ok=True)
        return path

    def write_enabled(self) -> bool:
        """Whether agents may change files: by configuration, or by a journalled shadow run or person."""
        if self.config.security.write_enabled:
            return True
        switch = self.journal.fact("project", "write_enabled")
        return bool(switch and switch["on"])

    def drain(self) -> None:
        """Exports what the journal holds and the ledger does not, and the documents derived from it."""
        from tether.record.export import drain

        drain(
            self.journal,
            self.contents,
            root=self.path,
            state=self.folder("ledger"),
            intents=self.intents,
            settings=self.config.record,
        )

    # ── liveness ─────────────────────────────────────────────────────────────

    def life(self) -> str:
        """A token that other processes can test: its lock vanishes with this process."""
        if self._alive is None or self._alive[1] < 0:
            token = os.urandom(8).hex()
            fd = os.open(
                os.path.join(self.folder("live"), token), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600
            )
            fcntl.flock(fd, fcntl.LOCK_EX)
            self._alive = (token, fd)
        return self._alive[0]

    def lives(self, token: str) -> bool:
        """Whether the process that made a token still runs."""
        if self._alive and self._alive[0] == token:
            return True
        if not token or "/" in token:
            return False
        path = os.path.join(self.state, "live", token)
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass  # another process found it dead at the same moment
            return False
        finally:
            os.close(fd)

    def close(self) -> None:
        """Lets go of everything this process holds."""
        if self._alive:
            token, fd = self._alive
            try:
                os.unlink(os.path.join(self.state, "live", token))
            except FileNotFoundError:
                pass  # another process found the lock free after a fork closed it
            os.close(fd)
            self._alive = None
        if self._root is not None:
            self._root.close()
        self.journal.close()


def open_project(start: str, *, environment: dict[str, str] | None = None) -> Project:
    """The project a directory belongs to; its journal must be this user's own."""
    project = Project(find_root(start), environment=environment)
    project.require_own_journal()
    return project


def find_root(start: str) -> str:
    """The nearest directory at or above `start` that Tether was set up in, else the git root."""
    here = os.path.realpath(start)
    step = here
    while True:
        if any(os.path.lexists(os.path.join(step, mark)) for mark in MARKS):
            return step
        up = os.path.dirname(step)
        if up == step:
            break
        step = up
    repository = find_repository(here)
    if repository is not None:
        return repository.root
    raise TetherError("NOT_A_PROJECT", f"`{start}` is not inside a project")


def user_folder(environment: dict[str, str], kind: str) -> str:
    """This user's own folder for `config`, `state` or `cache`."""
    variable, default = {
        "config": ("XDG_CONFIG_HOME", ".config"),
        "state": ("XDG_STATE_HOME", ".local/state"),
        "cache": ("XDG_CACHE_HOME", ".cache"),
    }[kind]
    base = environment.get(variable, "")
    if not os.path.isabs(base):
        home = environment.get("HOME") or os.path.expanduser("~")
        base = os.path.join(home, default)
    return os.path.join(base, "tether")


def _own_folders(root: str, environment: dict[str, str]) -> tuple[str, ...]:
    """Globs of this user's own folders of Tether, where they lie in the project, as they do in a home directory."""
    found = []
    for kind in ("config", "state", "cache"):
        place = os.path.realpath(user_folder(environment, kind))
        if place.startswith(root.rstrip("/") + "/"):
            inside = place[len(root.rstrip("/")) :]
            found.append("".join("\\" + c if c in "*?[]\\ !#" else c for c in inside) + "/**")
    return tuple(found)


def replace_file(path: str, data: bytes) -> None:
    """Writes a small file of Tether's own so that readers see the old or the new, never a part."""
    staged = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    with open(staged, "wb") as file:
        file.write(data)
    os.replace(staged, path)


def _state(root: str, repository: Repo | None) -> tuple[str, str]:
    """Linked worktrees share the journal of the main one, found through git's common directory."""
    if repository is not None and repository.root != repository.main_root:
        inside = os.path.relpath(root, repository.root)
        state = os.path.normpath(os.path.join(repository.main_root, inside, ".tether", "local"))
        return state, os.path.basename(repository.git_dir)
    return os.path.join(root, ".tether", "local"), ""


def _refuse_links(state: str) -> None:
    # INVARIANT: a link a clone brought could make another project's journal pass for this one's
    for path in (os.path.dirname(state), state, os.path.join(state, "journal.db")):
        if os.path.islink(path):
            raise TetherError(
                "SECURITY_VIOLATION", f"`{path}` is a symbolic link; remove it and run `tether init`"
            )


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, mode=0o755, exist_ok=True)
    except OSError as error:
        raise TetherError("JOURNAL_UNAVAILABLE", f"`{path}` cannot be made: {error.strerror}") from None


def hash_command(command: str) -> str:
    """What stands for an accepted command."""
    return sha256(command.encode("utf-8", "surrogatepass")).hexdigest()


def _open_journal(state: str, create: bool) -> Journal:
    path = os.path.join(state, "journal.db")
    if not create:
        if not os.path.exists(path):
            raise TetherError(
                "NOT_A_PROJECT", f"`{os.path.dirname(os.path.dirname(state))}` has not been set up"
            )
        return Journal.open(path)
    raw = bytearray(os.urandom(16))
    raw[6] = raw[6] & 0x0F | 0x40
    raw[8] = raw[8] & 0x3F | 0x80
    text = raw.hex()
    return Journal.open(path, create_id="-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])))


def _read(path: str) -> bytes:
    """A configuration file's bytes; absent is empty, anything that is not a plain file of sane size is refused."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise TetherError("CONFIG_INVALID", f"`{path}` cannot be read: {error.strerror}") from None
    try:
        if (os.fstat(fd).st_mode & 0o170000) != 0o100000:
            raise TetherError("CONFIG_INVALID", f"`{path}` is not a regular file")
        data = os.read(fd, READ_CAP + 1)
    finally:
        os.close(fd)
    if len(data) > READ_CAP:
        raise TetherError("CONFIG_INVALID", f"`{path}` is larger than {READ_CAP} bytes")
    return data


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TetherError("CONFIG_INVALID", f"{name}: not UTF-8 at byte {error.start}") from None

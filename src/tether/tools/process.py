"""One program run to its end: a time limit that holds, output that cannot grow, nothing left behind."""

from __future__ import annotations

import codecs
import os
import re
import selectors
import signal
import subprocess
import time

from tether.source.redact import find
from tether.types import noun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

MARK = "TETHER_RUN"  # inherited by every descendant, so that even those that left the group are found
TERM_GRACE = 1.0
KILL_GRACE = 2.0
DRAIN = 0.3  # how long to listen on after the program itself has ended
TICK = 0.05

ALLOWED = frozenset(
    """
    PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM COLORTERM TZ TMPDIR TEMP TMP HOSTNAME CI NO_COLOR
    FORCE_COLOR VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PYENV_ROOT PYENV_VERSION NVM_DIR NODE_ENV
    VOLTA_HOME RBENV_ROOT GEM_HOME JAVA_HOME GOPATH GOROOT GOCACHE GOMODCACHE GOFLAGS CARGO_HOME
    RUSTUP_HOME RUSTUP_TOOLCHAIN CC CXX PKG_CONFIG_PATH SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE
    NODE_EXTRA_CA_CERTS HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy
    SOURCE_DATE_EPOCH PIP_INDEX_URL UV_INDEX_URL
    """.split()
)
ALLOWED_PREFIXES = ("LC_", "XDG_")
_SECRET_NAME = re.compile(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH|COOKIE|SESSION|PRIVATE|SIGNATURE|(^|_)(PAT|PWD|DSN)(_|$)"
)
_SECRET_VALUE = re.compile(r"://[^/\s@]*:[^/\s@]*@")


@noun
class Finished:
    """How a program ended. INVARIANT: `timed_out` is what our clock did, never read from the exit code."""

    exit_code: int | None  # None: a signal ended it
    signal: str  # its name, or ""
    duration: float  # seconds
    timed_out: bool
    cancelled: bool
    output: str  # standard output and error, in the order they came
    dropped: int  # bytes left out of the middle
    background: int  # processes it left behind, which were ended


class _Output:
    """The head and the tail of a stream, and how much lay between."""

    def __init__(self, limit: int, emit: Callable[[str], None] | None) -> None:
        self._half = max(limit // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self.dropped = 0
        self._emit = emit
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def take(self, data: bytes) -> None:
        if self._emit:
            text = self._decoder.decode(data)
            if text:
                self._emit(text)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        excess = len(self._tail) - self._half
        if excess > 0:
            del self._tail[:excess]
            self.dropped += excess

    def text(self) -> str:
        if not self.dropped:
            return (self._head + self._tail).decode("utf-8", "replace")
        # A character cut in half at either edge is dropped rather than shown as damage.
        head = self._head.decode("utf-8", "ignore")
        tail = self._tail.decode("utf-8", "ignore")
        return f"{head}\n… {self.dropped} bytes left out …\n{tail}"


def clean_environment(environ: Mapping[str, str], allow: Iterable[str] = ()) -> dict[str, str]:
    """What a program may know of ours: listed names only, and none that look like secrets or carry any.

    A name in `allow` is a person's explicit wish and is passed on whatever it looks like.
    """
    wished = frozenset(allow)
    kept = {}
    for name, value in environ.items():
        listed = name in ALLOWED or name.startswith(ALLOWED_PREFIXES)
        if name in wished or (listed and not _is_secret(name, value)):
            kept[name] = value
    kept["TETHER_AGENT"] = "1"
    return kept


def _is_secret(name: str, value: str) -> bool:
    return bool(_SECRET_NAME.search(name.upper()) or _SECRET_VALUE.search(value) or find(value))


def run_program(
    argv: Sequence[str],
    *,
    cwd_fd: int,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    limit: int,
    emit: Callable[[str], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Finished:
    """Runs a program in its own session until it ends, the time is up or the caller cancels.

    INVARIANT: when this returns, no descendant that could be found is alive.
    """
    token = os.urandom(16).hex()
    output = _Output(limit, emit)
    started = time.monotonic()
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    here = f"/proc/self/fd/{cwd_fd}"
    try:
        try:
            process = subprocess.Popen(
                list(argv),
                # By descriptor where the system can: a path could be swapped until the program starts.
                cwd=here if os.path.isdir(here) else cwd,
                env={**env, "PWD": cwd, MARK: token},
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=writer,
                start_new_session=True,
            )
        finally:
            os.close(writer)
        why = _attend(process, reader, output, started + timeout, cancelled)
        background = end_descendants(process, token)
        _drain(reader, output, 0.0)
    finally:
        os.close(reader)
    code = _reap(process)
    return Finished(
        exit_code=code if code is not None and code >= 0 else None,
        signal=signal.Signals(-code).name if code is not None and code < 0 else "",
        duration=time.monotonic() - started,
        timed_out=why == "timeout",
        cancelled=why == "cancelled",
        output=output.text(),
        dropped=output.dropped,
        background=background if not why else 0,
    )


def end_descendants(process: subprocess.Popen[bytes], token: str) -> int:
    """Ends the group and all that is marked, politely and then not; how many there were besides it."""
    first = len([pid for pid in _find_marked(token) if pid != process.pid])
    for number, grace in ((signal.SIGTERM, TERM_GRACE), (signal.SIGKILL, KILL_GRACE)):
        until = time.monotonic() + grace
        told: set[int] = set()
        # INVARIANT: the leader is not reaped yet, so its group id cannot have passed to strangers.
        _signal_group(process.pid, number)
        while (alive := _find_marked(token)) or not _has_ended(process):
            for pid in alive:
                if pid not in told or number == signal.SIGKILL:
                    _signal_marked(pid, token, number)
                    told.add(pid)
            if time.monotonic() > until:
                break
            time.sleep(0.01)
    return first


def _attend(
    process: subprocess.Popen[bytes],
    reader: int,
    output: _Output,
    deadline: float,
    cancelled: Callable[[], bool] | None,
) -> str:
    """Reads until the program ends, and a little longer; why it must be ended, if it did not by itself."""
    with selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        listening = True
        while True:
            if cancelled and cancelled():
                return "cancelled"
            left = deadline - time.monotonic()
            if left <= 0:
                return "timeout"
            if listening:
                if selector.select(min(TICK, left)) and not _read_some(reader, output):
                    listening = False
            else:
                time.sleep(min(0.005, left))
            if _has_ended(process):
                if listening:
                    _drain(reader, output, min(DRAIN, left))
                return ""


def _read_some(reader: int, output: _Output) -> bool:
    """False once the last writer has closed the pipe."""
    try:
        data = os.read(reader, 1 << 16)
    except BlockingIOError:
        return True
    if data:
        output.take(data)
    return bool(data)


def _drain(reader: int, output: _Output, patience: float) -> None:
    """Takes what is left in the pipe; whoever holds it open for longer is not waited for."""
    until = time.monotonic() + patience
    while True:
        try:
            data = os.read(reader, 1 << 16)
        except BlockingIOError:
            if time.monotonic() >= until:
                return
            time.sleep(0.005)
            continue
        if not data:
            return
        output.take(data)
        if time.monotonic() >= until + 1:
            return  # a flood has no end of its own


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether the program ended, without reaping it: until then its process and group ids stay its own."""
    if process.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _reap(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(KILL_GRACE)
    except subprocess.TimeoutExpired:
        return None  # stuck in the kernel: nothing more can be done about it from here


def _signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass  # nobody left in it, or only what took another user's rights


def _signal_marked(pid: int, token: str, number: int) -> None:
    """Signals a process only if it still is the one that carries the mark."""
    try:
        handle = os.pidfd_open(pid)
    except (OSError, AttributeError):
        return
    try:
        if _is_marked(pid, token):
            signal.pidfd_send_signal(handle, number)
    except OSError:
        pass  # it ended meanwhile
    finally:
        os.close(handle)


def _find_marked(token: str) -> list[int]:
    """Every live process that inherited the mark, as far as the system lets us look."""
    try:
        entries = os.listdir("/proc")
    except OSError:
        return []
    return [int(name) for name in entries if name.isdigit() and _is_marked(int(name), token)]


def _is_marked(pid: int, token: str) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return f"{MARK}={token}".encode() in file.read()
    except OSError:
        return False  # gone, or another user's

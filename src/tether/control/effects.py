"""What a parsed command would do to files, as effects."""

from __future__ import annotations

from tether.types import Effect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.types import Risk

NOWHERE = frozenset(
    {
        "/dev/null",
        "/dev/stdin",
        "/dev/stdout",
        "/dev/stderr",
        "/dev/tty",
        "/dev/zero",
        "/dev/random",
        "/dev/urandom",
    }
)
# the system's scratch places are nobody's: what a command leaves there no intent owns
SCRATCH = ("/tmp/", "/var/tmp/", "/dev/fd/", "/dev/shm/")  # noqa: S108


def command_effects(line: str, risk: Risk, cwd: str) -> tuple[Effect, ...]:
    """The run itself, then the files it certainly names and the hosts it reaches; `cwd` is where it runs."""
    reads = [Effect("read", _place(cwd, path), command=True) for path in risk.reads if _is_somewhere(path)]
    writes = [Effect("write", _place(cwd, path), command=True) for path in risk.writes if _is_somewhere(path)]
    reaches = [Effect("reach", host, command=True) for host in risk.hosts]
    return (Effect("run", line, risk=risk, cwd=cwd), *reads, *writes, *reaches)


def _is_somewhere(path: str) -> bool:
    return path not in NOWHERE and not (path.startswith(SCRATCH) and ".." not in path)


def _place(cwd: str, path: str) -> str:
    return path if cwd in ("", ".") or path.startswith(("/", "~")) else f"{cwd.rstrip('/')}/{path}"

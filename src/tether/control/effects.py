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


def command_effects(line: str, risk: Risk, cwd: str, root: str = "") -> tuple[Effect, ...]:
    """The run itself, then the files it certainly names and the hosts it reaches; `cwd` is where it runs."""
    reads = [Effect("read", _place(cwd, path), command=True) for path in risk.reads if _matters(path, root)]
    writes = [
        Effect("write", _place(cwd, path), command=True) for path in risk.writes if _matters(path, root)
    ]
    reaches = [Effect("reach", host, command=True) for host in risk.hosts]
    return (Effect("run", line, risk=risk, cwd=cwd), *reads, *writes, *reaches)


def _matters(path: str, root: str) -> bool:
    if path in NOWHERE:
        return False
    names = [name for name in path.split("/") if name not in ("", ".")]
    plain = "/" + "/".join(names) + "/"
    if not path.startswith("/") or not plain.startswith(SCRATCH) or ".." in names:
        return True
    # INVARIANT: a project that itself lies in a scratch place is no scratch
    return bool(root) and (
        plain.startswith(f"{root.rstrip('/')}/") or f"{root.rstrip('/')}/".startswith(plain)
    )


def _place(cwd: str, path: str) -> str:
    return path if cwd in ("", ".") or path.startswith(("/", "~")) else f"{cwd.rstrip('/')}/{path}"

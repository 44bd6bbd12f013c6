"""Arguments as options and operands, by each program's own grammar. HOOK PATH."""

from __future__ import annotations

from functools import cache

from tether.control.expansion import ANY


class Options:
    """A parsed argument list: `flags` with their values in order, and the `operands` that are left."""

    def __init__(self) -> None:
        self.flags: list[tuple[str, str]] = []
        self.operands: list[str] = []
        self.first: int = -1  # index of the first operand in the argument list
        self.loose = False  # an argument that may turn out to be any option

    def has(self, names: str) -> bool:
        """Whether any of `-f|--force` is given. A long option may be abbreviated, as getopt allows."""
        wanted = names.split("|")
        return any(_same(flag, name) for flag, _ in self.flags for name in wanted)

    def values(self, names: str) -> list[str]:
        wanted = names.split("|")
        return [value for flag, value in self.flags if any(_same(flag, name) for name in wanted)]


def _same(given: str, name: str) -> bool:
    if given == name:
        return True
    # INVARIANT: an abbreviation may only be read as more than it is; `--f` could be `--force`.
    return given.startswith("--") and len(given) > 3 and name.startswith(given)


@cache
def _valued(spec: str) -> frozenset[str]:
    return frozenset(spec.split())


def parse(args: list[str], valued: str = "", *, stop: bool = False, single: bool = False) -> Options:
    """Parse arguments; `valued` lists the options that take a value in the next argument.

    `stop`: operands end the options (wrappers). `single`: `-name` is one long option (go, java, terraform).
    """
    takes = _valued(valued)
    out = Options()
    at = 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg.startswith(ANY):
            out.loose = True
        if arg == "--":
            if out.first < 0:
                out.first = at
            out.operands.extend(args[at:])
            break
        if len(arg) < 2 or arg[0] != "-":
            if out.first < 0:
                out.first = at - 1
            if stop:
                out.operands.extend(args[at - 1 :])
                break
            out.operands.append(arg)
            continue
        if ANY in arg.partition("=")[0]:
            out.loose = True
        if arg.startswith("--") or single:
            name, equals, value = arg.partition("=")
            if not equals and name in takes and at < len(args):
                value = args[at]
                at += 1
            out.flags.append((name, value))
            continue
        for position in range(1, len(arg)):
            flag = "-" + arg[position]
            if flag in takes:
                value = arg[position + 1 :]
                if not value and at < len(args):
                    value = args[at]
                    at += 1
                out.flags.append((flag, value.removeprefix("=")))
                break
            out.flags.append((flag, ""))
        if len(arg) > 2:
            out.flags.append((arg.partition("=")[0], arg.partition("=")[2]))  # `-rf` itself, and `-name`
    if out.first < 0:
        out.first = len(args)
    return out

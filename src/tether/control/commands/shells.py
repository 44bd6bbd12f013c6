"""Shells and their builtins: code handed to a shell is parsed again. HOOK PATH."""

from __future__ import annotations

import re

from tether.control.commands import options
from tether.control.commands.wrappers import change_folder
from tether.control.expansion import ANY, NEXT, SOME, evaluate_filter
from tether.control.paths import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.commands.readers import Rules
    from tether.control.risk import Feed, Scan

TOOLS: dict[str, tuple[str, Rules]] = {}


def run_fed(scan: Scan, name: str, feed: Feed) -> None:
    """A shell that reads its commands from standard input."""
    if feed.text is not None and feed.origin == "static":
        scan.read_script(feed.text)
        if ANY in feed.text:
            judge_unseen(scan, name, scan.came_from())
    else:
        judge_unseen(scan, name, feed.origin)


def judge_unseen(scan: Scan, name: str, origin: str) -> None:
    """Code that parsing cannot see is judged by where it comes from."""
    if origin == "network":
        scan.note("D", "risk.shell.network", f"`{name}` runs code fetched from the network")
    elif origin == "decoded":
        scan.note("D", "risk.shell.decoded", f"`{name}` runs code that was hidden by an encoding")
    else:
        scan.note("U", "risk.shell.unseen", f"`{name}` runs code that parsing cannot see")


def judge_shell(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`sh [-c TEXT | FILE | -s] …`."""
    parsed = options.parse(args, "-o -O --rcfile --init-file +o +O", stop=True)
    for path in parsed.values("--rcfile|--init-file"):
        scan.note("U", "risk.shell.file", f"runs the script `{show(path)}`")
    operands = parsed.operands
    if parsed.has("-c") or any(flag in ("--command", "--commands") for flag, _ in parsed.flags):
        if not operands:
            return
        positional = {
            str(number): (value,) if ANY not in value else None for number, value in enumerate(operands[1:])
        }
        rest = operands[2:]
        positional["@"] = positional["*"] = (
            None if any(ANY in value for value in rest) else (NEXT.join(rest),)
        )
        saved, folder = scan.scope, scan.folder
        scan.scope = saved.child(**positional)
        if ANY in operands[0]:
            judge_unseen(scan, name, scan.came_from())
        scan.read_script(operands[0])
        scan.scope, scan.folder = saved, folder
    elif operands and not parsed.has("-s"):
        if parsed.has("-n") and len(args) == 2:
            scan.note("R", "risk.read.shell")
        elif operands[0] == SOME and scan.pipes:
            run_fed(scan, name, scan.pipes[-1])
        elif operands[0] in ("/dev/stdin", "-", "/proc/self/fd/0"):
            run_fed(scan, name, feed)
        else:
            scan.read(operands[0])
            scan.note("U", "risk.shell.file", f"runs the script `{show(operands[0])}`")
    elif feed.origin:
        run_fed(scan, name, feed)
    else:
        remote = any(rule in ("risk.path.socket", "risk.net.socket") for _, rule, _ in scan.notes)
        if remote:
            scan.note("D", "risk.net.shell", f"`{name}` gives another machine a shell to control")
        scan.note("U", "risk.shell.interactive", f"`{name}` opens a shell")


def judge_powershell(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """PowerShell: `-Command TEXT`, `-EncodedCommand BASE64`, `-File FILE`."""
    text = ""
    for at, arg in enumerate(args):
        option = arg.lower().lstrip("-/")
        if (
            arg[:1] in "-/"
            and option
            and "encodedcommand".startswith(option)
            and option[0] == "e"
            and option not in ("ep", "ex", "exe")
        ):
            decoded = _decode_utf16(args[at + 1] if at + 1 < len(args) else "")
            if decoded is None:
                scan.note("D", "risk.shell.decoded", f"`{name}` runs code that was hidden by an encoding")
                return
            text = decoded
            break
        if option in ("command", "c", "com"):
            text = " ".join(args[at + 1 :])
            break
        if arg[:1] not in "-/":
            text = " ".join(args[at:])
            break
    text = text or (feed.text or "")
    scan.note("U", "risk.shell.powershell", f"`{name}` runs code in another language")
    if re.search(
        r"(?i)\b(remove-item|clear-content|clear-item|format-volume|clear-disk|remove-\w+|stop-computer|restart-computer"
        r"|stop-process|del|erase|rd|rmdir|ri|rm|initialize-disk|set-executionpolicy|reg delete)\b",
        text,
    ):
        scan.note("D", "risk.shell.powershell-delete", "PowerShell code that deletes or stops something")
    if re.search(r"(?i)\b(iex|invoke-expression)\b", text):
        scan.note("D", "risk.shell.network", f"`{name}` runs code fetched or built at run time")


def _decode_utf16(text: str) -> str | None:
    import binascii

    try:
        return binascii.a2b_base64(text).decode("utf-16-le")
    except (ValueError, binascii.Error):
        return None


def judge_cmd(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """Windows' `cmd /c TEXT`."""
    text = " ".join(args)
    scan.note("U", "risk.shell.cmd", f"`{name}` runs code in another language")
    if re.search(
        r"(?i)\b(del|erase|rd|rmdir|format|diskpart|reg\s+delete|shutdown|taskkill|vssadmin)\b", text
    ):
        scan.note("D", "risk.shell.cmd-delete", "a Windows command that deletes or stops something")


def judge_eval(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    text = " ".join(args[1:] if args[:1] == ["--"] else args)
    if not text.strip():
        scan.note("R", "risk.shell.empty")
        return
    if ANY in text:
        judge_unseen(scan, name, scan.came_from())
    scan.read_script(text)


def judge_source(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`source FILE`: code that parsing does not see, save a virtual environment's activation."""
    if not args:
        return
    path = args[0]
    if path == SOME and scan.pipes:
        run_fed(scan, name, scan.pipes[-1])
    elif path == "/dev/stdin":
        run_fed(scan, name, feed)
    elif re.fullmatch(r"(?:\./)?(?:[\w-]+/)*\.?v?env[\w.-]*/(?:bin|Scripts)/activate(?:\.fish|\.csh)?", path):
        scan.note("S", "risk.shell.activate")
    else:
        scan.read(path)
        scan.note("U", "risk.shell.file", f"runs the script `{show(path)}`")


def judge_trap(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    rest = args[1:] if args[:1] == ["--"] else args
    if len(rest) < 2 or rest[0] in ("", "-") or rest[0].startswith("-"):
        scan.note("R", "risk.shell.trap")
    else:
        scan.note("S", "risk.shell.trap")
        scan.read_script(rest[0])


def judge_alias(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    for arg in args:
        alias, equals, text = arg.partition("=")
        if equals:
            scan.note("S", "risk.shell.alias")
            scan.read_script(text)
            scan.aliases[alias] = text
    if not any("=" in arg for arg in args):
        scan.note("R", "risk.shell.alias")


def judge_cd(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    operands = options.parse(args).operands
    change_folder(scan, operands[0] if operands else ("-" if args else "~"))
    scan.note("R", "risk.shell.cd")


def judge_popd(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    scan.folder = ANY
    scan.note("R", "risk.shell.cd")


def judge_declare(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`export`, `declare`, `local`, `readonly`: assignments, which later words may expand."""
    scan.note("R", "risk.shell.assign")
    for arg in args:
        variable, equals, value = arg.partition("=")
        if equals and re.fullmatch(r"\w+\+?", variable):
            scan.judge_variable(variable.rstrip("+"), value)
            unknown = ANY in value or variable.endswith("+")
            scan.scope.values[variable.rstrip("+")] = None if unknown else (value,)
        elif arg.startswith(ANY):
            scan.note("U", "risk.shell.options", f"cannot tell what `{name}` sets")


def judge_read(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`read NAME…` and `mapfile`: the variables hold anything afterwards."""
    parsed = options.parse(args, "-d -i -n -N -p -t -u -a -C -c -O -s")
    for variable in [*parsed.operands, *parsed.values("-a"), "REPLY", "MAPFILE"]:
        scan.scope.values[variable] = None
    one = feed.text.strip("\n") if feed.text is not None else ""
    if name == "read" and one and "\n" not in one and ANY not in one and len(parsed.operands) == 1:
        scan.scope.values[parsed.operands[0]] = (one,)
    if name != "read" and parsed.has("-C"):
        for text in parsed.values("-C"):
            scan.read_script(text)
    scan.note("R", "risk.shell.read")


def judge_printf(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`printf -v NAME` assigns instead of printing."""
    if args[:1] == ["-v"] and len(args) > 2:
        text = evaluate_filter(["printf", *args[2:]], None)
        scan.scope.values[args[1]] = None if text is None or ANY in text else (text,)
    scan.note("R", "risk.read.printf")


def judge_history(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    if name == "fc" and not options.parse(args, "-e").has("-l"):
        scan.note("U", "risk.shell.history", "runs a command from the history again")
    elif options.parse(args, "-d").has("-c|-d|-w|-a|-r|-n|-p|-s"):
        scan.note("D", "risk.shell.history", "changes or erases the shell's history")
    else:
        scan.note("R", "risk.read.history")


def judge_unset(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    for arg in args:
        scan.scope.values.pop(arg, None)
        if scan.functions.pop(arg, None) or arg == "-f":
            continue
    scan.note("R", "risk.shell.assign")


def judge_set(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`set -- a b` gives the script new arguments."""
    scan.note("R", "risk.shell.set")
    rest = (
        args[args.index("--") + 1 :] if "--" in args else [arg for arg in args if arg[:1] not in ("-", "+")]
    )
    if rest or "--" in args:
        for number, value in enumerate(rest[:9], 1):
            scan.scope.values[str(number)] = None if ANY in value else (value,)
        known = not any(ANY in value for value in rest)
        scan.scope.values["@"] = scan.scope.values["*"] = (NEXT.join(rest),) if known else None


def judge_quiet(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    scan.note("R", f"risk.shell.{name}")
    if any("$(" in arg or "`" in arg for arg in args) or (
        name in ("jobs", "complete") and {"-x", "-C", "-F"} & set(args)
    ):
        scan.note("U", "risk.shell.subscript", f"an argument of `{name}` may run a command")
        scan.salvage(" ".join(arg for arg in args if not arg.startswith("-")))


def judge_enable(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    if args:
        scan.note("U", "risk.shell.enable", f"`{name}` changes what command names mean")
    else:
        scan.note("R", f"risk.shell.{name}")


JUDGES = dict.fromkeys(
    ["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "rbash", "fish", "csh", "tcsh"], judge_shell
) | {
    "pwsh": judge_powershell,
    "powershell": judge_powershell,
    "powershell.exe": judge_powershell,
    "cmd": judge_cmd,
    "cmd.exe": judge_cmd,
    "eval": judge_eval,
    "source": judge_source,
    ".": judge_source,
    "trap": judge_trap,
    "alias": judge_alias,
    "unalias": judge_quiet,
    "cd": judge_cd,
    "chdir": judge_cd,
    "pushd": judge_cd,
    "popd": judge_popd,
    "printf": judge_printf,
    "read": judge_read,
    "mapfile": judge_read,
    "readarray": judge_read,
    "history": judge_history,
    "fc": judge_history,
    "unset": judge_unset,
    "set": judge_set,
    "enable": judge_enable,
    "hash": judge_enable,
    "bind": judge_enable,
}
JUDGES |= dict.fromkeys(["export", "declare", "typeset", "local", "readonly"], judge_declare)
JUDGES |= dict.fromkeys(
    [
        "shopt",
        "let",
        "shift",
        "return",
        "exit",
        "break",
        "continue",
        "wait",
        "jobs",
        "umask",
        "ulimit",
        "getopts",
        "type",
        "times",
        "bg",
        "fg",
        "disown",
        "logout",
        "caller",
        "complete",
        "compopt",
        "dirs",
        "suspend",
    ],
    judge_quiet,
)

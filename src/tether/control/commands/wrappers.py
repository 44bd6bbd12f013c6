"""Programs that run another command: each with its own option grammar. HOOK PATH."""

from __future__ import annotations

import re

from tether.control.commands import options
from tether.control.expansion import ANY, SOME, Field
from tether.source.pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.commands.readers import Rules
    from tether.control.risk import Feed, Scan

ASSIGNMENT = lazy(r"[A-Za-z_]\w*=")
PRIVILEGE = "U"

# name → (options with a value, operands before the command, level of the wrapping itself)
WRAPPERS: dict[str, tuple[str, int, str]] = {
    "sudo": (
        "-u -g -h -p -C -T -D -R -r -t -U --user --group --host --prompt --chdir --chroot --role",
        0,
        PRIVILEGE,
    ),
    "doas": ("-u -C", 0, PRIVILEGE),
    "pkexec": ("--user", 0, PRIVILEGE),
    "nice": ("-n --adjustment", 0, "R"),
    "nohup": ("", 0, "S"),
    "timeout": ("-s -k --signal --kill-after", 1, "R"),
    "gtimeout": ("-s -k --signal --kill-after", 1, "R"),
    "stdbuf": ("-i -o -e --input --output --error", 0, "R"),
    "setsid": ("", 0, "S"),
    "time": ("-f -o --format --output", 0, "R"),
    "exec": ("-a", 0, "R"),
    "builtin": ("", 0, "R"),
    "ionice": ("-c -n -p --class --classdata", 0, "R"),
    "chroot": ("--userspec --groups", 1, PRIVILEGE),
    "unshare": ("-S -G --setuid --setgid --root --wd", 0, PRIVILEGE),
    "nsenter": ("-t -S -G --target --setuid --setgid", 0, PRIVILEGE),
    "chrt": ("-p", 1, "R"),
    "taskset": ("", 1, "R"),
    "numactl": ("", 0, "R"),
    "strace": ("-e -o -p -s -u -P -E -I -O -S -a -b", 0, "S"),
    "ltrace": ("-e -o -p -s -u -l -n -a", 0, "S"),
    "rlwrap": ("-a -b -f -H -C -P -q -s", 0, "S"),
    "unbuffer": ("", 0, "R"),
    "catchsegv": ("", 0, "R"),
    "valgrind": ("", 0, "S"),
    "dumb-init": ("", 0, "S"),
    "tini": ("-e", 0, "S"),
    "xvfb-run": ("-n -s -e -f -p -w", 0, "S"),
    "caffeinate": ("-t -w", 0, "R"),
    "eatmydata": ("", 0, "S"),
    "fakeroot": ("-l -s -i -b", 0, "S"),
    "firejail": ("", 0, "S"),
    "proxychains": ("-f", 0, "S"),
    "proxychains4": ("-f", 0, "S"),
    "torsocks": ("", 0, "S"),
    "not": ("", 0, "R"),
    "setarch": ("", 1, "R"),
    "linux32": ("", 0, "R"),
    "linux64": ("", 0, "R"),
    "i386": ("", 0, "R"),
    "x86_64": ("", 0, "R"),
    "prlimit": ("-p", 0, "R"),
    "busybox": ("", 0, "R"),
    "toybox": ("", 0, "R"),
    "dbus-run-session": ("", 0, "S"),
    "systemd-run": ("-u -p -E -M -H --unit --property --uid --gid --slice --on-calendar", 0, PRIVILEGE),
    "entr": ("", 0, "S"),
    "sem": ("-j --id", 0, "S"),
    "cross-env": ("", 0, "S"),
    "exec-env": ("", 0, "S"),
    "with-env": ("", 0, "S"),
    "dotenv": ("-e -f -c -v", 0, "S"),
}
TOOLS: dict[str, tuple[str, Rules]] = {}


def tail(scan: Scan, rest: list[str]) -> list[Field]:
    """The last arguments of the command being judged, with what is known about their quoting."""
    fields = scan.fields[len(scan.fields) - len(rest) :]
    return fields if [field.text for field in fields] == rest else [Field(text) for text in rest]


def judge_wrapper(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """Drop the wrapper and its options; what is left is judged as a command."""
    valued, skip, level = WRAPPERS[name]
    parsed = options.parse(args, valued, stop=True)
    if level != "R":
        reason = f"`{name}` runs a command with other rights" if level == PRIVILEGE else ""
        scan.note(level, f"risk.wrap.{name}", reason)
    for path in parsed.values("-o|--output") if name in ("time", "strace", "ltrace") else ():
        scan.write(path)
    if name == "sudo" and parsed.has("-e"):
        scan.write(*parsed.operands)
        return
    rest = args[parsed.first :][skip:]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if parsed.loose and ANY in "".join(args[: parsed.first + 1]):
        scan.note("U", "risk.shell.options", f"cannot tell which options `{name}` is given")
    run_rest(scan, name, rest, feed)


def unwrap(argv: list[str]) -> list[str]:
    """An argument list without the wrappers before the command itself."""
    for _ in range(8):
        name = argv[0].rpartition("/")[2] if argv else ""
        if name not in WRAPPERS and name not in ("env", "command"):
            break
        valued, skip, _level = WRAPPERS.get(name, ("-u -C --unset --chdir", 0, "R"))
        argv = argv[1:][options.parse(argv[1:], valued, stop=True).first :][skip:]
        while argv and ASSIGNMENT.match(argv[0]):
            argv = argv[1:]
    return argv


def run_rest(scan: Scan, name: str, rest: list[str], feed: Feed) -> None:
    """Judge a command that may start with assignments."""
    while rest and ASSIGNMENT.match(rest[0]):
        variable, _, value = rest[0].partition("=")
        scan.judge_variable(variable, value)
        rest = rest[1:]
    if not rest:
        if name in ("sudo", "doas"):
            scan.note(
                "U", f"risk.wrap.{name}", f"`{name}` without a command opens a shell or asks for a password"
            )
        else:
            scan.note("R", f"risk.wrap.{name}")
        return
    scan.run(tail(scan, rest), feed)


def judge_env(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`env [-i] [-u NAME] [-C DIR] [-S STRING] [NAME=VALUE]… [COMMAND]`."""
    parsed = options.parse(args, "-u -C -S -P -a --unset --chdir --split-string --argv0", stop=True)
    for text in parsed.values("-S|--split-string"):
        scan.read_script(" ".join([text, *[quote(a) for a in args[parsed.first :]]]))
        return
    folder = scan.folder
    for path in parsed.values("-C|--chdir"):
        change_folder(scan, path)
    if parsed.loose and any(a.startswith(ANY) for a in args[: parsed.first + 1]):
        scan.note("U", "risk.shell.options", "cannot tell which command `env` runs")
    rest = args[parsed.first :]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    run_rest(scan, name, rest, feed)
    scan.folder = folder


def judge_command(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`command [-pVv] NAME …`: with -v it only looks."""
    parsed = options.parse(args, stop=True)
    if parsed.has("-v|-V"):
        scan.note("R", "risk.read.command")
        return
    run_rest(scan, name, args[parsed.first :], feed)


def judge_su(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`su`, `runuser`, `sg`, `newgrp`: a shell as someone else, or `-c` one command."""
    scan.note("U", f"risk.wrap.{name}", f"`{name}` runs a command with other rights")
    parsed = options.parse(args, "-c -g -G -s -u -w --command --group --shell --user")
    for text in parsed.values("-c|--command"):
        scan.read_script(text)
    if name == "runuser" and parsed.has("-u"):
        stopped = options.parse(args, "-c -g -G -s -u -w --command --group --shell --user", stop=True)
        run_rest(scan, name, args[stopped.first :], feed)


def judge_watch(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`watch` hands its words, joined, to a shell."""
    parsed = options.parse(args, "-n -q --interval --equexit", stop=True)
    rest = args[parsed.first :]
    if parsed.has("-x|--exec"):
        run_rest(scan, name, rest, feed)
    else:
        scan.read_script(" ".join(rest))


def judge_flock(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`flock FILE COMMAND…` or `flock FILE -c SCRIPT`."""
    valued = "-w -E --timeout --wait --conflict-exit-code"
    parsed = options.parse(args, valued, stop=True)
    rest = args[parsed.first :]
    if rest and not rest[0].isdigit():
        scan.write(rest[0])
    rest = rest[1:]
    if rest[:1] in (["-c"], ["--command"]):
        scan.read_script(" ".join(rest[1:2]))
    elif rest:
        run_rest(scan, name, rest, feed)
    else:
        scan.note("S", "risk.wrap.flock")


def judge_shell_words(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`hyperfine CMD…`, `script -c CMD`, `perf stat CMD`."""
    if name == "hyperfine":
        valued = (
            "-w -r -p -c -s -n -P -L -m -M --warmup --runs --prepare --cleanup --setup --shell --export-json"
            " --export-markdown --export-csv --command-name --parameter-scan --min-runs --max-runs"
        )
        parsed = options.parse(args, valued)
        scan.note("S", "risk.wrap.hyperfine")
        for text in parsed.operands + parsed.values("-p|-c|-s|--prepare|--cleanup|--setup"):
            scan.read_script(text)
    elif name == "script":
        parsed = options.parse(args, "-c -I -O -B -E -T -t --command --log-out --log-in --log-io")
        scan.note("S", "risk.wrap.script")
        for text in parsed.values("-c|--command"):
            scan.read_script(text)
        scan.write(*(parsed.operands[:1] or ["typescript"]))
    else:
        parsed = options.parse(args, "-e -o -p -F -c -g -a -r -C", stop=True)
        action = parsed.operands[:1]
        if action in (["report"], ["list"], ["annotate"], ["script"]):
            scan.note("R", "risk.wrap.perf")
            return
        inner = options.parse(parsed.operands[1:], "-e -o -p -F -c -g -r -C --output --event", stop=True)
        scan.note("S", "risk.wrap.perf")
        run_rest(scan, name, parsed.operands[1:][inner.first :], feed)


def judge_direnv(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`direnv exec DIR COMMAND…`."""
    scan.note("U", "risk.wrap.direnv", "`direnv` runs the folder's `.envrc`")
    if args[:1] == ["exec"] and len(args) > 2:
        run_rest(scan, name, args[2:], feed)


def judge_parallel(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """GNU parallel: a command template, its values after `:::` or on standard input."""
    valued = (
        "-j -P -I -n -N -L -a -d -C -S --jobs --arg-file --delimiter --colsep --joblog --results --tmpdir"
    )
    parsed = options.parse(args, valued, stop=True)
    rest = args[parsed.first :]
    if parsed.has("-S|--sshlogin"):
        scan.note("U", "risk.net.ssh", "`parallel -S` runs commands on other machines")
    values: list[str] = []
    for at, arg in enumerate(rest):
        if re.fullmatch(r":::\+?|::::\+?", arg):
            values = rest[at + 1 :] if arg.startswith(":::") and not arg.startswith("::::") else [ANY]
            rest = rest[:at]
            break
    else:
        values = (
            (feed.text or "").split("\n")[:8]
            if feed.text and ANY not in feed.text
            else [SOME if feed.tame else ANY]
        )
    values = [value for value in values if value not in (":::", ":::+")][:8] or [ANY]
    for value in values:
        if not rest:
            scan.read_script(value)
        else:
            text = " ".join(rest)
            filled = re.sub(r"\{[./#%]*\d*[./]*\}", lambda _, v=value: v, text)  # type: ignore[misc]
            scan.read_script(filled if filled != text else f"{text} {value}")


def judge_xargs(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`xargs COMMAND…`: what it reads becomes arguments of the command."""
    valued = (
        "-I -n -P -L -s -d -a -E -R -S -J --max-args --max-procs --max-lines --max-chars --arg-file"
        " --delimiter --eof --process-slot-var"
    )
    parsed = options.parse(args, valued, stop=True)
    rest = args[parsed.first :]
    if not rest:
        scan.note("R", "risk.read.xargs")
        return
    known = (
        feed.text is not None
        and ANY not in feed.text
        and SOME not in feed.text
        and not parsed.has("-a|--arg-file")
    )
    words = feed.text.split()[:256] if known and feed.text is not None else [SOME if feed.tame else ANY]
    fields = tail(scan, rest)
    marks = parsed.values("-I|--replace|-J") or (["{}"] if parsed.has("-i|--replace") else [])
    mark = next((mark for mark in marks if mark), "{}" if marks else "")
    if not mark:
        scan.run(fields + [Field(word) for word in words])
        return
    if known and feed.text is not None:
        words = feed.text.splitlines()[:16]
    for word in words:
        scan.run([Field(field.text.replace(mark, word), False, True) for field in fields])


def quote(text: str) -> str:
    """A word as a shell would need it written."""
    return "'" + text.replace("'", "'\\''") + "'"


def change_folder(scan: Scan, path: str) -> None:
    """What later relative paths are relative to."""
    from tether.control.paths import is_certain, join

    scan.folder = (
        join(scan.folder, path)
        if is_certain(path) and path != "-" and scan.folder != ANY
        else (path if is_certain(path) and path.startswith(("/", "~")) else ANY)
    )


JUDGES = dict.fromkeys(WRAPPERS, judge_wrapper) | {
    "env": judge_env,
    "command": judge_command,
    "su": judge_su,
    "runuser": judge_su,
    "sg": judge_su,
    "newgrp": judge_su,
    "watch": judge_watch,
    "flock": judge_flock,
    "hyperfine": judge_shell_words,
    "script": judge_shell_words,
    "perf": judge_shell_words,
    "direnv": judge_direnv,
    "parallel": judge_parallel,
    "xargs": judge_xargs,
    "gxargs": judge_xargs,
}

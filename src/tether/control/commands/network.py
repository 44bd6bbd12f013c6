"""Programs that reach other machines. HOOK PATH."""
# ruff: noqa: E501 — lists of names

from __future__ import annotations

import re

from tether.control.commands import options
from tether.control.expansion import ANY, SOME
from tether.control.paths import show
from tether.source.pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.commands.readers import Rules
    from tether.control.risk import Feed, Scan

LOCAL = lazy(r"(?:https?://)?(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0)(?=[:/?]|$)", re.I)


def judge_curl(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """curl: a plain GET from this machine is safe; any other asks."""
    valued = (
        "-X -d -F -T -o -H -u -A -b -c -e -K -m -w -x -D -E -y -Y -z -r -C -t -P -Q -U --request --data --data-raw"
        " --data-binary --data-urlencode --form --upload-file --output --header --user --user-agent --cookie --cookie-jar"
        " --config --max-time --connect-timeout --write-out --proxy --dump-header --json --url --retry --retry-delay --cacert"
        " --cert --key --resolve --output-dir --form-string --unix-socket --max-redirs --referer --data-ascii --range"
        " --retry-max-time --limit-rate --interface"
    )
    parsed = options.parse(args, valued)
    urls = parsed.operands + parsed.values("--url")
    scan.reach(*urls)
    method = (parsed.values("-X|--request") or [""])[-1].upper()
    sends = parsed.has(
        "-d|--data|--data-raw|--data-binary|--data-urlencode|--data-ascii|-F|--form|--form-string|-T|--upload-file|--json"
    ) and not parsed.has("-G|--get")
    local = bool(urls) and all(LOCAL.match(url) for url in urls)
    if method == "DELETE":
        scan.note("D", "risk.net.delete", "asks a server to delete something")
    elif parsed.has("-Q|--quote"):
        scan.note("D", "risk.net.quote", "sends commands to a file server")
    elif method not in ("", "GET", "HEAD", "OPTIONS") or sends:
        scan.note("U", "risk.net.send", "sends data to a server")
    elif (
        parsed.has("-K|--config|-x|--proxy")
        or parsed.loose
        or not urls
        or any(url.startswith("file:") for url in urls)
    ):
        scan.note("U", "risk.net.options", "cannot tell what `curl` does")
    elif local:
        scan.note("S", "risk.net.local")
    else:
        scan.note("U", "risk.net.fetch", "fetches from another machine")
    outputs = parsed.values("-o|--output|-c|--cookie-jar|-D|--dump-header")
    scan.write(*outputs, level="U" if not local else "S")
    if parsed.has("-O|--remote-name|-J|--remote-header-name|--remote-name-all"):
        scan.note("U", "risk.net.download", "writes a file named by another machine")


def judge_wget(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    valued = "-O -o -a -P -i -e -t -T -U --output-document --output-file --directory-prefix --post-data --post-file --method"
    parsed = options.parse(
        args, valued + " --header --body-data --body-file --tries --timeout --user-agent --user --password"
    )
    scan.reach(*parsed.operands)
    outputs = parsed.values("-O|--output-document")
    local = bool(parsed.operands) and all(LOCAL.match(url) for url in parsed.operands)
    if "DELETE" in [value.upper() for value in parsed.values("--method")]:
        scan.note("D", "risk.net.delete", "asks a server to delete something")
    elif parsed.has("--post-data|--post-file|--body-data|--body-file|--method"):
        scan.note("U", "risk.net.send", "sends data to a server")
    elif (
        local
        and (outputs in (["-"], ["/dev/null"]) or parsed.has("--spider"))
        and not parsed.has("-e|--execute|-i")
    ):
        scan.note("S", "risk.net.local")
    else:
        scan.note("U", "risk.net.fetch", "fetches from another machine")
    scan.write(*outputs, level="U")


def judge_ssh(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """What ssh runs elsewhere is judged as if it ran here, and asks anyway."""
    if args == ["-V"]:
        scan.note("R", "risk.net.version")
        return
    valued = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"
    parsed = options.parse(args, valued, stop=True)
    for setting in parsed.values("-o"):
        key, value = [*re.split(r"[=\s]+", setting, maxsplit=1), ""][:2]
        if key.lower() in ("proxycommand", "localcommand", "knownhostscommand") and value.lower() != "none":
            scan.note("U", "risk.net.ssh-option", f"ssh's option `{show(key)}` runs a command")
            scan.read_script(value)
    scan.note("U", "risk.net.ssh", "runs on another machine")
    if not parsed.operands:
        return
    scan.reach(parsed.operands[0].removeprefix("ssh://"))
    inner = options.parse(parsed.operands[1:], valued, stop=True)
    command = " ".join(inner.operands)
    folder, scan.folder = scan.folder, ANY
    if command:
        scan.read_script(command)
    elif feed.text is not None and feed.origin == "static":
        scan.read_script(feed.text)
    scan.folder = folder


def judge_scp(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(args, "-c -F -i -J -l -o -P -S -D -b -B -R -s")
    for value in parsed.values("-S"):
        scan.read_script(value)
    for operand in parsed.operands:
        match = re.match(r"(?:scp://|sftp://)?(?:[\w.-]+@)?([\w.-]+)[:/]", operand)
        if match and (":" in operand or name == "sftp"):
            scan.reach(match[1])
    if name == "scp" and parsed.operands and ":" not in parsed.operands[-1]:
        scan.write(parsed.operands[-1], level="U")
    scan.note("U", f"risk.net.{name}", "copies files to or from another machine")


def judge_netcat(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(args, "-e -c -p -s -w -q -i -X -x --exec --sh-exec")
    if name != "socat" and parsed.has("-e|-c|--exec|--sh-exec"):
        scan.note("D", "risk.net.shell", f"`{name}` gives another machine a program to control")
    if name == "socat" and any(re.match(r"(?i)exec:|system:|shell:", arg) for arg in args):
        scan.note("D", "risk.net.shell", "`socat` gives another machine a program to control")
    if name == "nc" and parsed.has("-z") and parsed.operands and LOCAL.match(parsed.operands[0]):
        scan.note("S", "risk.net.local")
        return
    if name != "socat":
        scan.reach(*parsed.operands[:1])
    scan.note("U", f"risk.net.{name}", "talks to another machine")


def judge_httpie(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    operands = options.parse(args, "-a --auth --session -o --output").operands
    method = operands[0].upper() if operands and operands[0].isupper() else "GET"
    urls = operands[1:] if operands and operands[0].isupper() else operands
    scan.reach(*urls[:1])
    if method == "DELETE":
        scan.note("D", "risk.net.delete", "asks a server to delete something")
    elif method in ("GET", "HEAD") and len(urls) == 1 and LOCAL.match(urls[0]) and SOME not in urls[0]:
        scan.note("S", "risk.net.local")
    else:
        scan.note("U", "risk.net.send", "talks to a server")


_REMOTE = "talks to another machine"
# fmt: off
TOOLS: dict[str, tuple[str, Rules]] = {
    "aria2c": ("", (("U", "fetch", "", "fetches from another machine"),)),
    "ssh-keygen": ("-f -t -b -C -N", (("R", "list", "-l !-y", ""), ("U", "make", "", "makes or changes keys"),
                                      ("D", "remove", "-R|-K", "removes known hosts or keys"))),
    "ssh-copy-id": ("-i -p", (("U", "copy", "", "lets a key into another machine"),)),
    "ssh-add": ("", (("R", "list", "-l|-L", ""), ("U", "add", "!-l|-L", "changes the keys the agent holds"))),
    "ftp": ("", (("U", "talk", "", _REMOTE),)),
    "lftp": ("-e -c", (("U", "talk", "", _REMOTE),)),
    "telnet": ("", (("U", "talk", "", _REMOTE),)),
    "mosh": ("", (("U", "talk", "", _REMOTE),)),
    "nmap": ("", (("U", "scan", "", "probes other machines"),)),
    "rclone": ("", (
        ("S", "read", "ls|lsf|lsd|lsl|lsjson|size|cat|check|listremotes|version|about|tree|md5sum", ""),
        ("D", "delete", "delete|purge|sync|cleanup|rmdir|rmdirs|deletefile|move|moveto|dedupe", "deletes files at the other end"))),
}
# fmt: on
JUDGES = {
    "curl": judge_curl,
    "wget": judge_wget,
    "ssh": judge_ssh,
    "scp": judge_scp,
    "sftp": judge_scp,
    "nc": judge_netcat,
    "ncat": judge_netcat,
    "netcat": judge_netcat,
    "socat": judge_netcat,
    "http": judge_httpie,
    "https": judge_httpie,
    "httpie": judge_httpie,
    "xh": judge_httpie,
}

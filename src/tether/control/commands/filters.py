"""awk, sed and ed: text filters whose programs can run commands and write files. HOOK PATH."""

from __future__ import annotations

import re

from tether.control.commands import options
from tether.control.commands.code import keep_destruction
from tether.control.expansion import ANY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.commands.readers import Rules
    from tether.control.risk import Feed, Scan

TOOLS: dict[str, tuple[str, Rules]] = {}


def judge_awk(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """awk runs commands and writes files from its program text."""
    parsed = options.parse(
        args, "-F -v -f -i -E -e -l --field-separator --assign --file --include --source", stop=True
    )
    if parsed.has("-f|-E|--file|-l") or (parsed.loose and parsed.first == 0):
        scan.note("U", "risk.code.awk-file", "runs an `awk` program that parsing does not see")
        return
    if "inplace" in parsed.values("-i|--include"):
        scan.note("U", "risk.code.awk-inplace", "`awk -i inplace` rewrites files")
        scan.write(*parsed.operands[1:], level="U")
    programs = parsed.values("-e|--source") or parsed.operands[:1]
    program = "\n".join(programs)
    scan.read(*[p for p in parsed.operands[1:] if "=" not in p])
    if ANY in program:
        scan.note("U", "risk.code.awk", "runs an `awk` program that parsing cannot see whole")
    bare = re.sub(r"\"(?:[^\"\\\n]|\\.)*\"", '""', program)
    bare = re.sub(r"/(?:[^/\\\n]|\\.)+/", "x", bare).replace("||", " ")
    for text in re.findall(r"system\s*\(\s*\"((?:[^\"\\]|\\.)*)\"", program):
        scan.read_script(text.replace('\\"', '"') + " " + ANY)
    for text in re.findall(r"\|&?\s*\"((?:[^\"\\]|\\.)*)\"|\"((?:[^\"\\]|\\.)*)\"\s*\|&?\s*getline", program):
        scan.read_script((text[0] or text[1]).replace('\\"', '"'))
    if re.search(r"\bsystem\s*\(", program):
        scan.note("U", "risk.code.awk-system", "the `awk` program runs commands")
    elif re.search(r"\|&?\s*(?:getline|[\"$A-Za-z_(])", bare):
        scan.note("U", "risk.code.awk-pipe", "the `awk` program runs commands")
    for path, more in re.findall(r"\bprintf?\b[^>;}\n]*>>?\s*\"([^\"]*)\"\s*([^\s;}]?)", program):
        scan.write(ANY if more else path)
    if re.search(r"\bprintf?\b[^;}\n|]*>>?\s*(?![\s\"0-9])", program) and not re.search(
        r"\([^)]*>[^)]*\)", program
    ):
        scan.note("U", "risk.code.awk-write", "the `awk` program writes to files it names itself")
    scan.note("R", "risk.read.awk")


def judge_sed(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """sed writes with -i and w, and runs commands with e."""
    parsed = options.parse(args, "-e -f -l --expression --file --line-length")
    scripts = parsed.values("-e|--expression")
    files = parsed.operands if scripts or parsed.has("-f|--file") else parsed.operands[1:]
    scripts = scripts or parsed.operands[:1]
    if parsed.has("-f|--file"):
        scan.note("U", "risk.code.sed-file", "runs a `sed` script that parsing does not see")
    if parsed.loose or any(ANY in script for script in scripts):
        scan.note("U", "risk.code.sed", "runs a `sed` script that parsing cannot see whole")
    effects = "".join(sed_effects(script) for script in scripts)
    if "e" in effects:
        for script in scripts:
            for text in re.findall(r"(?:^|[;{}\d$/])\s*e\s+(.+)", script):
                scan.read_script(text)
            for text in re.findall(r"s(\W)(?:.*?)\1(.*?)\1\w*e", script):
                keep_destruction(scan, text[1])
        scan.note("U", "risk.code.sed-run", "the `sed` script runs commands")
    if "w" in effects:
        for script in scripts:
            scan.write(*re.findall(r"\bw\s*(/?[\w./~-]+)\s*$", script), level="U")
        scan.note("U", "risk.code.sed-write", "the `sed` script writes files")
    if parsed.has("-i|--in-place"):
        scan.write(*files, level="U")
        scan.note("U", "risk.code.sed-inplace", "`sed -i` rewrites files")
    else:
        scan.read(*files)
        scan.note("R", "risk.read.sed")


def sed_effects(script: str) -> str:
    """`e` and `w` where a sed script runs commands or writes files; both when it is not understood."""
    at, effects = 0, ""
    while at < len(script):
        char = script[at]
        if char in " \t\n;{}!,$0123456789+~":
            at += 1
        elif char in "/\\" or (char == "I" and at and script[at - 1] == "/"):
            if char == "\\":
                at += 1
            end = _sed_end(script, at)
            if end < 0:
                return effects + "ew"
            at = end
        elif char in "sy":
            delimiter = script[at + 1 : at + 2]
            middle = _sed_end(script, at + 1)
            end = _sed_end(script, middle - 1) if middle > 0 else -1
            if not delimiter or end < 0:
                return effects + "ew"
            flags = re.compile(r"[a-zA-Z0-9]*").match(script, end)
            text = flags[0] if flags else ""
            effects += "e" * ("e" in text) + "w" * ("w" in text)
            at = end + len(text)
            if "w" in text:
                at = _line_end(script, at)
        elif char in "wW":
            effects += "w"
            at = _line_end(script, at)
        elif char == "e":
            effects += "e"
            at = _line_end(script, at)
        elif char in "aicrRbtT:#}":
            stop = _line_end(script, at)
            if char in "btT:":
                found = re.compile(r"[;}\n]").search(script, at + 1)
                stop = found.start() if found else stop
            at = max(stop, at + 1)
        elif char in "dDgGhHlnNpPqQxzFI=M":
            at += 1
        else:
            return effects + "ew"
    return effects


def _sed_end(script: str, at: int) -> int:
    """The place after the delimiter that closes what opens at `at`; -1 when nothing does."""
    delimiter = script[at : at + 1]
    position, bracket = at + 1, False
    while position < len(script):
        char = script[position]
        if char == "\\":
            position += 2
            continue
        if char == delimiter and not bracket:
            return position + 1
        position += 1
    return -1


def _line_end(script: str, at: int) -> int:
    end = script.find("\n", at)
    return len(script) if end < 0 else end


def judge_ed(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    for text in re.findall(r"^\s*[\d,$%]*!(.+)$", feed.text or "", re.M):
        scan.read_script(text)
    scan.write(*options.parse(args, "-p").operands, level="U")
    scan.note("U", "risk.code.ed", f"`{name}` edits files by script")


JUDGES = dict.fromkeys("awk gawk mawk nawk".split(), judge_awk) | {
    "sed": judge_sed,
    "gsed": judge_sed,
    "ed": judge_ed,
    "red": judge_ed,
}

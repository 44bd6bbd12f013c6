"""Programs that create, change, move or delete files. HOOK PATH."""
# ruff: noqa: E501 — patterns read best on one line

from __future__ import annotations

import re

from tether.control.commands import options
from tether.control.expansion import ANY, SOME, Field
from tether.control.paths import judge_write, show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.commands.readers import Rules
    from tether.control.risk import Feed, Scan


def judge_rm(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """Deleting is destructive in every spelling."""
    operands = options.parse(args, "-n --iterations -s --size" if name == "shred" else "").operands
    scan.write(*operands)
    what = ", ".join(f"`{show(operand)}`" for operand in operands[:3]) or "files"
    scan.note("D", f"risk.file.{name}", f"`{name}` deletes {what}")


def judge_rmdir(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    scan.write(*options.parse(args).operands)
    scan.note("U", "risk.file.rmdir", "removes folders that are empty")


def judge_copy(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`cp`, `mv`, `ln`, `install`: sources and one target."""
    parsed = options.parse(args, "-t -S --target-directory --suffix -m -o -g --mode --owner --group")
    operands = list(parsed.operands)
    targets = parsed.values("-t|--target-directory") or ([operands.pop()] if len(operands) > 1 else [])
    if name == "install" and parsed.has("-d|--directory"):
        targets, operands = parsed.operands, []
    if name == "ln" and not targets and operands:
        targets = [operands[0].rstrip("/").rpartition("/")[2]]
    if parsed.loose:
        scan.note("U", "risk.shell.options", f"cannot tell what `{name}` is given")
    if name == "mv":
        scan.write(*operands, level="U")
        if any(target == "/dev/null" for target in targets):
            scan.note("D", "risk.file.mv-null", "moving files to `/dev/null` destroys them")
    elif name != "ln":
        scan.read(*operands)
        if any(operand in ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom") for operand in operands):
            scan.note(
                "D", "risk.file.empty", f"overwrites `{show(targets[0] if targets else '')}` with nothing"
            )
    scan.write(
        *targets, level="S" if name == "cp" and not parsed.has("-f|--force|--remove-destination") else "U"
    )
    if not targets:
        scan.note("U", f"risk.file.{name}", f"cannot tell what `{name}` changes")
    elif name != "cp":
        scan.note("U", f"risk.file.{name}", f"`{name}` may replace what is at its target")
    elif parsed.has("-f|--force|--remove-destination"):
        scan.note("U", "risk.file.cp-force", "`cp -f` replaces what is at its target")


def judge_dd(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    for arg in args:
        key, _, value = arg.partition("=")
        if key == "of":
            level = judge_write(value)[0]
            scan.write(value, level="U")
            if level != "R":
                scan.note("U", "risk.file.dd", f"`dd` overwrites `{show(value)}`")
        elif key == "if":
            scan.read(value)
        elif ANY in key:
            scan.note("U", "risk.file.dd", "cannot tell what `dd` overwrites")
    scan.note("S", "risk.file.dd")


def judge_truncate(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(args, "-s -r -l -o -n --size --reference --length --offset")
    scan.write(*parsed.operands)
    if name == "fallocate" and not parsed.has("-p|-z|-c|--punch-hole|--zero-range|--collapse-range"):
        scan.note("U", "risk.file.fallocate", "`fallocate` changes a file's size")
    else:
        scan.note("D", f"risk.file.{name}", f"`{name}` cuts away a file's contents")


def judge_make(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`mkdir`, `touch`, `mkfifo`, `tee`: new files at the places named."""
    operands = options.parse(args, "-m -d -t -r --mode --date --reference --context").operands
    scan.write(*operands)
    scan.note("R" if name == "tee" else "S", f"risk.file.{name}")
    if name == "tee" and feed.text is not None and not feed.text.strip() and operands and "-a" not in args:
        scan.note("D", "risk.redirect.truncate", "empties a file")


def judge_mktemp(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    scan.note("S", "risk.file.mktemp")


def judge_mode(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`chmod`, `chown`, `chgrp`, `chattr`, `setfacl`."""
    parsed = options.parse(
        [a for a in args if not re.fullmatch(r"-[rwxXst]+", a)], "-m -x -M -X --reference --from"
    )
    operands = parsed.operands
    modes = [a for a in args if re.fullmatch(r"-[rwxXst]+", a)]
    files = operands if modes or parsed.has("--reference") or name == "setfacl" else operands[1:]
    scan.write(*files)
    mode = modes[0] if modes else (operands[0] if operands else "")
    if parsed.has("-R|--recursive"):
        scan.note(
            "D", f"risk.file.{name}-recursive", f"`{name} -R` changes a whole tree's permissions or owners"
        )
    elif name == "chmod" and re.fullmatch(
        r"[ugoa]*\+[xr]+|[ugo]+[+=]rw?x?(?:,[ugo]+[+=]r?w?x?)*|0?(?:644|755)", mode
    ):
        scan.note("S", "risk.file.chmod")
    else:
        scan.note("U", f"risk.file.{name}", f"`{name}` changes permissions or owners")


# ── searching ────────────────────────────────────────────────────────────────


def judge_find(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`find` looks, unless its expression acts."""
    scan.note("R", "risk.read.find")
    at = 0
    while at < len(args) and not args[at].startswith(("-", "(", "!", ANY)):
        scan.read(args[at])
        at += 1
    while at < len(args):
        arg = args[at]
        at += 1
        if arg in ("-exec", "-execdir", "-ok", "-okdir"):
            command: list[str] = []
            while (
                at < len(args)
                and args[at] != ";"
                and not (args[at] == "+" and command and command[-1] == "{}")
            ):
                command.append(args[at])
                at += 1
            at += 1
            scan.run([Field(word.replace("{}", SOME), False, True) for word in command])
        elif arg == "-delete":
            scan.note("D", "risk.file.find-delete", "`find -delete` deletes what it finds")
        elif arg in ("-fprint", "-fprint0", "-fls", "-fprintf"):
            scan.write(*args[at : at + 1])
            at += 1
        elif arg == "-files0-from":
            at += 1
        elif arg.startswith(ANY):
            scan.note("U", "risk.shell.options", "cannot tell what `find` does with what it finds")


def judge_fd(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    scan.note("R", "risk.read.fd")
    for at, arg in enumerate(args):
        if arg in ("-x", "-X", "--exec", "--exec-batch"):
            command = [re.sub(r"\{[./]{0,2}\}", SOME, word) for word in args[at + 1 :] if word != ";"]
            scan.run(
                [Field(word, False, True) for word in command]
                + ([] if SOME in "".join(command) else [Field(SOME)])
            )
            return
        if re.match(r"--exec(-batch)?=", arg) or (
            re.fullmatch(r"-[a-wyzA-WYZ]*[xX].*", arg) and not arg.startswith("--")
        ):
            scan.read_script(arg.partition("=")[2] or "true " + ANY)
            scan.note("U", "risk.file.fd-exec", "`fd` runs a command on what it finds")
        if arg.startswith(ANY):
            scan.note("U", "risk.shell.options", "cannot tell what `fd` does with what it finds")


def judge_search(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`rg`, `ag`, `ack`, `bat`, `less`: readers, save for the options that start programs or write."""
    parsed = options.parse(
        args, "-e -f -g -t -T -A -B -C -m -M -r -j --glob --type --max-count --iglob --replace --sort"
    )
    if parsed.has("--pre|--pager|--hostname-bin|--search-zip-cmd|-o|-O|--log-file|-k|--lesskey-src") and (
        name in ("less", "more", "bat") or parsed.has("--pre|--pager|--hostname-bin")
    ):
        values = parsed.values("--pager")
        if (
            values
            and all(value in ("", "cat", "never", "less") for value in values)
            and not parsed.has("--pre")
        ):
            scan.note("R", f"risk.read.{name}")
            return
        scan.note(
            "U", f"risk.read.{name}-program", f"an option of `{name}` starts a program or writes a file"
        )
    elif name in ("less", "more") and any(arg.startswith("+") for arg in args):
        scan.note("U", f"risk.read.{name}-command", f"`{name} +…` runs commands")
    elif parsed.loose and name in ("rg", "ag", "ack", "bat", "less") and any(a == ANY for a in args[:1]):
        scan.note("U", "risk.shell.options", f"cannot tell which options `{name}` is given")
    else:
        scan.note("R", f"risk.read.{name}")
        if name in ("less", "more", "bat"):
            scan.read(*parsed.operands)
        else:
            scan.read(*parsed.operands[0 if parsed.has("--files|-e|-f") else 1 :])


# ── text tools that can write ────────────────────────────────────────────────

# name → (options with a value, option naming an output file, operands after which the next is an output, unsafe)
OUTPUTS: dict[str, tuple[str, str, int, str]] = {
    "sort": (
        "-o -k -t -S -T --output --key --compress-program --parallel",
        "-o|--output",
        99,
        "--compress-program",
    ),
    "shuf": ("-o -n -i --output --head-count", "-o|--output", 99, ""),
    "uniq": ("-f -s -w --skip-fields --skip-chars", "", 1, ""),
    "tree": ("-o -L -I -P --filelimit", "-o", 99, ""),
    "iconv": ("-f -t -o --output", "-o|--output", 99, ""),
    "sdiff": ("-o --output", "-o|--output", 99, "--diff-program"),
    "xxd": ("-c -g -l -s -o", "", 1, ""),
    "base64": ("-w -i -o -b --wrap --output", "-o|--output", 99, ""),
    "base32": ("-w --wrap", "", 99, ""),
    "basenc": ("-w --wrap", "", 99, ""),
}


def judge_output(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """Readers with one option or operand that names a file to write."""
    valued, output, after, unsafe = OUTPUTS[name]
    parsed = options.parse(args, valued)
    scan.note("R", f"risk.read.{name}")
    if name in ("base64", "base32", "basenc", "xxd") and parsed.has("-d|-D|--decode|-r"):
        scan.note("R", f"risk.decode.{name}")
    scan.write(*(parsed.values(output) if output else []), *parsed.operands[after:])
    scan.read(*parsed.operands[:after])
    if unsafe and parsed.has(unsafe):
        scan.note("U", f"risk.read.{name}-program", f"`{name} {unsafe}` starts a program")
    if parsed.loose and output and any(arg.startswith(ANY) and len(arg) == 1 for arg in args[:-1]):
        scan.note("U", "risk.shell.options", f"cannot tell which options `{name}` is given")


def judge_yq(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(args, "-o -p -I -s --output-format --input-format --indent")
    if parsed.has("-i|--inplace|--in-place"):
        scan.write(*parsed.operands[-1:], level="U")
        scan.note("U", "risk.file.yq", "`yq -i` rewrites a file")
    elif parsed.has("-s|--split-exp"):
        scan.note("U", "risk.file.yq", "`yq -s` writes files it names itself")
    else:
        scan.note("R", "risk.read.yq")


# ── archives ─────────────────────────────────────────────────────────────────


def judge_tar(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """tar: listing looks, creating writes one file, extracting writes what the archive says."""
    given = (
        ["-" + args[0], *args[1:]] if args and not args[0].startswith("-") and ANY not in args[0] else args
    )
    valued = (
        "-f -C -T -X -I -b -g -F -K -N -V -H --file --directory --files-from --exclude --exclude-from"
        " --use-compress-program --to-command --checkpoint-action --transform --strip-components --rsh-command"
        " --info-script --new-volume-script --owner --group --mode"
    )
    parsed = options.parse(given, valued)
    runs = "--to-command|--checkpoint-action|--use-compress-program|-I|--rsh-command|--info-script|--new-volume-script|-F"
    for value in parsed.values(runs):
        if re.fullmatch(r"(?:pigz|gzip|zstd|xz|bzip2|lz4|pbzip2|pixz)(?: -[\w -]+)?", value):
            continue
        if value.startswith(("exec=", "dot", "echo", "bell", "sleep=")) and not value.startswith("exec="):
            continue
        scan.note("U", "risk.file.tar-run", "an option of `tar` runs a command")
        scan.read_script(value.removeprefix("exec="))
        if value.startswith("exec="):
            scan.note("D", "risk.file.tar-run", "`tar --checkpoint-action=exec` is a way to hide a command")
    if parsed.loose:
        scan.note("U", "risk.shell.options", "cannot tell which options `tar` is given")
    if parsed.has("--remove-files|--delete|--recursive-unlink|--unlink-first|-U"):
        scan.note("D", "risk.file.tar-delete", "`tar` deletes files")
    files = [value for value in parsed.values("-f|--file") if value != "-"]
    if parsed.has("-t|--list"):
        scan.note("R", "risk.read.tar")
        scan.read(*files)
    elif parsed.has("-c|--create"):
        scan.write(*files)
        scan.note("R" if not files else "S", "risk.file.tar-create")
    elif parsed.has("-x|--extract|--get") and parsed.has("-O|--to-stdout"):
        scan.note("R", "risk.read.tar")
    else:
        scan.write(*parsed.values("-C|--directory"), level="U")
        scan.note("U", "risk.file.tar", "`tar` writes whatever files the archive holds")


def judge_compress(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(args, "-S -T --suffix --threads -o")
    piped = not [operand for operand in parsed.operands if operand != "-"]
    if parsed.has("-d|--decompress") or name.startswith("un") or name == "gunzip":
        scan.note("R", f"risk.decode.{name}")
    if parsed.has("-l|-t|-c|--list|--test|--stdout|--to-stdout") or piped:
        scan.note("R", f"risk.read.{name}")
    elif parsed.has("-k|--keep") or (name == "zstd" and not parsed.has("--rm")):
        scan.note("S", f"risk.file.{name}")
    else:
        scan.write(*parsed.operands, level="U")
        scan.note("U", f"risk.file.{name}", f"`{name}` replaces the file it is given")


def judge_rsync(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    valued = "-e --rsh -f --filter --exclude --include --exclude-from --include-from --files-from --rsync-path --port"
    parsed = options.parse(args, valued)
    for value in parsed.values("-e|--rsh"):
        if value not in ("ssh", ""):
            scan.read_script(value)
    if parsed.has("--rsync-path"):
        scan.note("U", "risk.net.rsync-path", "`rsync --rsync-path` runs a command on the other machine")
    for operand in parsed.operands:
        host = re.match(r"(?:rsync://)?(?:[\w.-]+@)?([\w.-]+):", operand)
        if host:
            scan.reach(host[1])
            scan.note("U", "risk.net.rsync", f"`rsync` copies to or from `{host[1]}`")
    deletes = any(flag.startswith(("--delete", "--del", "--remove-s")) for flag, _ in parsed.flags)
    if parsed.has("-n|--dry-run") and not parsed.loose:
        scan.note("S", "risk.read.rsync")
    elif deletes:
        scan.note("D", "risk.file.rsync-delete", "`rsync` deletes files that are not at its source")
    else:
        scan.note("U", "risk.file.rsync", "`rsync` replaces files at its target")
    if parsed.operands and ":" not in parsed.operands[-1] and not parsed.has("-n|--dry-run"):
        scan.write(parsed.operands[-1], level="U")


def judge_patch(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(args, "-p -i -d -o -r -B -D -F --strip --input --directory --output")
    if parsed.has("--dry-run") and not parsed.loose:
        scan.note("R", "risk.read.patch")
    else:
        scan.note("U", "risk.file.patch", "`patch` rewrites the files its input names")


def judge_openssl(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(
        args, "-in -out -keyout -connect -subj -days -newkey -pass -k -K -iv -noout_", single=True
    )
    sub = parsed.operands[0] if parsed.operands else ""
    scan.write(*parsed.values("-out|-keyout"), level="U")
    if parsed.has("-d") or "base64" in args:
        scan.note("R", "risk.decode.openssl")
    if sub == "s_client":
        scan.reach(*parsed.values("-connect"))
        scan.note("U", "risk.net.openssl", "`openssl s_client` talks to another machine")
    elif sub in (
        "version",
        "dgst",
        "x509",
        "rand",
        "verify",
        "ciphers",
        "base64",
        "enc",
        "asn1parse",
        "crl",
        "list",
        "prime",
    ):
        scan.note("R", "risk.read.openssl")
    else:
        scan.note("U", "risk.file.openssl", "`openssl` makes or changes keys")


# fmt: off
_EXTRACT = "writes whatever files the archive holds"
TOOLS: dict[str, tuple[str, Rules]] = {
    "zip": ("-x -i", (
        ("S", "create", "", ""),
        ("D", "move", "-m|--move|-d|--delete", "`zip -m` and `-d` delete files"),
        ("U", "run", "-T|-TT|--unzip-command", "`zip -TT` runs a command"))),
    "unzip": ("-d -x -P", (("R", "list", "-l|-t|-Z|-v|-p|-z", ""), ("U", "extract", "!-l|-t|-Z|-v|-p|-z", _EXTRACT))),
    "7z": ("", (("R", "list", "l|t", ""), ("S", "add", "a", ""), ("U", "extract", "x|e|u|rn", _EXTRACT),
                ("D", "delete", "d", "deletes from an archive"), ("D", "move", "-sdel", "deletes what it packs"))),
    "rar": ("", (("R", "list", "l|t|v", ""), ("D", "delete", "d", "deletes from an archive"))),
    "unrar": ("", (("R", "list", "l|t|v", ""),)),
    "ar": ("", (("R", "list", "t|p|tv", ""), ("S", "create", "rcs|cr|rc|crs|rcu", ""), ("D", "delete", "d", "deletes members"))),
    "cpio": ("", (("R", "list", "-t|--list", ""), ("S", "create", "-o|--create", ""))),
    "pax": ("-f", (("S", "write", "-w !-r", ""),)),
    "split": ("-b -l -n -C -d -a --filter", (("S", "split", "", ""), ("U", "filter", "--filter", "`split --filter` runs a command"))),
    "csplit": ("-f -n -b", (("S", "split", "", ""),)),
    "gpg": ("-o -r -u", (("R", "list", "--list-keys|-k|--list-secret-keys|-K|--fingerprint|--verify|--version", ""),
                         ("D", "delete", "--delete-keys|--delete-secret-keys|--delete-key|--delete-secret-key", "deletes keys"))),
    "trash": ("", (("U", "trash", "", "moves files to the bin"),)),
}
TOOLS["7za"] = TOOLS["7z"]
# fmt: on
JUDGES = dict.fromkeys("rm unlink shred wipe srm rimraf del-cli del erase".split(), judge_rm) | {
    "rmdir": judge_rmdir,
    "cp": judge_copy,
    "mv": judge_copy,
    "ln": judge_copy,
    "install": judge_copy,
    "dd": judge_dd,
    "truncate": judge_truncate,
    "fallocate": judge_truncate,
    "mkdir": judge_make,
    "touch": judge_make,
    "mkfifo": judge_make,
    "tee": judge_make,
    "mktemp": judge_mktemp,
    "find": judge_find,
    "gfind": judge_find,
    "fd": judge_fd,
    "fdfind": judge_fd,
    "yq": judge_yq,
    "rsync": judge_rsync,
    "patch": judge_patch,
    "openssl": judge_openssl,
}
JUDGES |= dict.fromkeys(["chmod", "chown", "chgrp", "chattr", "setfacl", "setfattr"], judge_mode)
JUDGES |= dict.fromkeys(["rg", "ag", "ack", "bat", "less", "more"], judge_search)
JUDGES |= dict.fromkeys(OUTPUTS, judge_output)
JUDGES |= dict.fromkeys(["tar", "gtar", "bsdtar"], judge_tar)
JUDGES |= dict.fromkeys(["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd"], judge_compress)

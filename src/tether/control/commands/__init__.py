"""What is known about programs: rules as data, judges for those with their own grammar. HOOK PATH."""
# ruff: noqa: E501 — lists of names

from __future__ import annotations

import re
from functools import cache

from tether.control.commands import options, readers
from tether.control.expansion import ANY, SOME
from tether.control.paths import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tether.control.expansion import Field
    from tether.control.risk import Feed, Scan

    Judge = Callable[["Scan", str, list[str], "Feed"], None]

DECODERS = frozenset(
    "base64 base32 basenc xxd openssl rev tr gunzip zcat gzip bzcat bunzip2 xzcat unxz uudecode"
    " gpg rot13 iconv hexdump od uncompress zstd zstdcat lz4 sed awk perl printf python python3".split()
)
# module → the programs it judges
FAMILIES = {
    "wrappers": "env sudo doas su runuser nice nohup timeout gtimeout stdbuf setsid time command exec builtin watch"
    " ionice chroot unshare nsenter flock parallel chrt taskset numactl strace ltrace script rlwrap unbuffer catchsegv"
    " valgrind perf hyperfine dumb-init tini xvfb-run systemd-run caffeinate entr sem eatmydata fakeroot firejail"
    " proxychains proxychains4 torsocks coproc not pkexec sg newgrp setarch linux32 linux64 i386 x86_64 prlimit"
    " xargs gxargs busybox toybox dbus-run-session dotenv direnv with-env cross-env exec-env",
    "shells": "sh bash zsh dash ksh mksh ash rbash fish csh tcsh pwsh powershell powershell.exe cmd cmd.exe eval source"
    " . trap alias unalias cd pushd popd export declare typeset local readonly unset set shopt read mapfile readarray"
    " enable printf let history fc shift return exit break continue wait jobs umask ulimit getopts hash type times bg fg"
    " disown suspend logout caller complete compgen compopt bind dirs chdir",
    "code": "python python2 python3 pypy pypy3 ipython perl ruby node nodejs bun-eval deno php lua luajit osascript"
    " Rscript R julia elixir erl groovy scala jshell java tclsh wish expect ex"
    " vi vim nvim view emacs nano pico ghci ghc runghc racket guile sbcl clj swift kotlin dotnet-script tsx ts-node"
    " octave matlab gdb lldb m4 bc dc tclsh8.6 node20 jrunscript crystal nim",
    "filters": "awk gawk mawk nawk sed gsed ed red",
    "files": "rm unlink rmdir shred wipe srm trash rimraf del-cli del erase cp mv ln install dd truncate touch mkdir mktemp"
    " mkfifo mknod chmod chown chgrp chattr setfacl setfattr tee find gfind fd fdfind tar gtar bsdtar zip unzip gzip"
    " gunzip bzip2 bunzip2 xz unxz zstd 7z 7za rar unrar cpio pax ar split csplit rsync patch sponge rename"
    " fallocate uniq sort shuf xxd tree iconv sdiff yq base64 base32 basenc openssl gpg rg ag ack bat dos2unix unix2dos less more",
    "git": "git gh glab hub git-lfs jj hg svn",
    "network": "curl wget http https xh httpie aria2c ssh scp sftp ftp lftp nc ncat netcat socat telnet rclone mosh"
    " ssh-keygen ssh-copy-id ssh-add nmap",
    "packages": "npm pnpm yarn bun npx bunx pnpx pip pip3 pipx uv uvx poetry pdm hatch conda mamba micromamba pipenv"
    " cargo rustup go gem bundle bundler composer mvn mvnw gradle gradlew sbt apt apt-get apt-cache aptitude dpkg brew dnf yum"
    " rpm pacman apk snap flatpak zypper port nix nix-env choco winget scoop corepack nvm fnm asdf mise pyenv rbenv"
    " volta make gmake just task rake mix tox nox invoke lerna nx turbo rush ng next vite nuxt astro"
    " playwright cypress pre-commit dotnet swift flutter dart bazel cmake ctest ninja meson twine flit maturin"
    " mkdocs coverage ruff python-build lein cabal stack zig xcodebuild pod fastlane changeset semantic-release"
    " prisma knex alembic flask django-admin rails sequelize typeorm drizzle-kit",
    "machines": "docker podman nerdctl docker-compose podman-compose kubectl oc k3s helm terraform tofu terragrunt"
    " pulumi aws gcloud gsutil bq az ansible ansible-playbook vagrant packer heroku fly flyctl vercel netlify"
    " firebase wrangler doctl eksctl minikube kind skaffold kustomize argocd serverless sls cdk sam railway"
    " supabase systemctl service journalctl launchctl initctl rc-service crontab at batch shutdown reboot halt"
    " poweroff init telinit kill pkill killall skill xkill mkfs fdisk sfdisk cfdisk gdisk sgdisk parted wipefs"
    " blkdiscard mkswap swapoff swapon mount umount losetup cryptsetup lvremove vgremove pvremove lvcreate zpool zfs"
    " btrfs mdadm hdparm nvme tune2fs e2fsck fsck resize2fs iptables ip6tables nft ufw firewall-cmd route ip"
    " ifconfig nmcli sysctl modprobe insmod rmmod useradd userdel usermod groupadd groupdel passwd chpasswd"
    " visudo chsh hostnamectl timedatectl hostname date dmesg update-rc.d fuser setenforce getenforce diskutil"
    " csrutil nvram defaults tmutil security dscl spctl format diskpart reg wmic taskkill vssadmin bcdedit"
    " cipher icacls takeown sc schtasks screen tmux",
    "databases": "psql mysql mariadb sqlite3 sqlite mongosh mongo redis-cli clickhouse-client duckdb cqlsh sqlcmd"
    " mysqladmin dropdb createdb dropuser createuser pg_dump pg_restore mysqldump pg_ctl mongodump mongorestore"
    " influx etcdctl consul vault usql litecli pgcli bq-sql cockroach snowsql",
    "governed": "tether",
}
VERSION = frozenset(("--version", "--help", "-version", "-V"))
FLAG = {"R": 0, "S": 1, "U": 2, "D": 3}


@cache
def _index() -> dict[str, str]:
    return {name: family for family, names in FAMILIES.items() for name in names.split()}


@cache
def _load(family: str) -> ModuleType:
    from importlib import import_module

    return import_module(f"tether.control.commands.{family}")


def judge(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """Judge one program with its arguments by everything known about it."""
    family = _index().get(name)
    if name.endswith(".exe") and family is None:
        name = name.removesuffix(".exe")
        family = _index().get(name)
    if family is None and (
        match := re.fullmatch(r"(python|pypy|pip|node|ruby|perl|php|lua|clang|gcc)[\d.-]+\d", name)
    ):
        name = match[1]
        family = _index().get(name)
    if family is None and name.startswith("mkfs."):
        name, family = "mkfs", "machines"
    known = family is not None or name in readers.READERS or name in readers.TOOLS or name in readers.NAMES
    if known and len(args) == 1 and args[0] in VERSION and name != "tether":
        scan.note("R", f"risk.{name}.version")
        return
    if name in ("pytest", "py.test"):  # `-p no:x` leaves a plugin out
        args = [
            a
            for at, a in enumerate(args)
            if not a.startswith("no:")
            and not (a == "-p" and args[at + 1 : at + 2] and args[at + 1].startswith("no:"))
        ]
    if name in readers.READERS:
        judge_reader(scan, name, args)
    elif name in readers.TOOLS:
        judge_tool(scan, name, readers.TOOLS[name], args)
    elif family is not None:
        module = _load(family)
        special: Judge | None = module.JUDGES.get(name)
        if special is not None:
            special(scan, name, args, feed)
        elif name in module.TOOLS:
            judge_tool(scan, name, module.TOOLS[name], args)


def judge_reader(scan: Scan, name: str, args: list[str]) -> None:
    """A program that changes nothing, whatever it is told."""
    scan.note("R", f"risk.read.{name}")
    if name in ("test", "[") and any("$(" in arg or "`" in arg for arg in args):
        scan.note("U", "risk.shell.subscript", "an array's index may run a command")
        scan.salvage(" ".join(args))
    if name == "cat" and any(arg in ("/dev/zero", "/dev/urandom", "/dev/random") for arg in args):
        scan.note("U", "risk.read.endless", "reads without an end")
    if name in readers.OF_FILES:
        operands = options.parse(args, readers.OF_FILES[name]).operands
        scan.read(*operands)


def judge_tool(
    scan: Scan, name: str, tool: tuple[str, tuple[tuple[str, str, str, str], ...]], args: list[str]
) -> None:
    """A program judged by its table: every matching rule counts, the worst decides."""
    valued, rules = tool
    single = valued.startswith("!")
    parsed = options.parse(args, valued.removeprefix("!"), single=single)
    if args and args[-1] in ("--help", "-h") and not parsed.loose and all(_is_word(a) for a in args[:-1]):
        scan.note("R", f"risk.{name}.help")
        return
    if name in readers.SAFE_TOOLS:
        scan.write(*[value for value in parsed.values(readers.OUTPUT_OPTIONS.replace(" ", "|")) if value])
    found = [rule for rule in rules if matches(rule[2], parsed)]
    closest = max([weigh(pattern) for level, _, pattern, _ in found if level in "RS"], default=0)
    for level, rule, pattern, reason in found:
        # a rule for a verb gives way to a closer one; a rule for an option never does
        if level == "U" and weigh(pattern) < closest and " -" not in f" {pattern}":
            continue
        if level == "X":  # the option's value is a command
            from tether.control.commands.code import keep_destruction

            for value in parsed.values(pattern):
                keep_destruction(scan, value)
            level = "U"
        scan.note(level, f"risk.{name}.{rule}", reason)
    if parsed.loose:
        scan.note("U", "risk.shell.options", f"cannot tell which options `{name}` is given")
    if not found:
        shown = " ".join([name, *[show(operand) for operand in parsed.operands[:1]]])
        scan.note("U", f"risk.{name}.unknown", f"`{shown}` is not known to be safe")


def weigh(pattern: str) -> int:
    """How much a pattern demands: the closer of two that match demands more."""
    return len(pattern.split())


def _is_word(arg: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9:_-]*", arg) is not None


def matches(pattern: str, parsed: options.Options) -> bool:
    """Whether a rule's pattern fits: words are operands in order, `-x|--long` flags, `!-x` flags not given,
    `*` any operand, `$` no further operand, `-x=value` a flag with that value."""
    at = 0
    for piece in pattern.split():
        if piece == "$":
            if at < len(parsed.operands):
                return False
        elif piece[0] == "!" and len(piece) > 1:
            if parsed.has(piece[1:]):
                return False
        elif piece[0] == "-" and len(piece) > 1:
            name, equals, value = piece.partition("=")
            if equals:
                if value not in parsed.values(name):
                    return False
            elif not parsed.has(piece):
                return False
        else:
            if at >= len(parsed.operands):
                return False
            operand = parsed.operands[at]
            if piece != "*" and operand not in piece.split("|"):
                return False
            at += 1
    return True


def judge_hidden(scan: Scan, first: Field, argv: list[str]) -> None:
    """A command whose name is not written out: wildcards are tried on the names that matter."""
    text = first.text.rpartition("/")[2]
    if first.glob and first.known:
        for name in (
            "rm",
            "dd",
            "shred",
            "mkfs",
            "unlink",
            "sh",
            "bash",
            "chmod",
            "chown",
            "kill",
            "sudo",
            "find",
            "mv",
        ):
            if _fits(text, name):
                judge(scan, name, argv[1:], _no_feed())
        scan.note(
            "U", "risk.shell.hidden", f"the program's name is hidden by the wildcard `{show(first.text)}`"
        )
        return
    if first.text == ANY and len(argv) > 1 and re.fullmatch(r"-[a-zA-Z]*[rRf][a-zA-Z]*", argv[1]):
        scan.note("D", "risk.shell.hidden", f"a program whose name is hidden is run with `{argv[1]}`")
    if SOME not in text:
        rest = text.replace(ANY, "")
        if rest and any(_fits(text.replace(ANY, "*"), name) for name in ("rm", "dd", "shred", "mkfs")):
            judge(scan, "rm", argv[1:], _no_feed())
    scan.note("U", "risk.shell.dynamic", f"cannot tell which program `{show(first.text)}` is")


def _no_feed() -> Feed:
    from tether.control.risk import Feed

    return Feed()


def _fits(pattern: str, name: str) -> bool:
    """Whether a wildcard pattern matches a name."""
    return re.fullmatch(_expression(pattern), name) is not None


@cache
def _expression(pattern: str) -> str:
    out, at = "", 0
    while at < len(pattern):
        char = pattern[at]
        end = pattern.find("]", at + 2) if char == "[" else -1
        if end > 0:
            inside = pattern[at + 1 : end]
            negated = inside[:1] in ("!", "^")
            # the characters themselves, ranges kept; whatever else a class could say is escaped
            body = re.sub(r"[^\w-]", lambda m: re.escape(m[0]), inside[negated:]).strip("-")
            out += (
                f"[{'^' * negated}{body}]"
                if re.fullmatch(r"(?:\w|\\\W|\w-\w)+", body) and _ordered(body)
                else "."
            )
            at = end
        else:
            out += ".*" if char == "*" else "." if char == "?" else re.escape(char)
        at += 1
    return out


def _ordered(body: str) -> bool:
    return all(low <= high for low, high in re.findall(r"(\w)-(\w)", body))


def apply_extra(scan: Scan, name: str, args: list[str]) -> bool:
    """The user's own rules; True when a trusted one has settled the command."""
    settled = False
    for rule in scan.extra:
        parts = str(rule.get("match", "")).split(None, 1)
        if not parts or not _fits(parts[0], name):
            continue
        if not matches_words(parts[1] if len(parts) > 1 else "", args):
            continue
        level = {"SAFE": "S", "UNKNOWN": "U", "DESTRUCTIVE": "D"}.get(str(rule.get("level", "")).upper(), "U")
        reason = str(rule.get("reason", "")) or f"matched by `{rule.get('match')}`"
        if level == "S" and not scan.trusted:
            continue
        scan.note(level, str(rule.get("id", "risk.extra")), "" if level == "S" else reason)
        settled = settled or level == "S"
    return settled


def matches_words(pattern: str, args: list[str]) -> bool:
    """An argv pattern: words with `*` wildcards in order; a trailing `*` alone stands for any rest."""
    words = pattern.split()
    if words and words[-1] == "*":
        words.pop()
        if len(args) < len(words):
            return False
        args = args[: len(words)]
    flags = [word for word in words if word.startswith("-")]
    given = [arg for arg in args if arg.startswith("-")]
    if not all(any(_fits(flag, arg) for arg in given) for flag in flags):
        return False
    words = [word for word in words if not word.startswith("-")]
    rest = [arg for arg in args if not arg.startswith("-")]
    return len(rest) >= len(words) and all(_fits(word, arg) for word, arg in zip(words, rest, strict=False))

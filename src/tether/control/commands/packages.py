"""Package managers, build tools and task runners. HOOK PATH."""
# ruff: noqa: E501 — a rule reads best on one line

from __future__ import annotations

import re

from tether.control.commands import options
from tether.control.commands.code import keep_destruction
from tether.control.commands.readers import SAFE_TOOLS
from tether.control.commands.wrappers import tail
from tether.control.expansion import ANY, Field
from tether.control.paths import show
from tether.source.pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.commands.readers import Rules
    from tether.control.risk import Feed, Scan

# names of tasks that test, check or build, as projects call them
TASK = lazy(
    r"(?:all|tests?|unit|unittests?|integration|e2e|spec|checks?|lint|lints|linter|build|builds|compile|types?|typecheck"
    r"|type-check|tsc|typing|mypy|ruff|format|fmt|prettier|eslint|stylelint|coverage|cov|verify|validate|vet|bench|benchmark"
    r"|docs?|help|ci|style|analyze|analyse|debug|quality|pretest|posttest|bundle|transpile|codegen|proto|storybook|assemble"
    r"|pytest|jest|vitest|mocha|clippy|doctest|smoke|snapshot|examples?|doc|html|qa|pre-commit|precommit|typescript)"
    r"(?:[-:_./][\w:./-]*)?"
)
UNSAFE_TASK = lazy(
    r"(?i)deploy|publish|release|push|clean|reset|drop|delete|destroy|migrat|prod|install|purge|nuke|wipe|remove|upload|seed|prune|rm\b"
)
# project tools that judges of this table know, beside those that are always safe
KNOWN_TOOLS = SAFE_TOOLS | frozenset(
    "playwright cypress ng next vite nuxt astro nx turbo lerna ruff tox nox coverage pre-commit"
    " mkdocs prisma knex alembic tether rimraf del-cli shx cross-env tsx ts-node flask rails rake"
    " rspec rubocop changeset semantic-release drizzle-kit typeorm sequelize vercel netlify"
    " firebase wrangler serverless cdk typedoc sort-package-json concurrently".split()
)
_NOT = "runs or installs code from outside the project"
_PUBLISH = "publishes to, or withdraws from, everyone"
_REMOVE = "uninstalls software"
_SYSTEM = "changes the software of this machine"


def is_task(name: str) -> bool:
    """Whether a task's name says that it tests, checks or builds."""
    return TASK.fullmatch(name.lower()) is not None and not UNSAFE_TASK.search(name)


def judge_npm(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """npm, pnpm, yarn, bun: scripts are judged by their names, tools by their own rules."""
    from tether.control.commands import judge_tool

    valued = "--prefix -C --workspace -w --registry --loglevel --tag --otp --cache --userconfig --filter -F --dir --cwd --config"
    parsed = options.parse(args, valued, stop=True)
    rest = parsed.operands
    everywhere = options.parse(args, valued)
    outside = [v for v in everywhere.values("--prefix|-C|--dir|--cwd") if v.startswith(("/", "~", "..", ANY))]
    if outside or any(arg.startswith(("--script-shell", "--node-options")) for arg in args):
        scan.note("U", f"risk.{name}.elsewhere", "runs scripts from outside the project, or in another way")
    if name == "yarn" and rest[:1] == ["workspace"]:
        rest = rest[2:]
    elif name == "yarn" and rest[:2] in (["workspaces", "foreach"], ["workspaces", "run"]):
        rest = ["run", *options.parse(rest[2:], "--include --exclude", stop=True).operands]
        rest = rest if rest[1:2] != ["run"] else rest[1:]
    elif name == "pnpm" and rest[:1] == ["recursive"]:
        rest = rest[1:]
    if parsed.loose and args and args[0].startswith(ANY):
        scan.note("U", "risk.shell.options", f"cannot tell what `{name}` is asked to do")
        return
    if name == "yarn" and rest[:1] == ["npm"]:
        rest = rest[1:]
    first = rest[0] if rest else ""
    if first in ("run", "run-script", "rum", "urn", "x-run") or (
        name in ("yarn", "pnpm", "bun") and is_task(first)
    ):
        tasks = options.parse(rest[1:] if first.startswith(("run", "rum", "urn")) else rest, valued).operands[
            :1
        ]
        if not tasks:
            scan.note("R", f"risk.{name}.scripts")
        elif is_task(tasks[0]):
            scan.note("S", f"risk.{name}.task")
        elif name == "bun" and re.search(r"\.[jt]sx?$", tasks[0]):
            scan.note("U", "risk.bun.file", f"runs the program `{show(tasks[0])}`")
        else:
            scan.note(
                "U",
                f"risk.{name}.script",
                f"runs the script `{show(tasks[0])}`, whose contents are not known",
            )
        return
    if first in ("exec", "x", "dlx") or (name == "yarn" and first in KNOWN_TOOLS):
        inner = (
            rest
            if first in KNOWN_TOOLS
            else options.parse(rest[1:], "-p --package -c --call", stop=True).operands
        )
        for text in options.parse(rest[1:], "-p --package -c --call", stop=True).values("-c|--call"):
            scan.read_script(text)
        run_tool(scan, name, inner)
        return
    judge_tool(scan, name, (valued + " -g_", NPM), [*args[: parsed.first], *rest])


def run_tool(scan: Scan, name: str, inner: list[str]) -> None:
    """A tool of the project, started through a package manager."""
    if inner[:1] == ["--"]:
        inner = inner[1:]
    if not inner:
        scan.note("U", f"risk.{name}.exec", _NOT)
        return
    tool = inner[0] if inner[0].startswith("@") else inner[0].partition("@")[0]
    tool = {"@biomejs/biome": "biome", "@playwright/test": "playwright", "@angular/cli": "ng"}.get(tool, tool)
    if tool not in KNOWN_TOOLS:
        scan.note("U", f"risk.{name}.exec", _NOT)
    scan.run([Field(tool), *tail(scan, inner[1:])])


def judge_npx(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    parsed = options.parse(args, "-p --package -c --call --node-options -w --workspace", stop=True)
    for text in parsed.values("-c|--call"):
        scan.read_script(text)
    if parsed.has("-p|--package"):
        scan.note("U", f"risk.{name}.package", _NOT)
    if parsed.has("-c|--call") and not parsed.operands:
        return
    run_tool(scan, name, parsed.operands)


def judge_runner(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`uv run`, `poetry run`, `uvx`, `pipx run`, `bundle exec`, `hatch run`, …: a command in the project's environment."""
    from tether.control.commands import judge_tool

    valued = (
        "--python -p --with --with-editable --with-requirements --extra --group --project --directory --env-file --package -C"
        " --no-group --only-group --index-url --from --spec -n --name -e --env --prefix"
    )
    if name in ("uvx", "bundle-exec"):
        rest = options.parse(args, valued, stop=True).operands
        run_tool(scan, name, rest)
        return
    parsed = options.parse(args, valued, stop=True)
    rest = parsed.operands
    if rest[:1] == ["run"] or rest[:1] == ["exec"] or rest[:2] == ["tool", "run"]:
        after = rest[2:] if rest[:1] == ["tool"] else rest[1:]
        inner = options.parse(after, valued + " -m --module", stop=True)
        modules = inner.values("-m|--module")
        if modules:
            scan.run([Field("python"), Field("-m"), Field(modules[0]), *[Field(a) for a in inner.operands]])
        elif name == "pipx" or rest[:1] == ["tool"]:
            run_tool(scan, name, inner.operands)
        elif (
            name in ("hatch", "pdm", "pipenv")
            and len(inner.operands) >= 1
            and is_task(inner.operands[0].rpartition(":")[2])
        ):
            scan.note("S", f"risk.{name}.task")
        elif not inner.operands:
            scan.note("U", f"risk.{name}.run", _NOT)
        else:
            scan.run(tail(scan, inner.operands), feed)
            if inner.operands[0].endswith(".py"):
                scan.note("U", "risk.code.python-file", f"runs the program `{show(inner.operands[0])}`")
        return
    if name == "uv" and rest[:1] == ["pip"]:
        judge_tool(scan, "pip", TOOLS["pip"], rest[1:])
        return
    judge_tool(scan, name, TOOLS[name], args)


def judge_cargo(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`cargo [+TOOLCHAIN] …`."""
    from tether.control.commands import judge_tool

    judge_tool(scan, "cargo", TOOLS["cargo"], args[1:] if args and args[0].startswith("+") else args)


def judge_make(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """make, just, task, rake, …: targets are judged by their names."""
    valued = "-C -f -j -l -o -W -I --directory --file --makefile --jobs --eval -d -t -c --taskfile --justfile -s --set_"
    parsed = options.parse(
        args, valued if name in ("make", "gmake") else "-f -d -C --justfile --working-directory -r"
    )
    targets = [o for o in parsed.operands if "=" not in o and not o.isdigit()]
    settings = [o.partition("=") for o in parsed.operands if "=" in o]
    for key, _, value in settings:
        if key.rstrip(":") in ("SHELL", "MAKEFLAGS", "MAKE") or re.search(r"\$|`|!", value) or ANY in value:
            scan.note("U", "risk.make.variable", f"`{show(key)}=…` may run a command")
            keep_destruction(scan, value.strip("$()`! ").removeprefix("shell "))
    if parsed.has("--eval") or parsed.has("-f|--file|--makefile|--taskfile|--justfile") or parsed.loose:
        scan.note("U", "risk.make.file", f"`{name}` runs recipes that are not the project's usual ones")
    if any(v.startswith(("/", "~", "..", ANY)) for v in parsed.values("-C|--directory|--working-directory")):
        scan.note("U", f"risk.{name}.elsewhere", "runs recipes from outside the project")
    if (
        parsed.has("-n|--dry-run|--just-print|--recon|-q|--question|--list|-l|--summary|-T|--tasks")
        and not parsed.loose
    ):
        scan.note("S", f"risk.{name}.dry")
        return
    for target in targets or ["all"]:
        if is_task(target):
            scan.note("S", f"risk.{name}.task")
        elif UNSAFE_TASK.search(target):
            scan.note(
                "U", f"risk.{name}.target", f"runs the target `{show(target)}`, which may delete or publish"
            )
        else:
            scan.note(
                "U", f"risk.{name}.target", f"runs the target `{show(target)}`, whose contents are not known"
            )


def judge_jvm(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """Maven, Gradle and sbt: phases and tasks."""
    parsed = options.parse(
        args,
        "-p -P -pl -f -T -s --projects --tests --project-dir --file -x --exclude-task -b -c",
        single=True,
    )
    goals = [o for o in parsed.operands if not o.startswith("-")]
    safe = re.compile(
        r"(?:clean|validate|compile|test|test-compile|package|verify|site|help|tasks|build|check|assemble|classes|testClasses|jar"
        r"|javadoc|projects|properties|dependencies|dependencyInsight|lint\w*|ktlint\w*|detekt|spotless(?:Check|Apply)|spotless:\w+"
        r"|checkstyle\w*|checkstyle:check|pmd\w*|spotbugs\w*|jacoco\w*|jacoco:report|dependency:tree|dependency:analyze|versions:\w*display[\w-]*"
        r"|help:[\w-]+|surefire:test|failsafe:integration-test|fmt:format|test\w*|compile\w*|integrationTest|bootJar|Test/compile"
        r"|testOnly.*|scalafmt\w*|scalastyle|wrapper|-version|integration-test|process-resources|assembleDebug|assembleRelease|connectedCheck)"
    )
    for goal in goals or ["help"]:
        short = goal.rpartition(":")[2] if goal.count(":") != 1 or goal.startswith(":") else goal
        if (
            safe.fullmatch(goal)
            or safe.fullmatch(short)
            or (":" in goal and safe.fullmatch(goal.rpartition(":")[2]) and name != "mvn")
        ):
            scan.note("S", f"risk.{name}.build")
        elif re.search(r"deploy|publish|release|upload|closeAndRelease", goal):
            scan.note("D", f"risk.{name}.publish", _PUBLISH)
        else:
            scan.note("U", f"risk.{name}.goal", f"runs `{show(goal)}`, whose effects are not known")
    if parsed.loose or parsed.has("--init-script|-I|--init-script"):
        scan.note("U", f"risk.{name}.options", f"cannot tell what `{name}` runs")


# fmt: off
NPM: Rules = (
    ("R", "read", "ls|list|ll|la|view|info|show|v|outdated|explain|why|ping|whoami|root|prefix|bin|search|s|find|docs|help|query|licenses|doctor|fund", ""),
    ("R", "version", "version $", ""),
    ("R", "read", "--version|-v $", ""),
    ("R", "config", "config|c get|list|ls", ""),
    ("R", "read", "pkg get", ""),
    ("R", "read", "owner|dist-tag|team|token|profile|access|workspaces|cache ls|list|get|verify", ""),
    ("R", "audit", "audit $", ""),
    ("R", "read", "store path|status", ""),
    ("S", "test", "test|t|tst|build|lint|check|typecheck|tsc|type-check|format|fmt|it-test", ""),
    ("S", "pack", "pack --dry-run", ""),
    ("U", "install", "install|i|in|ci|add|a|update|up|upgrade|link|rebuild|dedupe|prune|init|create|import|audit|pm|approve-builds", _NOT),
    ("U", "install", "$ !--version|-v", _NOT),
    ("U", "remove", "uninstall|remove|rm|r|un|unlink", _REMOVE),
    ("D", "global-remove", "uninstall|remove|rm|r|un|unlink -g|--global", _REMOVE),
    ("D", "global-remove", "global remove", _REMOVE),
    ("D", "publish", "publish|unpublish|deprecate|stage|adduser|logout !--dry-run", _PUBLISH),
    ("R", "publish-dry", "publish --dry-run", ""),
    ("D", "access", "owner|dist-tag|access|token|team|org|hook|star add|rm|remove|revoke|set|grant|create|destroy|public|restricted", _PUBLISH),
    ("D", "cache", "cache clean|clear|rm --force|-f", "empties the package cache"),
    ("U", "version-set", "version *", "makes a commit and a tag"),
)
_PIP: Rules = (
    ("R", "read", "list|show|freeze|check|index|debug|help|inspect|hash|tree|search", ""),
    ("R", "cache", "cache list|info|dir", ""),
    ("R", "config", "config list|get|debug", ""),
    ("U", "install", "install|download|wheel|compile|sync|lock", _NOT),
    ("S", "dry", "install --dry-run", ""),
    ("D", "uninstall", "uninstall", _REMOVE),
    ("D", "cache", "cache purge|remove", "empties the package cache"),
)
_APT: Rules = (
    ("R", "read", "list|search|show|policy|depends|rdepends|madison|help|changelog|info|provides|repolist|query|history|check|repoquery|deplist", ""),
    ("U", "install", "install|update|upgrade|build-dep|download|source|reinstall|check-update|makecache|groupinstall|localinstall|distro-sync", _SYSTEM),
    ("D", "remove", "remove|purge|autoremove|dist-upgrade|full-upgrade|clean|autoclean|erase|autopurge|downgrade|groupremove|swap", _REMOVE),
)
TOOLS: dict[str, tuple[str, Rules]] = {
    "pip": ("-r -c -e -i -t --target --index-url --extra-index-url --requirement --constraint --python --format", _PIP),
    "pipx": ("", (("R", "read", "list|environment|--version", ""), ("U", "install", "install|upgrade|inject|run", _NOT),
                  ("D", "uninstall", "uninstall|uninstall-all|reinstall-all", _REMOVE))),
    "uv": ("--project --directory -p --python", (
        ("R", "read", "version|tree|help", ""),
        ("R", "read", "python list|find|dir", ""),
        ("R", "read", "cache|tool dir|list", ""),
        ("S", "build", "build|venv|lock|export|format", ""),
        ("S", "sync", "sync --check|--dry-run", ""),
        ("U", "install", "sync|add|remove|init|tool|python|self|pip", _NOT),
        ("D", "publish", "publish", _PUBLISH),
        ("D", "cache", "cache clean|prune", "empties the package cache"),
        ("D", "uninstall", "python|tool uninstall", _REMOVE))),
    "poetry": ("-C -P --directory --project", (
        ("R", "read", "show|check|search|about|help|list", ""),
        ("R", "read", "version $", ""), ("R", "read", "env info|list", ""),
        ("S", "build", "build|lock|export", ""),
        ("U", "install", "install|add|remove|update|init|new|self|source|sync|version|shell", _NOT),
        ("D", "publish", "publish", _PUBLISH), ("D", "env", "env remove", "deletes an environment"),
        ("R", "config", "config --list", ""), ("U", "config", "config *", "changes settings"))),
    "pdm": ("", (("R", "read", "list|show|info|search|outdated", ""), ("S", "build", "build|lock|export", ""), ("D", "publish", "publish", _PUBLISH))),
    "hatch": ("-e --env", (("R", "read", "version $", ""), ("R", "read", "env show|find", ""), ("S", "build", "build|test|fmt|check|status", ""),
        ("D", "publish", "publish", _PUBLISH), ("D", "env", "env remove|prune", "deletes environments"))),
    "pipenv": ("", (("R", "read", "graph|--venv|--where|verify|requirements", ""), ("S", "check", "check", ""), ("D", "uninstall", "uninstall|--rm", _REMOVE))),
    "flit": ("", (("S", "build", "build", ""), ("D", "publish", "publish", _PUBLISH))),
    "maturin": ("", (("S", "build", "build|sdist", ""), ("U", "develop", "develop", _NOT), ("D", "publish", "publish|upload", _PUBLISH))),
    "twine": ("", (("R", "check", "check", ""), ("D", "publish", "upload|register", _PUBLISH))),
    "conda": ("-n --name -c -p -f", (
        ("R", "read", "list|info|search|config|compare|env|--version", ""),
        ("U", "install", "install|create|update|upgrade|activate|init|env create|run", _NOT),
        ("U", "env", "env create|update|export", _NOT),
        ("U", "config", "config --set|--add|--remove|--append", "changes settings"),
        ("D", "remove", "remove|uninstall|clean", _REMOVE), ("D", "env-remove", "env remove", "deletes an environment"))),
    "cargo": ("--manifest-path --target --features -F -p --package -j --jobs --config --color --bin --example --test --bench --profile --target-dir", (
        ("S", "build", "build|b|check|c|test|t|bench|clippy|fmt|doc|d|tree|metadata|verify-project|locate-project|pkgid|nextest|llvm-cov|expand|audit|deny|udeps|machete|outdated|hack|tarpaulin|miri|insta|semver-checks|search|info|report|rustc|rustdoc|version|help|bloat|msrv|careful|vet", ""),
        ("U", "clean", "clean", "deletes build outputs"),
        ("S", "lock", "generate-lockfile|fetch|vendor|package", ""),
        ("U", "run", "run|r|install|update|add|remove|init|new|fix|watch|x", _NOT),
        ("U", "config", "--config", "changes how cargo runs programs"),
        ("D", "publish", "publish|yank|owner|login|logout !--dry-run", _PUBLISH), ("S", "publish-dry", "publish --dry-run", ""),
        ("D", "uninstall", "uninstall", _REMOVE))),
    "rustup": ("", (("R", "read", "show|which|doc|check|help", ""), ("R", "read", "toolchain|target|component|override list", ""),
        ("U", "install", "update|install|default|toolchain|target|component|override|run|self", _NOT),
        ("D", "uninstall", "uninstall", _REMOVE), ("D", "uninstall", "self|toolchain|target|component uninstall|remove", _REMOVE))),
    "go": ("!-run -bench -o -C -tags -timeout -count -p -ldflags -gcflags -coverprofile -mod -exec -toolexec -fuzz -fuzztime -benchtime -cpu -covermode", (
        ("S", "build", "build|test|vet|fmt|doc|list|version|env|help|bug", ""),
        ("U", "env-set", "env -w|-u", "changes settings"),
        ("U", "exec", "-exec|-toolexec|-vettool", "an option runs a program"),
        ("S", "tool", "tool cover|pprof|nm|objdump|trace|test2json|addr2line|buildid|covdata", ""),
        ("S", "mod", "mod graph|verify|why|tidy|download|vendor|edit|init", ""),
        ("S", "work", "work sync|use|init|edit", ""),
        ("U", "run", "run|get|install|generate", _NOT),
        ("D", "clean", "clean -modcache|-cache|-testcache|-fuzzcache", "empties a cache"),
        ("U", "clean", "clean", "deletes build outputs"))),
    "gem": ("", (("R", "read", "list|search|info|contents|dependency|environment|env|outdated|which|specification|help|query", ""),
        ("S", "build", "build", ""), ("U", "install", "install|update|fetch", _NOT), ("D", "publish", "push|yank|owner", _PUBLISH), ("D", "uninstall", "uninstall|cleanup", _REMOVE))),
    "bundle": ("", (("R", "read", "list|show|info|outdated|check|config|doctor|platform|version|licenses|viz", ""), ("U", "config", "config set|unset", "changes settings"),
        ("U", "install", "install|update|add|init|lock|package", _NOT), ("D", "clean", "clean|remove", _REMOVE))),
    "composer": ("-d --working-dir", (("R", "read", "show|info|validate|outdated|licenses|depends|why|why-not|prohibits|diagnose|search|status|audit|check-platform-reqs|fund|--version", ""),
        ("S", "test", "test|run-script|lint|check|analyse|phpstan|cs|dump-autoload|dumpautoload", ""), ("U", "install", "install|update|require|remove|create-project|global|self-update", _NOT),
        ("U", "script", "run-script|run|exec", "runs a script whose contents are not known"), ("D", "remove", "global remove", _REMOVE))),
    "apt": ("-o -t -c", _APT),
    "dpkg": ("", (("R", "read", "-l|-L|-s|-S|--list|--listfiles|--status|--search|--get-selections|--print-architecture|-p|-I|-c", ""), ("U", "install", "-i|--install|--configure", _SYSTEM), ("D", "remove", "-r|-P|--remove|--purge", _REMOVE))),
    "rpm": ("", (("R", "read", "-q|--query|-V|--verify !-e|-i|-U", ""), ("U", "install", "-i|-U|-F|--install|--upgrade", _SYSTEM), ("D", "remove", "-e|--erase", _REMOVE))),
    "brew": ("", (("R", "read", "list|ls|info|search|outdated|deps|uses|config|doctor|leaves|desc|home|cat|log|--version|--prefix|--cellar|commands|options|missing", ""), ("R", "read", "--prefix|--cellar|--repository|--cache $", ""),
        ("R", "services", "services list|info", ""), ("U", "install", "install|update|upgrade|tap|reinstall|link|services|bundle|pin|unpin", _SYSTEM), ("D", "remove", "uninstall|remove|rm|cleanup|autoremove|untap|unlink", _REMOVE))),
    "pacman": ("", (("R", "read", "-Q|-Qi|-Ql|-Qs|-Ss|-Si|-F|-Qe|-Qm|-Qdt", ""), ("U", "install", "-S|-U", _SYSTEM), ("D", "remove", "-R|--remove|-Scc|-Rns|-Rs", _REMOVE))),
    "apk": ("", (("R", "read", "info|search|list|policy|version|stats|audit|dot", ""), ("U", "install", "add|update|upgrade|fix", _SYSTEM), ("D", "remove", "del", _REMOVE))),
    "snap": ("", (("R", "read", "list|info|find|version|services|logs|changes", ""), ("U", "install", "install|refresh", _SYSTEM), ("D", "remove", "remove", _REMOVE))),
    "flatpak": ("", (("R", "read", "list|info|search|history|remotes", ""), ("D", "remove", "uninstall|remove|repair", _REMOVE))),
    "nix": ("", (("R", "read", "search|show-config|eval|path-info|why-depends|log", ""), ("S", "build", "build|fmt", ""), ("S", "check", "flake check|show|metadata", ""), ("D", "gc", "store gc|delete|optimise", "deletes stored packages"), ("D", "gc", "profile remove|wipe-history", _REMOVE))),
    "nix-env": ("", (("R", "read", "-q|--query", ""), ("D", "remove", "-e|--uninstall|--delete-generations", _REMOVE))),
    "choco": ("", (("R", "read", "list|search|info|outdated", ""), ("D", "remove", "uninstall", _REMOVE))),
    "corepack": ("", (("U", "enable", "", _NOT),)),
    "nvm": ("", (("R", "read", "ls|list|current|which|version|ls-remote", ""), ("S", "use", "use", ""), ("D", "uninstall", "uninstall", _REMOVE))),
    "asdf": ("", (("R", "read", "list|current|where|which|info|help", ""), ("D", "uninstall", "uninstall", _REMOVE), ("D", "uninstall", "plugin remove", _REMOVE))),
    "pyenv": ("", (("R", "read", "versions|version|which|whence|root|commands|prefix|shims", ""), ("R", "read", "install --list|-l", ""), ("R", "read", "global|local|shell $", ""), ("D", "uninstall", "uninstall", _REMOVE))),
    "volta": ("", (("R", "read", "list|which", ""), ("D", "uninstall", "uninstall", _REMOVE))),
    "ruff": ("--config --select --ignore --target-version --output-format -o --output-file --line-length --extend-select --cache-dir", (("S", "run", "check|format|rule|linter|version|clean|config|analyze|help", ""), ("S", "run", "*", ""))),
    "tox": ("-e -c -f", (("S", "run", "", ""),)),
    "nox": ("-s -f -e -t", (("S", "run", "", ""),)),
    "coverage": ("-m", (("S", "report", "report|html|xml|json|combine|lcov|annotate|debug|help|erase", ""), ("S", "run", "run -m=pytest", ""), ("S", "run", "run -m=unittest", ""), ("U", "run", "run !-m", "runs a program whose contents are not known"))),
    "pre-commit": ("", (("S", "run", "run|validate-config|validate-manifest|sample-config|help", ""), ("U", "install", "install|autoupdate|install-hooks|migrate-config|uninstall|try-repo", "changes git hooks"), ("D", "clean", "clean|gc", "empties a cache"))),
    "mkdocs": ("-f -d", (("S", "build", "build|get-deps", ""), ("U", "serve", "serve|new", "serves files over the network"), ("D", "publish", "gh-deploy", _PUBLISH))),
    "mix": ("", (("S", "test", "test|compile|format|credo|dialyzer|deps|docs|help|xref|hex.info|phx.routes|app.tree|hex.outdated|lint|check", ""), ("U", "deps", "deps.get|run|ecto.migrate|phx.server|ecto.create|release", _NOT), ("D", "drop", "ecto.drop|ecto.reset|ecto.rollback|deps.clean|phx.digest.clean", "drops the project's database"), ("D", "publish", "hex.publish|hex.retire", _PUBLISH))),
    "lein": ("", (("S", "test", "test|compile|check|deps|uberjar|jar|help|eastwood|kibit|version", ""), ("D", "publish", "deploy|release", _PUBLISH))),
    "cabal": ("", (("S", "build", "build|test|check|haddock|bench|configure|v2-build|v2-test|info|list", ""), ("D", "publish", "upload", _PUBLISH))),
    "stack": ("", (("S", "build", "build|test|haddock|bench|path|ls|ghc|list-dependencies", ""), ("D", "publish", "upload", _PUBLISH), ("D", "clean", "purge", "deletes build outputs"))),
    "zig": ("", (("S", "build", "build|test|fmt|build-exe|build-lib|build-obj|env|version|zen|targets|ast-check|translate-c|cc|c++", ""), ("U", "run", "run", _NOT), ("U", "run", "build run|install|uninstall --", _NOT), ("U", "step", "build *", _NOT))),
    "dotnet": ("-c -f -o -r -v --configuration --framework --output --filter --logger", (("S", "build", "build|test|format|restore|msbuild|pack|list|sln|--info|--version|--list-sdks|--list-runtimes|build-server|help|vstest", ""), ("S", "info", "--info|--version|--list-sdks|--list-runtimes $", ""), ("U", "run", "run|add|remove|new|tool|publish|watch|ef|workload", _NOT), ("D", "publish", "nuget push|delete", _PUBLISH), ("D", "drop", "ef database", "changes or drops the project's database"), ("D", "cache", "nuget locals", "empties a cache"))),
    "swift": ("", (("S", "build", "build|test", ""), ("S", "package", "package describe|dump-package|show-dependencies|resolve|tools-version", ""))),
    "xcodebuild": ("!-scheme -project -workspace -destination -sdk -configuration -target", (("S", "build", "build|test|analyze|clean|build-for-testing|test-without-building", ""), ("S", "info", "-list|-version|-showsdks|-showBuildSettings", ""))),
    "flutter": ("", (("S", "build", "build|test|analyze|format|doctor|devices|--version|config|gen-l10n", ""), ("S", "pub", "pub deps|outdated", ""), ("U", "pub", "pub get|upgrade|add|run", _NOT), ("D", "publish", "pub publish", _PUBLISH), ("U", "clean", "clean", "deletes build outputs"))),
    "dart": ("", (("S", "build", "analyze|test|format|compile|doc|fix|info|--version", ""), ("D", "publish", "pub publish", _PUBLISH))),
    "bazel": ("", (("S", "build", "build|test|query|cquery|aquery|info|version|coverage|fetch|help|analyze-profile|mod", ""), ("U", "run", "run", _NOT), ("D", "clean", "clean --expunge|--expunge_async", "deletes all build outputs"), ("U", "clean", "clean", "deletes build outputs"))),
    "cmake": ("-S -B -G -D -A -T -C -P --target -t --config -j --parallel --preset -U", (("S", "configure", "!-P|-E|--install|-C", ""), ("S", "build", "--build !--target|-t", ""), ("U", "script", "-P|-E|-C", "`cmake -P` runs a script"), ("U", "install", "--install", _SYSTEM), ("U", "target", "--target|-t", "builds a target whose contents are not known"))),
    "ctest": ("-R -E -L -j -C --test-dir", (("S", "test", "!-S|--script|-D", ""),)),
    "ninja": ("-C -j -f -t -k -l", (("S", "build", "$ !-t|-f", ""), ("S", "test", "test|all|check !-t|-f", ""), ("D", "clean", "-t=clean", "deletes build outputs"), ("U", "install", "install", _SYSTEM))),
    "meson": ("-C", (("S", "build", "setup|compile|test|configure|introspect|format|dist|--version", ""), ("U", "install", "install", _SYSTEM))),
    "playwright": ("--config -c --project", (("S", "test", "test|show-report|--version|merge-reports", ""), ("U", "install", "install|codegen|open", _NOT))),
    "cypress": ("", (("S", "test", "run|verify|info|version", ""), ("U", "open", "open|install", _NOT), ("D", "cache", "cache clear|prune", "empties a cache"))),
    "ng": ("", (("S", "build", "build|test|lint|e2e|version|extract-i18n", ""), ("U", "change", "generate|g|add|update|new|serve|s|config|cache", _NOT), ("D", "publish", "deploy", _PUBLISH))),
    "next": ("", (("S", "build", "build|lint|info|telemetry|typegen", ""), ("U", "serve", "dev|start", "starts a server"))),
    "vite": ("", (("S", "build", "build|optimize", ""), ("U", "serve", "dev|preview|serve", "starts a server"))),
    "nuxt": ("", (("S", "build", "build|generate|typecheck|prepare|analyze|info", ""),)),
    "astro": ("", (("S", "build", "build|check|info|sync", ""),)),
    "nx": ("", (("S", "build", "test|build|lint|affected:test|affected:build|affected:lint|graph|print-affected|show|format:check|typecheck|report|list|e2e", ""), ("D", "reset", "reset", "empties a cache"))),
    "turbo": ("--filter -F", (("S", "build", "test|build|lint|typecheck|check|ls|type-check|format", ""), ("S", "build", "run test|build|lint|typecheck|check|type-check|format", ""))),
    "lerna": ("--scope", (("R", "read", "list|ls|la|ll|changed|diff|info", ""), ("S", "run", "run test|build|lint|typecheck", ""), ("D", "publish", "publish|version", _PUBLISH), ("D", "clean", "clean", "deletes every `node_modules`"))),
    "changeset": ("", (("R", "read", "status", ""), ("D", "publish", "publish", _PUBLISH), ("U", "version", "version|add|init", "changes versions"))),
    "semantic-release": ("", (("D", "publish", "!--dry-run|-d", _PUBLISH), ("U", "dry", "--dry-run|-d", "reaches the network"))),
    "prisma": ("", (("S", "check", "generate|validate|format|version|debug", ""), ("R", "status", "migrate status|diff", ""), ("D", "reset", "migrate reset", "drops the project's database"), ("D", "push-force", "db push --force-reset|--accept-data-loss", "drops the project's data"), ("U", "migrate", "migrate|db deploy|dev|push|pull|seed|execute|resolve", "changes the project's database"))),
    "alembic": ("-c", (("R", "read", "current|history|heads|branches|show|check", ""), ("U", "migrate", "upgrade|revision|stamp|merge", "changes the project's database"), ("D", "downgrade", "downgrade", "undoes changes to the project's database"))),
    "knex": ("", (("R", "read", "migrate:status|migrate:list", ""), ("D", "rollback", "migrate:rollback|migrate:down|migrate:unlock", "undoes changes to the project's database"))),
    "flask": ("--app", (("R", "read", "routes", ""), ("R", "read", "db current|history|heads|show|check", ""), ("D", "downgrade", "db downgrade", "undoes changes to the project's database"))),
    "rails": ("", (("S", "test", "test|routes|about|stats|notes|version|zeitwerk:check|test:system|test:all|middleware|-T|db:migrate:status", ""), ("D", "drop", "db:drop|db:reset|db:schema:load|db:rollback|db:purge|db:migrate:reset|destroy|d|db:truncate_all|db:setup|db:drop:all", "drops or resets the project's database"))),
    "sequelize": ("", (("R", "read", "db:migrate:status", ""), ("D", "drop", "db:drop|db:migrate:undo|db:migrate:undo:all|db:seed:undo|db:seed:undo:all", "drops the project's data"))),
    "typeorm": ("-d", (("R", "read", "migration:show|version", ""), ("D", "drop", "schema:drop|migration:revert|cache:clear", "drops the project's data"))),
    "drizzle-kit": ("", (("S", "check", "check|generate|export", ""), ("D", "drop", "drop", "drops a migration"))),
    "django-admin": ("", (("S", "check", "check|test|version|help|diffsettings", ""), ("D", "flush", "flush", "empties the project's database"))),
    "fastlane": ("", (("D", "publish", "deliver|supply|release|deploy|pilot|upload_to_app_store|upload_to_testflight", _PUBLISH),)),
    "pod": ("", (("R", "read", "list|search|outdated|env|spec", ""), ("D", "publish", "trunk", _PUBLISH), ("D", "cache", "deintegrate|cache clean", "removes installed pods"))),
}
TOOLS |= {"pip3": TOOLS["pip"], "apt-get": TOOLS["apt"], "aptitude": TOOLS["apt"], "dnf": TOOLS["apt"], "yum": TOOLS["apt"], "zypper": TOOLS["apt"], "apt-cache": TOOLS["apt"],
          "port": TOOLS["brew"], "winget": TOOLS["choco"], "scoop": TOOLS["choco"], "mamba": TOOLS["conda"], "micromamba": TOOLS["conda"], "fnm": TOOLS["nvm"],
          "mise": TOOLS["asdf"], "rbenv": TOOLS["pyenv"], "bundler": TOOLS["bundle"], "rush": TOOLS["nx"]}
# fmt: on
JUDGES = dict.fromkeys(["npm", "pnpm", "yarn", "bun"], judge_npm) | {"cargo": judge_cargo}
JUDGES |= dict.fromkeys(["npx", "bunx", "pnpx"], judge_npx)
JUDGES |= dict.fromkeys(
    ["uv", "uvx", "poetry", "pdm", "hatch", "pipx", "pipenv", "conda", "bundle", "bundler"], judge_runner
)
JUDGES |= dict.fromkeys(["make", "gmake", "just", "task", "rake", "invoke"], judge_make)
JUDGES |= dict.fromkeys(["mvn", "mvnw", "gradle", "gradlew", "sbt"], judge_jvm)

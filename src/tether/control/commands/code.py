"""Interpreters: inline code is searched for what destroys, and trusted only where it provably reads. HOOK PATH."""
# ruff: noqa: E501 — patterns read best on one line

from __future__ import annotations

import re

from tether.control.commands import governed, options
from tether.control.commands.shells import judge_unseen
from tether.control.expansion import ANY, SOME
from tether.control.paths import show
from tether.source.pattern import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tether.control.commands.readers import Rules
    from tether.control.risk import Feed, Scan

DESTROYS = lazy(
    r"\b(?:rmtree|removedirs|remove_tree|rm_rf|rm_r|rmdirSync|rmSync|unlinkSync|truncateSync|unlink|rimraf|remove_dir_all"
    r"|remove_file|deleteRecursively|deleteIfExists|delete_all|destroy_all|drop_all|drop_database|dropDatabase|send2trash"
    r"|emptyDirSync|deltree|DeleteFile|RemoveDirectory)\b"
    r"|\b(?:os|_os|posix|shutil)\s*\.\s*(?:remove|rmdir|unlink|truncate|kill|killpg|_exit|renames?|replace|chmod|chown)\b"
    r"|\.(?:rmdir|unlink|touch_and_delete|rm|removeSync|destroyAll)\s*\(|\bfs(?:\.promises)?\.(?:rm|rmdir|unlink|truncate)\b"
    r"|\b(?:File|Dir|FileUtils|IO)\.(?:delete|unlink|rmdir|rm\w*|remove\w*|truncate)\b|\bos\.remove\b|\bFiles\.delete"
    r"|(?i:\bdrop\s+(?:table|database|schema|index|view|user)\b|\btruncate\s+table\b|\bdelete\s+from\b)"
    r"|getattr\s*\(\s*\w+\s*,\s*['\"](?:remove|unlink|rmtree|rmdir|system|popen)"
    r"|\bdo\s+shell\s+script\s+\"\s*rm\b|\bdelete\s+(?:every|file|folder|item)\b"
)
RUNS = lazy(
    r"\b(?:system|popen\w*|subprocess|spawn\w*|exec\w*|execSync|shell_exec|passthru|proc_open|check_call|check_output"
    r"|child_process|Popen|run|call|getoutput|getstatusoutput|pty|fork|do shell script|IO\.popen|Open3|Runtime|ProcessBuilder"
    r"|qx|%x|shell|Deno\.Command|Bun\.\$|Bun\.spawn)\b|`|%x|\bqx\b"
)
HIDES = lazy(
    r"\b(?:eval|exec|compile|Function|instance_eval|loads|system|popen|Popen|run|call|check_output|check_call|spawn|execSync)\b[\s\S]*?(?:b64decode|fromhex|from_?base64|atob|unhexlify|decode64|unpack"
    r"|decompress|rot_?13|codecs\.decode|fromCharCode|chr\s*\(|bytes\s*\(\s*\[|urlopen|requests\.get|\[::-1\]|marshal|'base64'|\"base64\""
    r"|base64_decode|gzinflate|pack\s*\()"
)
STRINGS = lazy(
    r"'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`([^`]*)`|q[qxw]?\{([^}]*)\}|%x[({\[]([^)}\]]*)"
)
# modules that look, compute and print
CALM_MODULES = frozenset(
    "sys json re math platform time datetime collections itertools functools statistics string"
    " textwrap hashlib base64 importlib importlib.metadata importlib.util inspect sysconfig site"
    " struct decimal fractions random uuid typing pprint types enum dataclasses operator"
    " unicodedata locale zlib csv tomllib configparser difflib keyword token ast dis tokenize"
    " calendar colorsys binascii html xml.etree.ElementTree urllib.parse ssl sqlite3 __future__"
    " yaml locale pathlib os glob fnmatch os.path".split()
)
CALM_CALLS = frozenset(
    "print len str int float bool repr list dict set tuple sorted sum min max abs round range"
    " enumerate zip map filter any all type isinstance hasattr id hash ord chr hex bin oct divmod"
    " pow reversed format vars dir bytes frozenset open help callable".split()
)
CALM_METHODS = frozenset(
    "join split rsplit splitlines strip lstrip rstrip lower upper title replace startswith"
    " endswith find count index format encode decode get keys values items append extend sort read"
    " readlines readline read_text read_bytes load loads dumps version exists is_file is_dir"
    " isfile isdir iterdir glob rglob resolve absolute relative_to getsize basename dirname"
    " abspath realpath stat listdir getcwd search match findall finditer sub fullmatch compile"
    " group groups python_version system machine platform processor release node now today"
    " isoformat strftime time perf_counter hexdigest digest sha256 md5 sha1 sqrt floor ceil log"
    " sin cos mean median Counter most_common OrderedDict defaultdict pformat pprint getvalue"
    " find_spec metadata files distributions requires b64encode signature getsource getfile"
    " getmembers dedent fill urlparse quote unquote parse_qs parse getroot iter findtext walk"
    " scandir literal_eval dump unparse get_paths get_path getenv expanduser home cwd with_suffix"
    " reader DictReader safe_load writer_help getdefaultencoding getsizeof uuid4 choice randint"
    " total_seconds zfill ljust rjust center partition rpartition isdigit isalpha update add"
    " setdefault copy name".split()
)
# calm as methods of text and collections, not as functions of a module
AMBIGUOUS = frozenset("replace copy dump system load loads update add open".split())
# functions that call what they are given
HIGHER = frozenset("map filter sorted min max sort sub defaultdict find_spec sum any all".split())
CALM_PAIRS = frozenset(
    {
        ("platform", "system"),
        ("json", "load"),
        ("json", "loads"),
        ("tomllib", "load"),
        ("tomllib", "loads"),
        ("ast", "dump"),
        ("copy", "copy"),
    }
)
CALM_NAMES = frozenset(
    "console log error process version versions node arch platform require JSON stringify parse"
    " Object keys values entries length join map filter includes Math max min round const let var"
    " function return if else for of in new Date now toISOString true false null undefined typeof"
    " Array from isArray slice split trim sort reduce puts print p say echo RUBY_VERSION"
    " PHP_VERSION phpversion PHP_EOL inspect to_s name dependencies devDependencies scripts main"
    " type cwd memoryUsage Number String parseInt parseFloat forEach a b c d e i j k n s v x y z r"
    " f m t o obj data pkg val key toString resolve exports engines warn my our use strict"
    " warnings printf sprintf scalar defined readFileSync existsSync fs path utf8 hello world test"
    " ok done puts exit Integer Float upcase downcase reverse each do end times".split()
)


def judge_text(scan: Scan, name: str, code: str) -> None:
    """Inline code: DESTRUCTIVE by what it calls, safe only where everything it names is known to look."""
    plain = re.sub(r"['\"]\s*[+.]\s*['\"]", "", code)
    plain += "\n" + plain.replace('\\"', '"').replace("\\'", "'") if "\\" in plain else ""
    rule = f"risk.code.{name}"
    if DESTROYS.search(plain):
        scan.note("D", f"{rule}-delete", f"inline `{name}` code deletes or overwrites something")
    if HIDES.search(plain):
        scan.note("D", "risk.code.hidden", f"inline `{name}` code runs what an encoding or a download hides")
    if ANY in code:
        judge_unseen(scan, name, scan.came_from())
    if RUNS.search(plain):
        strings = [next((g for g in groups if g), "") for groups in STRINGS.findall(plain)]
        for text in [*strings[:16], " ".join(strings)[:4096]]:
            keep_destruction(scan, text)
    if name == "python" and is_calm_python(code):
        scan.note("R" if reads_only(code) else "S", f"{rule}-calm")
    elif name != "python" and is_calm_text(code):
        scan.note("S", f"{rule}-calm")
    else:
        scan.note("U", rule, f"runs inline `{name}` code whose effects parsing cannot tell")


def keep_destruction(scan: Scan, text: str) -> None:
    """Judge text that may be a command; of what is found only destruction and self-government count."""
    from tether.source.shell import parse

    if not text.strip() or parse(text).broken:
        return
    before, reads, writes, hosts = len(scan.notes), dict(scan.reads), dict(scan.writes), dict(scan.hosts)
    folder, values = scan.folder, scan.scope.values.copy()
    scan.read_script(text)
    scan.notes[before:] = [n for n in scan.notes[before:] if n[0] == "D" or n[1] == "risk.tether.governs"]
    scan.reads, scan.writes, scan.hosts, scan.folder, scan.scope.values = reads, writes, hosts, folder, values


def is_calm_text(code: str) -> bool:
    """Whether every name in code, strings aside, is one that looks or prints."""
    if ANY in code or SOME in code or "`" in code or "#{" in code or "%x" in code:
        return False
    bare = STRINGS.sub(" ", code)
    if re.search(r"[^\x20-\x7e\n\t]|<<|\$\(|&\w", bare):
        return False
    modules = re.findall(r"require\(\s*['\"]([^'\"]*)['\"]", code)
    if not all(module.endswith(".json") or module in ("fs", "path", "os", "util") for module in modules):
        return False
    return all(name in CALM_NAMES for name in re.findall(r"[A-Za-z_]\w*", bare))


def is_calm_python(code: str) -> bool:
    """Whether Python code only imports, computes, reads and prints."""
    import ast

    if len(code) > 8192 or ANY in code or SOME in code:
        return False
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                imported[(alias.asname or alias.name).partition(".")[0]] = alias.name
                # another name would let `os` pass for `platform`
                if (
                    alias.name == "*"
                    or (alias.asname or alias.name) in CALM_CALLS
                    or (alias.asname or "") in CALM_MODULES
                ):
                    return False
    return all(_is_calm_node(node, imported) for node in ast.walk(tree))


def _is_calm_node(node: object, imported: dict[str, str]) -> bool:
    import ast

    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.Delete):
        return False
    if isinstance(node, ast.Name):
        taken = isinstance(node.ctx, ast.Store) and (node.id in CALM_CALLS or node.id in imported)
        return not taken and not node.id.startswith("__")
    if isinstance(node, ast.Attribute):
        hidden = node.attr.startswith("_") and node.attr not in ("__version__", "__file__", "__doc__")
        return isinstance(node.ctx, ast.Load) and not hidden
    return _is_calm_call(node, imported) if isinstance(node, ast.Call) else True


def _is_calm_call(node: object, imported: dict[str, str]) -> bool:
    import ast

    assert isinstance(node, ast.Call)
    called = node.func
    passed = [*node.args, *[keyword.value for keyword in node.keywords]]
    name = (
        called.id
        if isinstance(called, ast.Name)
        else called.attr
        if isinstance(called, ast.Attribute)
        else ""
    )
    if name in HIGHER and any(
        isinstance(arg, ast.Attribute)
        or (isinstance(arg, ast.Name) and (arg.id in imported or arg.id == "open"))
        for arg in passed
    ):
        return False
    if isinstance(called, ast.Name):
        if name == "open" and not _opens_to_read(node):
            return False
        original = imported.get(name, "")
        return name in CALM_CALLS or (original in CALM_METHODS | {"Path"} and original not in AMBIGUOUS)
    if not isinstance(called, ast.Attribute):
        return False
    module = imported.get(called.value.id, "") if isinstance(called.value, ast.Name) else ""
    if module and name in AMBIGUOUS:
        return (module, name) in CALM_PAIRS
    if name == "replace":
        return len(node.args) >= 2  # with one, it is a path that moves a file
    if name in ("load", "loads", "dump", "system", "copy"):
        return False
    return name in CALM_METHODS or (name.startswith(("is_", "has_")) and name.islower())


def _opens_to_read(call: object) -> bool:
    import ast

    assert isinstance(call, ast.Call)
    modes = [*call.args[1:2], *[k.value for k in call.keywords if k.arg == "mode"]]
    if any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    return all(isinstance(m, ast.Constant) and m.value in ("r", "rb", "rt", "br") for m in modes)


def reads_only(code: str) -> bool:
    """Whether calm Python code imports nothing whose import could run the project's code."""
    import ast

    for node in ast.walk(ast.parse(code)):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if not all(name in CALM_MODULES for name in names):
            return False
    return True


# ── interpreters ─────────────────────────────────────────────────────────────

# name → (options with a value, options whose value is code, language)
INTERPRETERS: dict[str, tuple[str, str, str]] = {
    "perl": ("-e -E -I -M -F", "-e|-E", "perl"),
    "ruby": ("-e -I -r -F -C", "-e", "ruby"),
    "node": (
        "-e -p -r --eval --print --require --import --loader -C --conditions",
        "-e|-p|--eval|--print|-pe",
        "node",
    ),
    "deno": ("", "", "node"),
    "php": ("-r -B -R -E -d -c -f -S -t", "-r|-B|-R|-E", "php"),
    "lua": ("-e -l", "-e", "lua"),
    "osascript": ("-e -l -s", "-e", "osascript"),
    "Rscript": ("-e", "-e", "R"),
    "R": ("-e -f", "-e", "R"),
    "julia": ("-e -E -L -p", "-e|-E|--eval", "julia"),
    "elixir": ("-e -r --eval", "-e|--eval", "elixir"),
    "erl": ("!-eval -s", "-eval", "erl"),
    "groovy": ("-e", "-e", "groovy"),
    "scala": ("-e", "-e", "scala"),
    "swift": ("-e", "-e", "swift"),
    "clj": ("-e -M -A", "-e", "clj"),
    "racket": ("-e", "-e", "racket"),
    "guile": ("-c -e", "-c", "guile"),
    "sbcl": ("--eval --load", "--eval", "lisp"),
    "octave": ("--eval", "--eval", "octave"),
    "matlab": ("!-r -batch", "-r|-batch", "matlab"),
    "gdb": ("!-ex -eval-command -x --eval-command --batch_", "-ex|--eval-command|-eval-command", "gdb"),
    "lldb": ("-o -O -s", "-o|-O", "lldb"),
    "emacs": ("--eval --execute -l -f", "--eval|--execute", "emacs"),
    "vim": ("-c --cmd -S -u", "-c|--cmd", "vim"),
    "tclsh": ("", "", "tcl"),
    "expect": ("-c -f", "-c", "expect"),
    "bc": ("-e", "", "bc"),
    "dc": ("-e -f", "-e", "dc"),
}
SAME = {
    "nodejs": "node",
    "node20": "node",
    "luajit": "lua",
    "vi": "vim",
    "nvim": "vim",
    "ex": "vim",
    "view": "vim",
    "wish": "tclsh",
    "tclsh8.6": "tclsh",
    "tsx": "node",
    "ts-node": "node",
    "jrunscript": "groovy",
}


def judge_interpreter(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`ruby -e CODE`, `node FILE`, `php < FILE`: inline code is read, files are not."""
    valued, code_options, language = INTERPRETERS[SAME.get(name, name)]
    single = valued.startswith("!")
    parsed = options.parse(args, valued.removeprefix("!"), single=single)
    codes = parsed.values(code_options) if code_options else []
    codes = [code for code in codes if code] or (
        [parsed.operands[0]] if parsed.operands and parsed.has(code_options or "-\0") else []
    )
    if language == "perl" and parsed.has("-i"):
        scan.write(*parsed.operands, level="U")
        scan.note("U", "risk.code.perl-inplace", "`perl -i` rewrites files")
    if language == "vim" and (codes or parsed.has("-S|-s|-es|-e")):
        for code in codes:
            for text in re.findall(r"!\s*(.+)|system\(['\"](.+?)['\"]\)", code):
                scan.read_script(text[0] or text[1])
            if re.search(r"\bdelete\s*\(|\brename\s*\(", code):
                scan.note("D", "risk.code.vim-delete", f"`{name}` deletes or renames files")
        scan.note("U", "risk.code.vim", f"`{name}` runs editor commands that may write files")
        return
    if language == "bc":
        scan.note("R", "risk.read.bc")
        return
    for code in codes:
        judge_text(scan, language, code)
        if language in ("gdb", "lldb", "dc"):
            for text in re.findall(r"(?:shell|!)\s*(.+)", code):
                scan.read_script(text)
    if codes:
        return
    if parsed.has("--check|-c") and language in ("node", "ruby", "perl") and parsed.operands:
        scan.note("R" if language != "perl" else "S", f"risk.code.{language}-check")
    elif parsed.has("-l") and language == "php":
        scan.note("R", "risk.code.php-lint")
    elif parsed.has("--test") and language == "node":
        scan.note("S", "risk.code.node-test")
    elif (
        parsed.has("-v|--version|-m|-i")
        and language in ("php", "ruby", "perl", "lua", "node", "R")
        and not parsed.operands
    ):
        scan.note("R", f"risk.code.{language}-version")
    elif language == "php" and parsed.operands[:1] == ["artisan"]:
        from tether.control.commands import judge_tool

        judge_tool(scan, "artisan", ARTISAN, args[args.index("artisan") + 1 :])
    elif parsed.operands and parsed.operands[0] != "-":
        path = parsed.operands[0]
        scan.read(path)
        if path == SOME and scan.pipes and scan.pipes[-1].text is None:
            judge_unseen(scan, name, scan.pipes[-1].origin)
        scan.note(
            "U",
            f"risk.code.{language}-file",
            f"runs the program `{show(path)}`, whose contents are not known",
        )
    else:
        judge_fed(scan, language, feed)


def judge_fed(scan: Scan, language: str, feed: Feed) -> None:
    """Code on standard input."""
    if feed.text is not None and feed.origin == "static":
        judge_text(scan, language, feed.text)
    elif feed.origin:
        judge_unseen(scan, language, feed.origin)
    else:
        scan.note("U", f"risk.code.{language}-interactive", f"opens an interactive `{language}`")


def judge_python(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    """`python [-c CODE | -m MODULE | FILE | -]`."""
    parsed = options.parse(args, "-c -m -W -X --check-hash-based-pycs", stop=True)
    modules, codes = parsed.values("-m"), parsed.values("-c")
    rest = args[parsed.first :]
    order = [flag for flag, _ in parsed.flags if flag in ("-c", "-m")]
    if order[:1] == ["-c"]:
        judge_text(scan, "python", codes[0])
    elif modules:
        if any(flag in args for flag in ("-m",)):
            at = args.index("-m")
            rest = args[at + 2 :]
        judge_module(scan, modules[0], rest, feed)
    elif parsed.has("-V|--version|-VV") and not rest:
        scan.note("R", "risk.code.python-version")
    elif rest and rest[0] != "-":
        if governed.is_entry(rest[0]):
            scan.govern("hook")
            return
        scan.read(rest[0])
        if re.search(r"(?:^|/)manage\.py$", rest[0]):
            from tether.control.commands import judge_tool

            judge_tool(scan, "manage.py", MANAGE, rest[1:])
            return
        if rest[0] == SOME and scan.pipes:
            judge_unseen(scan, name, scan.pipes[-1].origin)
        scan.note(
            "U", "risk.code.python-file", f"runs the program `{show(rest[0])}`, whose contents are not known"
        )
    else:
        judge_fed(scan, "python", feed)


MANAGE: tuple[str, Rules] = (
    "",
    (
        ("S", "test", "test|check|showmigrations|validate|diffsettings|inspectdb|findstatic|version", ""),
        ("S", "plan", "makemigrations --check|--dry-run", ""),
        (
            "D",
            "flush",
            "flush|reset_db|sqlflush|clearsessions|remove_stale_contenttypes",
            "empties the project's database",
        ),
        ("D", "zero", "migrate * zero", "undoes every migration of an application"),
    ),
)
ARTISAN: tuple[str, Rules] = (
    "",
    (
        ("S", "read", "test|list|about|env|route:list|migrate:status|db:show|model:show|help|--version", ""),
        ("S", "version", "--version|-V $", ""),
        (
            "D",
            "wipe",
            "migrate:fresh|migrate:reset|migrate:refresh|migrate:rollback|db:wipe",
            "drops the project's data",
        ),
    ),
)
MODULES = frozenset(
    "json.tool this antigravity site sysconfig platform tabnanny tokenize ast dis pydoc calendar".split()
)
BUILDS = frozenset(
    "venv build compileall py_compile unittest doctest trace cProfile timeit zipapp ensurepip"
    " virtualenv".split()
)


def judge_module(scan: Scan, module: str, rest: list[str], feed: Feed) -> None:
    """`python -m MODULE`: the tool of that name, where it is one."""
    from tether.control.commands import judge

    top = module.partition(".")[0]
    if top == "tether":
        governed.judge_tether(scan, "tether", rest, feed)
    elif module in MODULES:
        scan.note("R", f"risk.code.python-{module}")
        if module == "json.tool" and len([a for a in rest if not a.startswith("-")]) > 1:
            scan.write(rest[-1])
    elif module in BUILDS:
        if module in ("trace", "cProfile", "timeit"):
            scan.note("U", f"risk.code.python-{module}", f"`python -m {module}` runs other code")
        elif module in ("venv", "virtualenv"):
            parsed = options.parse(rest, "--prompt -p --python")
            scan.write(*parsed.operands)
            if parsed.has("--clear"):
                scan.note("D", "risk.code.python-venv-clear", "`venv --clear` empties the folder")
        else:
            scan.note("S", f"risk.code.python-{module}")
    elif module == "http.server":
        scan.note("U", "risk.net.serve", "serves files over the network")
    elif module == "base64":
        scan.note("R", "risk.decode.base64")
    else:
        name = {"pip": "pip", "pytest": "pytest", "ruff": "ruff"}.get(module, top)
        before = len(scan.notes)
        judge(scan, name, rest, feed)
        if len(scan.notes) == before or name in ("rm", "ls", "cat"):
            scan.note(
                "U",
                "risk.code.python-module",
                f"runs the module `{show(module)}`, whose effects are not known",
            )


def judge_java(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    if args in (["-version"], ["--version"], ["-XshowSettings:properties", "-version"]):
        scan.note("R", "risk.code.java-version")
    else:
        scan.note("U", "risk.code.java", f"`{name}` runs a program whose contents are not known")


def judge_editor(scan: Scan, name: str, args: list[str], feed: Feed) -> None:
    scan.note("U", f"risk.code.{name}", f"`{name}` is interactive")


TOOLS: dict[str, tuple[str, Rules]] = {
    "ghc": ("-o -e", (("S", "build", "!-e", ""),)),
    "nim": ("", (("S", "build", "c|compile|check|doc !-r", ""),)),
    "crystal": ("", (("S", "build", "build|spec|tool|docs", ""),)),
    "deno": (
        "--config -c --import-map",
        (
            ("S", "check", "test|check|lint|fmt|bench|cache|doc|info|types|compile", ""),
            ("U", "run", "run|eval|install|task|x", "`deno` runs a program whose contents are not known"),
        ),
    ),
}
JUDGES = {name: judge_interpreter for name in INTERPRETERS if name not in TOOLS}
JUDGES |= dict.fromkeys(SAME, judge_interpreter)
JUDGES |= dict.fromkeys(["python", "python2", "python3", "pypy", "pypy3", "ipython"], judge_python)
JUDGES |= {"java": judge_java}
JUDGES |= {"nano": judge_editor, "pico": judge_editor}

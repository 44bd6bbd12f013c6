"""The shape of the project: layers, sizes, names, and that every door goes through the gate."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src/tether"
MODULES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted(p.parent for p in SOURCE.rglob("__init__.py"))
TOP = [p for p in PACKAGES if p.parent == SOURCE]
# what changes the world; a door may only ask the gate for it
HANDS = ("tether.tools.files", "tether.tools.patches", "tether.tools.shell", "tether.tools.process",
         "tether.source.staging", "tether.source.swap", "tether.source.restore")  # fmt: skip
DOORS = sorted((SOURCE / "edges").rglob("*.py"))


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", DOORS, ids=lambda p: str(p.relative_to(SOURCE)))
def test_no_door_runs_a_tool_past_the_gate(path):
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = ast.unparse(node.func)
            assert not called.endswith((".run", ".commit", "prepared.run")) or called == "subprocess.run", (
                f"{path.name}:{node.lineno} calls `{called}`"
            )
    for name in imports(path):
        # hooks may ask `apply_patch` what it would do; only `prepare` is used, as the check above shows
        if name.startswith("tether.tools.patches"):
            continue
        assert not name.startswith(HANDS), f"{path.name} imports `{name}`"
        assert name != "tether.control.decide.decide", "only admit decides"


def test_only_admit_decides():
    users = [p for p in MODULES if "tether.control.decide" in set(imports(p)) and p.name != "decide.py"]
    assert [p.name for p in users] == ["admit.py"]


def test_only_the_workspace_puts_verbs_together():
    verbs = ("tether.tools.shell", "tether.tools.files")
    users = [str(p.relative_to(SOURCE)) for p in MODULES if any(name in verbs for name in imports(p))]
    assert [u for u in users if not u.startswith("tools/")] == ["workspace.py"]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_module_holds_one_idea_and_says_which(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 600, "split it by idea"
    assert ast.get_docstring(ast.parse(text)), "a module states its promise"
    assert path.stem not in ("utils", "common", "helpers", "base", "misc", "manager", "service", "handler")


@pytest.mark.parametrize("package", TOP, ids=lambda p: p.name)
def test_every_package_has_a_readme_with_its_four_parts(package):
    text = (package / "README.md").read_text()
    for heading in ("## Purpose", "## How to extend", "## Gotchas", "## Invariants"):
        assert heading in text, f"{package.name}/README.md lacks `{heading}`"
    assert len(text.splitlines()) <= 80


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["help"], []])
def test_help_imports_nothing_heavy(words):
    script = (
        "import sys, json; from tether.cli.frame import run; run(sys.argv[1:]);"
        "sys.stderr.write(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, check=True)
    loaded = set(__import__("json").loads(done.stderr))
    heavy = {
        "rich",
        "ruamel",
        "tree_sitter",
        "numpy",
        "lancedb",
        "onnxruntime",
        "mcp",
        "pydantic",
        "asyncio",
        "sqlite3",
    }
    assert not loaded & heavy


def test_no_registry_address_or_local_path_is_committed():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True
    ).stdout.split(b"\0")
    words = [
        "/".join(("", "work", "")),
        "files.python" + "hosted",
        "registry.npm" + "js",
        "pypi" + ".org/simple",
    ]
    for name in filter(None, listed):
        path = ROOT / name.decode()
        if path.suffix in (".png", ".bin", ".npz") or not path.is_file():
            continue
        text = path.read_text(errors="replace")
        for word in words:
            assert word not in text, f"{name.decode()} mentions `{word}`"

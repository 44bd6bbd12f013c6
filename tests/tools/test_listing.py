"""Listing shows what git would see."""

import subprocess

import pytest

from tether.errors import TetherError
from tether.source.root import Root
from tether.tools.changes import Direct
from tether.tools.listing import VERBS, expand_braces


@pytest.fixture
def root(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for path in (
        "src/a.py",
        "src/b.ts",
        "src/deep/c.tsx",
        "d.py",
        "node_modules/x.py",
        ".hidden/e.py",
        "#odd",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / ".gitignore").write_text("node_modules/\n")
    with Root(tmp_path) as root:
        yield root


def paths(root: Root, pattern: str, **args: object) -> list[str]:
    return VERBS["glob"].prepare(root, {"pattern": pattern, **args}).run(Direct(root))["paths"]


def test_patterns_find_files_and_ignored_or_hidden_ones_stay_out(root) -> None:
    assert paths(root, "*.py") == ["d.py", "src/a.py"]
    assert paths(root, "src/*.py") == ["src/a.py"]
    assert paths(root, "**/*.{ts,tsx}") == ["src/b.ts", "src/deep/c.tsx"]
    assert paths(root, "./src/**") == ["src/a.py", "src/b.ts", "src/deep/c.tsx"]
    assert paths(root, f"{root.path}/src/*.ts") == ["src/b.ts"]
    assert paths(root, "*.py", hidden=True) == [".hidden/e.py", "d.py", "src/a.py"]
    assert paths(root, "*.tsx", path="src") == ["src/deep/c.tsx"]
    assert paths(root, "*.py", path=".hidden") == [".hidden/e.py"]
    assert paths(root, "#odd") == ["#odd"]
    assert paths(root, "!*.py") == []
    assert paths(root, "*", hidden=True, path=".git") == []


def test_a_long_list_is_cut_and_says_so(root) -> None:
    answer = VERBS["glob"].prepare(root, {"pattern": "**", "limit": 2}).run(Direct(root))
    assert (len(answer["paths"]), answer["truncated"]) == (2, True)
    assert answer["count"] == 5
    assert "3 more match" in answer["note"]


def test_a_place_outside_is_an_effect_and_never_listed(root) -> None:
    prepared = VERBS["glob"].prepare(root, {"pattern": "*", "path": "../"})
    assert prepared.effects[0].target == "../"
    with pytest.raises(TetherError) as caught:
        prepared.run(Direct(root))
    assert caught.value.code == "SECURITY_VIOLATION"


def test_braces_expand_as_in_a_shell_and_not_without_end() -> None:
    assert expand_braces("a{b,c{d,e}}f") == ["abf", "acdf", "acef"]
    assert expand_braces("{x}") == ["{x}"]
    assert expand_braces("a{,b}") == ["a", "ab"]
    assert expand_braces("a{b") == ["a{b"]
    with pytest.raises(TetherError, match="too many"):
        expand_braces("{a,b}" * 12)

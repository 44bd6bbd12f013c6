"""Ignore rules are git's: the judge is git itself."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tether.source.ignore import Rules, read_rules
from tether.source.walk import collect


def git(folder, *args: str, data: bytes = b"") -> bytes:
    clean = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", "-c", "core.excludesFile=/dev/null", *args],
        cwd=folder,
        input=data,
        env=clean,
        capture_output=True,
        check=True,
    ).stdout


def seen_by_git(folder) -> set[str]:
    listed = git(folder, "ls-files", "-z", "-o", "--exclude-standard").decode().split("\0")
    return {path for path in listed if path}


def seen_by_walk(folder) -> set[str]:
    walked = collect(str(folder), exclude=(), read=False)
    return {found.path for found in (*walked.files, *walked.aside)}


TREE = (
    "a.py a.log b.txt doc/a.md doc/b.txt doc/deep/c.txt doc/deep/er/d.log build/out.o build/keep/me.txt "
    "src/build/x.c src/foo/bar.c src/foo/baz/bar.c foo/bar.c foo.c .hidden/file .env 'q'.txt f[1].txt "
    "sp\\ ace.txt x/y/z/w.txt x/z/w.txt x/w.txt #hash !bang trail~ A.PY target debug/target/a"
).split()


@pytest.mark.parametrize(
    "rules",
    [
        "*.log",
        "build/",
        "/build/",
        "/build/*\n!/build/keep/",
        "build\n!src/build",
        "*\n!*/\n!*.py",
        "doc/*.txt",
        "doc/**/*.txt",
        "**/deep/*",
        "doc/**",
        "**/bar.c",
        "foo/**/bar.c",
        "src/**/bar.c",
        "**/foo",
        "x/**/w.txt",
        "x/**/z/**",
        "f[[]1].txt\n[!a-z]*",
        "\\#hash\n\\!bang",
        "# a comment\n\n   \n*.md   ",
        "trail~ \n*~",
        "a.*\n!a.py\na.p?",
        "[[:upper:]]*",
        "[a-c].*",
        "f\\[1\\].txt",
        "target",
        "target/",
        "**",
        "***/w.txt",
        "d*c/",
        "*/*.txt",
        "/*.py",
        "[abc",
        "ends\\",
        "/",
        "!*.log\n*.log\n!a.log",
        "doc/**/\n!doc/b.txt",
        "**/**/w.txt",
        "x/*/w.txt",
        "[]-]*\n[^.]*.py",
        "*.log\r\nbuild/\r",
    ],
)
def test_a_rule_means_what_git_means_by_it(tmp_path, rules):
    git(tmp_path, "init", "-q")
    for path in TREE:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (tmp_path / ".gitignore").write_bytes(rules.encode())
    assert seen_by_walk(tmp_path) == seen_by_git(tmp_path)


PIECES = st.sampled_from(
    ["*", "**", "?", "a", "b", "ab", ".c", "[ab]", "[!a]", "\\a", "/", "/", "**/", "/**", "a/"]
)
LINES = st.builds(
    lambda keep, pieces: keep + "".join(pieces),
    st.sampled_from(["", "", "!"]),
    st.lists(PIECES, min_size=1, max_size=5),
)
PATHS = st.lists(st.sampled_from(["a", "b", "ab", "a.c", "ba", "c"]), min_size=1, max_size=4).map("/".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rules=st.lists(LINES, min_size=1, max_size=5), paths=st.sets(PATHS, min_size=1, max_size=8))
def test_any_rules_on_any_tree_agree_with_git(tmp_path_factory, rules, paths):
    folder = tmp_path_factory.mktemp("tree")
    git(folder, "init", "-q")
    for path in paths:
        file = folder / path
        # A path may run through what is already a file; such a set is simply a smaller tree.
        if any((folder / part).is_file() for part in _prefixes(path)) or file.exists():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (folder / ".gitignore").write_text("\n".join(rules))
    assert seen_by_walk(folder) == seen_by_git(folder)


def _prefixes(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:n]) for n in range(1, len(parts))]


def test_nested_ignore_files_and_the_exclude_file_agree_with_git(tmp_path):
    git(tmp_path, "init", "-q")
    for path in (
        "a.log",
        "keep.log",
        "sub/a.log",
        "sub/keep.log",
        "sub/deep/a.log",
        "sub/x.tmp",
        "local.cfg",
    ):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "sub/.gitignore").write_text("!keep.log\n/x.tmp\n")
    (tmp_path / "sub/deep/.gitignore").write_text("!a.log\n")
    (tmp_path / ".git/info/exclude").write_text("local.cfg\n")
    assert seen_by_walk(tmp_path) == seen_by_git(tmp_path)


@pytest.mark.parametrize(
    "pattern",
    [
        "*a" * 60 + "b",
        "**/" * 60 + "b",
        "/".join(["**", "*a*a"] * 40) + "/b",
        "[a-z]*" * 60 + "!",
        "?*" * 100 + "b",
    ],
)
def test_matching_a_hostile_pattern_comes_to_an_end(pattern):
    rules = Rules([pattern])
    path = "/".join(["a" * 200] * 15)
    # With backtracking this would not come to an end.
    assert rules.decide(path, "a" * 200, False) is None


@given(st.binary(max_size=200), st.text(min_size=1, max_size=30))
def test_no_bytes_in_an_ignore_file_are_fatal(data, path):
    read_rules(data).decide(path, path.rsplit("/", 1)[-1], False)

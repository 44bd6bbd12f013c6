"""Globs of a scope match as git's ignore patterns do, and a list of them is read as ownership."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from tether.control.scope import MAX_PATTERN, MAX_PATTERNS, compile_scope, parse_pattern
from tether.errors import TetherError

CASES = [
    # globs, path, owned, deciding glob
    (["src/auth/**"], "src/auth/login.py", True, "src/auth/**"),
    (["src/auth/**"], "src/auth/deep/er/x.py", True, "src/auth/**"),
    (["src/auth/**"], "src/auth", False, ""),
    (["src/auth/**"], "src/authx/login.py", False, ""),
    (["src/auth"], "src/auth/login.py", True, "src/auth"),
    (["src/auth/"], "src/auth/login.py", True, "src/auth/"),
    (["src/auth/"], "src/auth", False, ""),
    (["src/auth/"], "src/auth/", True, "src/auth/"),
    (["*.py"], "a/b/c.py", True, "*.py"),
    (["*.py"], "c.py", True, "*.py"),
    (["/*.py"], "a/c.py", False, ""),
    (["/*.py"], "c.py", True, "/*.py"),
    (["src/*.py"], "src/a.py", True, "src/*.py"),
    (["src/*.py"], "src/b/a.py", False, ""),
    (["src/*.py"], "x/src/a.py", False, ""),
    (["docs"], "a/docs/x", True, "docs"),
    (["/docs"], "a/docs/x", False, ""),
    (["a/**/z"], "a/z", True, "a/**/z"),
    (["a/**/z"], "a/b/c/z", True, "a/**/z"),
    (["a/**/z"], "a/b/c/zz", False, ""),
    (["**/z"], "z", True, "**/z"),
    (["**/y/z"], "x/y/z", True, "**/y/z"),
    (["**"], "anything/at/all", True, "**"),
    (["**/"], "top", False, ""),
    (["**/"], "dir/below", True, "**/"),
    (["a**b"], "a/b", False, ""),
    (["a**b"], "axxb", True, "a**b"),
    (["?.c"], "x.c", True, "?.c"),
    (["?.c"], "xy.c", False, ""),
    (["a?b"], "a/b", False, ""),
    (["[a-c]x"], "bx", True, "[a-c]x"),
    (["[!a-c]x"], "bx", False, ""),
    (["[^a-c]x"], "dx", True, "[^a-c]x"),
    (["[]x]"], "]", True, "[]x]"),
    (["[a-]"], "-", True, "[a-]"),
    (["[[:digit:]]"], "7", True, "[[:digit:]]"),
    (["[\\]]"], "]", True, "[\\]]"),
    (["a[!b]c"], "a/c", False, ""),
    (["\\#x"], "#x", True, "\\#x"),
    (["\\!x"], "!x", True, "\\!x"),
    (["\\*"], "*", True, "\\*"),
    (["\\*"], "x", False, ""),
    (["x  "], "x", True, "x  "),
    (["x\\ "], "x ", True, "x\\ "),
    (["x\\ "], "x", False, ""),
    ([" x"], " x", True, " x"),
    (["src/", "!src/secret/"], "src/secret/key", False, "!src/secret/"),
    (["src/", "!src/secret/", "src/secret/README"], "src/secret/README", True, "src/secret/README"),
    (["src/", "!*.lock"], "src/a/b.lock", False, "!*.lock"),
    (["!*.lock", "src/"], "src/a/b.lock", True, "src/"),
    (["!src/"], "src/a", False, "!src/"),
    ([], "src/a", False, ""),
    (["Ünï/*"], "Ünï/ß", True, "Ünï/*"),
    (["?"], "ß", True, "?"),
]


@pytest.mark.parametrize(("globs", "path", "owned", "glob"), CASES)
def test_a_scope_owns_what_its_last_matching_glob_says(
    globs: list[str], path: str, owned: bool, glob: str
) -> None:
    scope = compile_scope(globs)
    assert scope.owns(path) is owned
    assert scope.why(path) == glob


@pytest.mark.parametrize(
    "path", ["", "/", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a/.", "a\0b", ".."]
)
def test_what_is_no_plain_path_below_the_root_has_no_owner(path: str) -> None:
    assert not compile_scope(["**"]).owns(path)


@pytest.mark.parametrize(
    ("glob", "says"),
    [
        ("", "names nothing"),
        ("   ", "names nothing"),
        ("!", "names nothing"),
        ("/", "names nothing"),
        ("//", "names nothing"),
        ("..", "`..`"),
        ("../x", "`..`"),
        ("a/../b", "`..`"),
        ("./a", "`.`"),
        ("a//b", "empty name"),
        ("//a", "empty name"),
        ("a\0b", "NUL"),
        ("a\nb", "line break"),
        ("\\", "escapes nothing"),
        ("a\\", "escapes nothing"),
        ("a\\/b", "escapes nothing"),
        ("a[b", "not closed"),
        ("a[b/c]", "not closed"),
        ("[", "not closed"),
        ("[!]", "not closed"),
        ("[a\\", "not closed"),
        ("[[:nope:]]", "unknown class"),
        ("# note", "comment"),
        ("~/x", "outside the project"),
        ("~", "outside the project"),
        ("C:/x", "outside the project"),
        ("x" * (MAX_PATTERN + 1), "longer than"),
    ],
)
def test_a_glob_that_cannot_mean_anything_is_refused_with_the_reason(glob: str, says: str) -> None:
    with pytest.raises(TetherError, match="scope glob") as refused:
        compile_scope([glob])
    assert says in refused.value.message


def test_a_scope_of_too_many_globs_is_refused() -> None:
    with pytest.raises(TetherError, match="the most is"):
        compile_scope(["a"] * (MAX_PATTERNS + 1))


def test_a_glob_that_is_not_text_is_refused() -> None:
    with pytest.raises(TetherError, match="not text"):
        compile_scope([3])  # type: ignore[list-item]
    with pytest.raises(TetherError, match="not text"):
        compile_scope([["src/"]])  # type: ignore[list-item]
    with pytest.raises(TetherError, match="give a list of globs"):
        compile_scope("src/")


def test_hostile_wildcards_do_not_make_matching_explode() -> None:
    # Backtracking over these would take longer than the age of the universe: returning at all is the promise.
    stars = compile_scope(["a*" * 100 + "b", "*[!b]?" * 80 + "c"])
    assert not stars.owns("a" * 20_000)
    deep = compile_scope(["/".join(["**", "a*?"] * 60) + "/b"])
    assert not deep.owns("/".join(["aaa"] * 3_000))
    assert deep.owns("/".join(["aaa"] * 3_000) + "/b")


# ── against the originals ────────────────────────────────────────────────────

PIECE = st.sampled_from(
    [
        "a",
        "b",
        "ab",
        "*",
        "**",
        "***",
        "?",
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-b]",
        "[]a]",
        "[a-]",
        "\\*",
        "\\a",
        ".",
        "[[:alpha:]]",
        "[!]b]",
        "!",
        "#",
        " ",
    ]
)
SEGMENT = st.lists(PIECE, min_size=1, max_size=3).map("".join)
BODY = st.lists(SEGMENT, min_size=1, max_size=4).map("/".join)
GLOB = st.builds(
    lambda lead, body, trail: lead + body + trail,
    st.sampled_from(["", "/"]),
    BODY,
    st.sampled_from(["", "/"]),
)
LIST = st.lists(
    st.tuples(st.booleans(), GLOB).map(lambda p: ("!" if p[0] else "") + p[1]), min_size=1, max_size=4
)
NAME = st.lists(st.sampled_from(["a", "b", "*", "]", "-", "!", "#", " ", "."]), min_size=1, max_size=4).map(
    "".join
)
PATH = st.lists(NAME.filter(lambda n: n not in (".", "..")), min_size=1, max_size=4).map("/".join)


def valid(glob: str) -> bool:
    try:
        parse_pattern(glob)
    except TetherError:
        return False
    return True


class CheckIgnore:
    """Real git, asked about many paths by one process per list of patterns."""

    def __init__(self, root: Path) -> None:
        self.root = root
        subprocess.run(["git", "init", "-q", str(root)], check=True)

    def ignored(self, globs: list[str], paths: list[str]) -> set[str]:
        (self.root / ".git" / "info" / "exclude").write_text("\n".join(globs) + "\n")
        answer = subprocess.run(
            ["git", "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "-z", "--stdin"],
            cwd=self.root,
            input="\0".join(paths).encode(),
            stdout=subprocess.PIPE,
            check=False,
        )
        assert answer.returncode in (0, 1)
        return {name.decode() for name in answer.stdout.split(b"\0") if name}


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheckIgnore]:
    yield CheckIgnore(tmp_path_factory.mktemp("git"))


ASKED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@ASKED
@given(
    globs=st.lists(GLOB.filter(valid), min_size=1, max_size=3), paths=st.lists(PATH, min_size=10, max_size=40)
)
def test_without_negation_a_scope_owns_exactly_what_git_would_ignore(
    git: CheckIgnore, globs: list[str], paths: list[str]
) -> None:
    scope = compile_scope(globs)
    assert {path for path in paths if scope.owns(path)} == git.ignored(globs, paths)


@ASKED
@given(
    globs=LIST.filter(lambda globs: all(map(valid, globs))), paths=st.lists(PATH, min_size=10, max_size=40)
)
def test_with_negation_a_scope_owns_no_more_than_git_would_ignore(
    git: CheckIgnore, globs: list[str], paths: list[str]
) -> None:
    scope = compile_scope(globs)
    assert {path for path in paths if scope.owns(path)} <= git.ignored(globs, paths)


@settings(max_examples=300, deadline=None)
@given(globs=LIST.filter(lambda globs: all(map(valid, globs))), path=PATH)
def test_the_last_pattern_that_matches_a_path_or_its_directories_decides(globs: list[str], path: str) -> None:
    names = path.split("/")
    verdict = False
    for glob in globs:
        pattern = parse_pattern(glob)
        if any(pattern.matches(names[:n], is_dir=n < len(names)) for n in range(1, len(names) + 1)):
            verdict = not pattern.negated
    assert compile_scope(globs).owns(path) is verdict


PLAIN = st.sampled_from(["a", "b", "*", "**", "?", "[ab]", "[!a]", "a*", "*b", "a?b"])
PLAIN_GLOB = st.builds(
    lambda lead, names, trail: lead + "/".join(names) + trail,
    st.sampled_from(["", "/"]),
    st.lists(PLAIN, min_size=1, max_size=4),
    st.sampled_from(["", "/"]),
)


@settings(max_examples=300, deadline=None)
@given(
    # pathspec takes `a/**/` for `a/**`; git, asked above, does not.
    globs=st.lists(PLAIN_GLOB.filter(lambda glob: not glob.endswith("**/")), min_size=1, max_size=4),
    path=st.lists(st.sampled_from(["a", "b", "ab", "aab"]), min_size=1, max_size=4).map("/".join),
)
def test_lists_without_negation_agree_with_pathspec(globs: list[str], path: str) -> None:
    assert compile_scope(globs).owns(path) is GitIgnoreSpec.from_lines(globs).match_file(path)

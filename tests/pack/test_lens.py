"""Which files a lens shows, how much they matter, and why."""

from __future__ import annotations

import pytest

from tether.errors import TetherError
from tether.pack.glob import is_ignored, matches
from tether.pack.lens import admits, choose_mode, learn, parse_lens, rank
from tether.pack.lenses import LENSES, find_lens

PRIORITIES = {
    "architecture": {
        "a.py": 100,
        "src/a.py": 100,
        "rust/src/x/lib.rs": 100,
        "other/lib.rs": 95,
        "Cargo.toml": 90,
        "pyproject.toml": 90,
        "x/pyproject.toml": 90,
        "x.toml": 85,
        "x.json": 80,
        "x.yaml": 80,
        "x.yml": 80,
        "Makefile": 75,
        "Dockerfile": 70,
        "README.md": 65,
        "a.ts": 60,
        "a.tsx": 60,
        "a.js": 55,
        "a.jsx": 55,
        "other.go": 50,
    },
    "debug": {"a.py": 100, "a.rs": 100, "a.js": 90, "a.ts": 90, "tests/x.go": 85, "test/x": 85, "x.go": 50},
    "security": {
        "src/auth.go": 100,
        "my_secret.txt": 100,
        "credential.c": 100,
        "password.h": 100,
        "token.go": 98,
        "security.md": 95,
        "crypto.go": 95,
        "encrypt.go": 95,
        ".env.example": 92,
        "package.json": 90,
        "requirements.txt": 90,
        "Cargo.toml": 90,
        "go.mod": 90,
        "Gemfile": 90,
        "config.go": 88,
        "settings.go": 88,
        "package-lock.json": 85,
        "Cargo.lock": 85,
        "x/server/a.go": 80,
        "api/a.go": 80,
        "routes/a.go": 78,
        "x/handlers/a.go": 78,
        "middleware/a.go": 76,
        "my_handler.go": 75,
        "endpoint.go": 75,
        "parse.go": 72,
        "input.go": 70,
        "validate.go": 70,
        "sanitize.go": 70,
        "Dockerfile": 65,
        "docker-compose.prod.yml": 65,
        "a.yaml": 55,
        "a.yml": 55,
        "a.rs": 45,
        "a.py": 45,
        "a.js": 40,
        "a.ts": 40,
        "tests/a.go": 35,
        "test/a.go": 35,
        "other.go": 25,
    },
    "onboarding": {
        "README.md": 100,
        "CONTRIBUTING.md": 98,
        "CLAUDE.md": 97,
        "CHANGELOG.md": 95,
        "docs/x.md": 90,
        "Cargo.toml": 88,
        "package.json": 88,
        "pyproject.toml": 88,
        "Makefile": 85,
        "Dockerfile": 80,
        "src/main.rs": 75,
        "src/lib.rs": 75,
        "main.py": 75,
        "index.js": 75,
        "index.ts": 75,
        "a/mod.rs": 70,
        "x.toml": 65,
        "x.yaml": 60,
        "x.yml": 60,
        "x.json": 55,
        "tests/x.go": 40,
        "test/x.go": 40,
        "a.rs": 35,
        "a.py": 35,
        "a.js": 30,
        "a.ts": 30,
        "x.go": 20,
    },
}


@pytest.mark.parametrize("name", list(LENSES))
def test_every_row_of_the_lens_tables(name: str) -> None:
    lens = LENSES[name]
    assert {path: rank(lens, path).value for path in PRIORITIES[name]} == PRIORITIES[name]


def test_the_highest_of_all_matching_groups_wins() -> None:
    assert rank(LENSES["security"], "tests/auth_config.py").rule == "*auth*"


@pytest.mark.parametrize(
    ("lens", "path", "mode"),
    [
        ("architecture", "a.py", ("structure", 2000)),
        ("architecture", "x.json", ("structure", 2000)),
        ("architecture", "other", ("smart", 2000)),
        ("debug", "a.py", ("full", 0)),
        ("security", "auth.py", ("full", 0)),
        ("onboarding", "main.py", ("structure", 500)),
        ("onboarding", "tests/a.go", ("structure", 200)),
        ("onboarding", "a.py", ("structure", 300)),
    ],
)
def test_how_much_a_lens_shows(lens: str, path: str, mode: tuple[str, int]) -> None:
    assert choose_mode(LENSES[lens], path) == mode


@pytest.mark.parametrize(
    ("lens", "shown", "hidden"),
    [
        (
            "architecture",
            ["a.py", "x/Dockerfile"],
            ["tests/a.py", "docs/x.json", "a.txt", "a.go", ".github/x.yml"],
        ),
        ("debug", ["a.go", "tests/x"], ["a.pyc", "x/__pycache__/y", ".git/config"]),
        ("security", ["src/oauth.py", "Gemfile.lock", ".gitignore"], ["tests/auth.py", "main.py"]),
        ("onboarding", ["LICENSE", "x/app.py", "CLAUDE.md"], ["deep.py", "docs/guide.md"]),
    ],
)
def test_what_a_lens_shows(lens: str, shown: list[str], hidden: list[str]) -> None:
    assert all(admits(LENSES[lens], path) for path in shown)
    assert not any(admits(LENSES[lens], path) for path in hidden)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a/b.py", True),
        ("*.py", "b.pyc", False),
        ("src/**", "src/a/b", True),
        ("src/**", "x/src/a", False),
        ("**/x.py", "a/b/x.py", True),
        ("**/x.py", "x.py", True),
        ("**/x.py", "ax.py", False),
        ("a/**/x", "a/b/c/x", True),
        ("a/**/x", "b/x", False),
        ("**/api/**", "v1/api/h.py", True),
        ("**/api/**", "api/h.py", True),
        ("**/api/**", "xapi/h.py", False),
        ("A.py", "a.py", False),
    ],
)
def test_a_pattern_matches_as_the_page_says(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("target", "x/target/y", True),
        ("*.log", "a/x.log", True),
        ("a/b.txt", "a/b.txt", True),
        ("build/", "build/x", True),
        ("docs/*", "docs", True),
        ("docs", "mydocs/x", False),
    ],
)
def test_an_ignore_pattern_takes_components_paths_and_parents(
    pattern: str, path: str, expected: bool
) -> None:
    assert is_ignored([pattern], path) is expected


def test_seven_parts_static_three_parts_learned_rounded_half_up() -> None:
    static = rank(LENSES["debug"], "x.go")
    assert [learn(static, u, "learned").value for u in (0.0, 0.5, 1.0, 0.25)] == [35, 50, 65, 43]


def test_a_custom_lens_is_read_and_wins_over_a_built_in_of_its_name() -> None:
    lens = parse_lens(
        "debug",
        {
            "description": "mine",
            "truncate_mode": "structure",
            "truncate": 7,
            "include": ["*.go"],
            "groups": [{"pattern": "*.go", "priority": 99, "mode": "full"}],
            "fallback": {"priority": 3},
        },
    )
    found = find_lens("debug", {"debug": lens})
    assert (found.description, found.limit, found.fallback) == ("mine", 7, 3)
    assert choose_mode(found, "a.go") == ("full", 7)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"sort": "x"}, "unknown key `sort`"),
        ({"mode": "tiny"}, "`mode` is `tiny`"),
        ({"groups": [{"priority": 1}]}, "needs a `pattern`"),
        ({"groups": [{"pattern": "*", "priority": 101}]}, "`priority` is `101`"),
        ({"include": "*.py"}, "must be a list"),
        ({"fallback": {"priority": True}}, "`priority` is `True`"),
    ],
)
def test_a_malformed_lens_is_refused_by_the_key_that_is_wrong(table: dict[str, object], said: str) -> None:
    with pytest.raises(TetherError, match=said):
        parse_lens("x", table)


def test_an_unknown_lens_names_the_known_ones() -> None:
    with pytest.raises(TetherError, match="`architecture`, `debug`, `onboarding`, `security`"):
        find_lens("minimal")

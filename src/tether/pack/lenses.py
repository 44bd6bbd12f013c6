"""The four built-in lenses, as tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tether.errors import TetherError
from tether.pack.lens import PLAIN, Group, Lens


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _groups(text: str) -> tuple[Group, ...]:
    """`priority[s[limit]] pattern…` lines: the tables below, kept readable."""
    found = []
    for line in text.strip().splitlines():
        rank, *patterns = line.split()
        number, mark, limit = rank.partition("s")
        mode = "structure" if mark else ""
        found += [Group(p, int(number), mode, int(limit) if limit else None) for p in patterns]
    return tuple(found)


_ARCHITECTURE = """
100s *.py rust/src/**/*.rs
95s **/*.rs
90 Cargo.toml pyproject.toml
85 *.toml
80 *.json *.yaml *.yml
75 Makefile
70 Dockerfile
65 README.md
60 *.ts *.tsx
55 *.js *.jsx
"""
_DEBUG = """
100 *.py *.rs
90 *.js *.ts
85 tests/** test/**
"""
_SECURITY = """
100 *auth* *secret* *credential* *password*
98 *token*
95 *security* *crypto* *encrypt*
92 *.env*
90 package.json requirements.txt Cargo.toml go.mod Gemfile
88 *config* *settings*
85 package-lock.json Cargo.lock
80 **/server/** **/api/**
78 **/routes/** **/handlers/**
76 **/middleware/**
75 *handler* *endpoint*
72 *parse*
70 *input* *valid* *sanitize*
65 Dockerfile docker-compose*.yml
55 *.yaml *.yml
45 *.rs *.py
40 *.js *.ts
35 tests/** test/**
"""
_ONBOARDING = """
100 README.md
98 CONTRIBUTING.md
97 CLAUDE.md
95 CHANGELOG.md
90 *.md
88 Cargo.toml package.json pyproject.toml
85 Makefile
80 Dockerfile
75s **/main.rs lib.rs main.py index.js index.ts
70s **/mod.rs
65 *.toml
60 *.yaml *.yml
55 *.json
40s200 tests/** test/**
35s300 *.rs *.py
30s300 *.js *.ts
"""

LENSES: Final[Mapping[str, Lens]] = {
    lens.name: lens
    for lens in (
        Lens(
            "architecture",
            "High-level code structure and configuration",
            mode="structure",
            limit=2000,
            include=_words(
                "*.py *.js *.ts *.jsx *.tsx *.rs *.json *.toml *.yaml *.yml Dockerfile Makefile README.md"
            ),
            exclude=_words(
                "tests/** test/** docs/** doc/** assets/** *.log htmlcov/** coverage.xml .coverage "
                "cobertura.xml *.html *.css *.map CONTEXT.txt *.txt test_vectors/** research/** LLM/** "
                ".llm_archive/** target/** dist/** build/** scripts/** examples/** .github/** .claude/** "
                ".vscode/** .idea/** TUTORIAL.md TESTING.md CONTRIBUTING.md CHANGELOG.md"
            ),
            groups=_groups(_ARCHITECTURE),
            fallback_mode="smart",
        ),
        Lens(
            "debug",
            "Recent changes for debugging",
            sort_by="mtime",
            sort_order="desc",
            exclude=("*.pyc", "__pycache__", ".git"),
            groups=_groups(_DEBUG),
        ),
        Lens(
            "security",
            "Security-relevant files (auth, secrets, dependencies)",
            include=_words(
                "**/*auth* **/*security* **/*secret* **/*password* **/*credential* package.json "
                "package-lock.json requirements.txt Pipfile Pipfile.lock Gemfile Gemfile.lock Cargo.toml "
                "Cargo.lock go.mod pyproject.toml Dockerfile *.env.example .gitignore"
            ),
            exclude=("tests/**", "test/**", "docs/**", "*.log"),
            groups=_groups(_SECURITY),
            fallback=25,
        ),
        Lens(
            "onboarding",
            "Essential files for new contributors",
            mode="structure",
            limit=500,
            include=_words(
                "README.md CONTRIBUTING.md LICENSE CHANGELOG.md CLAUDE.md **/main.py **/main.rs **/lib.rs "
                "**/index.js **/index.ts **/app.py **/server.js package.json setup.py pyproject.toml "
                "Cargo.toml Makefile Dockerfile tether.toml"
            ),
            groups=_groups(_ONBOARDING),
            fallback=20,
        ),
    )
}


def find_lens(name: str, custom: Mapping[str, Lens] | None = None) -> Lens:
    """A custom or built-in lens by name; custom ones win."""
    lens = (custom or {}).get(name) or LENSES.get(name)
    if lens is None and name in ("", "none"):
        return PLAIN
    if lens is None:
        known = ", ".join(f"`{n}`" for n in sorted({*LENSES, *(custom or {})}))
        raise TetherError("BAD_ARGUMENTS", f"unknown lens `{name}`: choose one of {known}")
    return lens

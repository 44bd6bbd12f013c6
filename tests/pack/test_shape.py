"""Structure from syntax trees: whole signatures, first lines of documentation, no bodies."""

from __future__ import annotations

import pytest

from tether.pack.shape import shape_by_outline
from tether.source.syntax import LANGUAGES

PYTHON = '''"""What this is.

And more of it.
"""
import os
from a import (
    b,
    c,
)

LIMIT = 3


@first
@second(1)
def work(
    a: int,
    b: str = "x",
) -> int:
    """Do the work.

    At length.
    """
    def inner():
        return 1
    return inner()


class Engine(Base):
    """Runs."""

    size: int = 3

    def start(self) -> None:
        return None
'''

SHAPED = '''"""What this is.
import os
from a import (
    b,
    c,
)
LIMIT = 3
@first
@second(1)
def work(
    a: int,
    b: str = "x",
) -> int:
    """Do the work.
    def inner():
class Engine(Base):
    """Runs."""
    size: int = 3
    def start(self) -> None:'''


def test_python_keeps_signatures_decorators_docstrings_and_class_shape() -> None:
    found = shape_by_outline(PYTHON, "a.py", "python", False)
    assert found and found.text == SHAPED
    assert found.parsed and found.kept == SHAPED.count("\n") + 1
    assert [(o.kind, o.name, o.start, o.end) for o in found.omitted] == [
        ("function", "work", 14, 26),
        ("function", "work.inner", 24, 25),
        ("class", "Engine", 29, 35),
        ("function", "Engine.start", 34, 35),
    ]


def test_signatures_alone_leave_out_imports_docs_and_values() -> None:
    found = shape_by_outline(PYTHON, "a.py", "python", True)
    assert found and "import" not in found.text and "LIMIT" not in found.text and "Runs" not in found.text
    assert 'def work(\n    a: int,\n    b: str = "x",\n) -> int:' in found.text
    assert "    def start(self) -> None:" in found.text


SAMPLES = {
    "bash": ("a.sh", "greet() {\n  echo hidden\n}\n", "greet"),
    "c": (
        "a.c",
        "int add(int a,\n        int b)\n{\n  return hidden;\n}\n",
        "int add(int a,\n        int b)",
    ),
    "cpp": ("a.cpp", "class K {\n public:\n  int m() { return hidden; }\n};\n", "class K"),
    "csharp": ("a.cs", "class K { public int M() { return hidden; } }\n", "public int M()"),
    "elixir": ("a.ex", "defmodule K do\n  def m(x) do\n    hidden\n  end\nend\n", "def m(x)"),
    "go": ("a.go", "package p\n\nfunc Add(a int) int {\n\treturn hidden\n}\n", "func Add(a int) int"),
    "java": ("A.java", "class K {\n  int m(int a) { return hidden; }\n}\n", "int m(int a)"),
    "javascript": ("a.js", "export function f(a) {\n  return hidden;\n}\n", "export function f(a)"),
    "kotlin": ("a.kt", "fun f(a: Int): Int {\n  return hidden\n}\n", "fun f(a: Int): Int"),
    "lua": ("a.lua", "function f(a)\n  return hidden\nend\n", "function f(a)"),
    "php": ("a.php", "<?php\nfunction f($a) {\n  return $hidden;\n}\n", "function f($a)"),
    "python": ("a.py", "def f(a):\n    return hidden\n", "def f(a):"),
    "ruby": ("a.rb", "class K\n  def m(a)\n    hidden\n  end\nend\n", "def m(a)"),
    "rust": ("a.rs", "pub fn f<T>(\n    a: T,\n) -> T {\n    hidden\n}\n", "pub fn f<T>(\n    a: T,\n) -> T"),
    "scala": ("a.scala", "class K {\n  def m(a: Int): Int = {\n    hidden\n  }\n}\n", "def m(a: Int): Int"),
    "swift": ("a.swift", "func f(a: Int) -> Int {\n  return hidden\n}\n", "func f(a: Int) -> Int"),
    "tsx": ("a.tsx", "export const F = (p: P) => {\n  return hidden;\n};\n", "export const F = (p: P) =>"),
    "typescript": (
        "a.ts",
        "interface I { a: string }\nfunction f(): void {\n  hidden();\n}\n",
        "function f(): void",
    ),
    "zig": ("a.zig", "pub fn f(a: u8) u8 {\n    return hidden;\n}\n", "pub fn f(a: u8) u8"),
    "haskell": ("a.hs", "module M where\nf :: Int -> Int\nf x = x + hidden\n", "f :: Int -> Int"),
    "sql": ("a.sql", "CREATE TABLE t (\n  id INT\n);\n", "CREATE TABLE t"),
    "css": ("a.css", ".k {\n  color: hidden;\n}\n", ".k"),
    "html": ("a.html", "<html><body id='main'><p>hidden</p></body></html>\n", ""),
    "markdown": ("a.md", "# Title\n\nhidden\n\n## Part\n\nhidden\n", "# Title\n## Part"),
    "json": ("a.json", '{\n  "name": {\n    "deep": {"deeper": "hidden"}\n  }\n}\n', '"name"'),
    "yaml": ("a.yaml", "name:\n  deep:\n    deeper: hidden\n", "name:"),
    "toml": ("a.toml", "[part]\nkey = 'hidden'\n", "part"),
}


def test_there_is_a_sample_for_every_language_that_can_be_parsed() -> None:
    assert set(SAMPLES) == LANGUAGES


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_every_language_keeps_its_signatures_and_loses_its_bodies(language: str) -> None:
    path, text, kept = SAMPLES[language]
    found = shape_by_outline(text, path, language, False)
    if not kept:
        assert found is None or found.text
        return
    assert found is not None
    assert kept in found.text
    if language not in ("sql", "toml", "haskell"):
        assert "hidden" not in found.text

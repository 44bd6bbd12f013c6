"""Parsing: the right language by name, and limits that hold on hostile text."""

from __future__ import annotations

import time

import pytest

from tether.source.languages import rules_of
from tether.source.languages.rules import walk
from tether.source.outline import outline
from tether.source.references import references
from tether.source.syntax import LANGUAGES, attempt, kind_ids, language_of, parse


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("src/a.py", b"", "python"),
        ("A.TS", b"", "typescript"),
        ("view.tsx", b"", "tsx"),
        ("lib.d.mts", b"", "typescript"),
        ("main.rs", b"", "rust"),
        ("list.h", b"int add(int a);\n", "c"),
        ("list.h", b"#pragma once\nclass List {\n", "cpp"),
        ("list.h", b"namespace a {\n", "cpp"),
        ("Gemfile", b"", "ruby"),
        ("dir.py/Rakefile", b"", "ruby"),
        ("Cargo.lock", b"", "toml"),
        ("tool", b"#!/usr/bin/env python3.12\n", "python"),
        ("tool", b"#!/usr/bin/env -S FOO=1 node --harmony\n", "javascript"),
        ("tool", b"#!/bin/sh -e\n", "bash"),
        ("tool", b"#! /usr/local/bin/ruby\n", "ruby"),
        ("tool", b"#!\n", None),
        ("tool", b"#!/usr/bin/env\n", None),
        ("page", b"<?php echo 1;", "php"),
        ("Makefile", b"", None),
        ("photo.png", b"#!/bin/sh", "bash"),
        ("noext", b"", None),
        (".hidden", b"", None),
        ("", b"", None),
    ],
)
def test_a_file_is_known_by_its_name_or_first_line(path: str, head: bytes, language: str | None) -> None:
    assert language_of(path, head) == language


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_language_has_a_grammar_and_a_table_of_kinds_it_knows(language: str) -> None:
    rules = rules_of(language)
    assert rules is not None
    known = set(kind_ids(language, frozenset(rules.definitions)).values())
    assert known == set(rules.definitions)
    assert parse(b"", language) is not None


def hostile(size: int) -> dict[str, bytes]:
    return {
        "open brackets": b"[" * size,
        "nested brackets": b"[" * size + b"]" * size,
        "nested calls": b"f(" * size,
        "nested blocks": b"{" * size,
        "nested tags": b"<a>" * size,
        "nested lists": b"- " * size + b"x",
        "nested keys": b"? " * size + b"x",
        "nested indents": b"".join(b" " * depth + b"if x:\n" for depth in range(size // 100)),
        "zero bytes": b"\0" * size,
        "not UTF-8": b"\xff\xfe\xc3\x28" * size,
        "cut characters": "é€𝄞".encode()[:-1] * size,
        "quotes": b"\"'`" * size,
        "emphasis": b"*a_`[" * size,
        "one line": b"x=" + b"1+" * (size * 5),
    }


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_hostile_text_is_outlined_or_skipped(language: str) -> None:
    for data in hostile(5_000).values():
        shape = outline(data, language, timeout_ms=100)
        assert (shape.tree is None) == bool(shape.reason)
        references(data, language, shape)


@pytest.mark.slow
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_hundred_thousand_levels_neither_crash_nor_outlast_the_limit(language: str) -> None:
    for name, data in hostile(100_000).items():
        start = time.monotonic()
        shape = outline(data, language, timeout_ms=300)
        references(data, language, shape)
        # without the limit some of these take minutes; this leaves room for a busy machine
        assert time.monotonic() - start < 30, name


@pytest.mark.parametrize("text", [b"- " * 300 + b"x", b"".join(b" " * n + b"a:\n" for n in range(300))])
def test_yaml_nested_too_deeply_for_its_scanner_is_skipped(text: bytes) -> None:
    assert attempt(text, "yaml").reason == "nested deeper than 200 levels"
    assert attempt(text[:200], "yaml").tree is not None


def test_a_file_over_the_limit_is_skipped_with_a_reason() -> None:
    tried = attempt(b"x" * 50_000_000, "javascript")
    assert tried.tree is None
    assert tried.reason == "50000000 bytes, more than the limit of 4000000"


def test_a_file_that_takes_too_long_is_skipped_with_a_reason() -> None:
    tried = attempt(b"x=" + b"1+" * 1_000_000, "python", timeout_ms=1)
    assert tried.tree is None
    assert tried.reason == "not parsed within 1 ms"


def test_a_tree_read_in_pieces_is_the_tree_read_at_once() -> None:
    data = b"".join(b"def f%d(a, b='\xc3\xa9'):\n    return a\n\n" % number for number in range(2_000))
    tree = parse(data, "python")
    assert tree is not None
    assert tree.root_node.end_byte == len(data)
    assert not tree.root_node.has_error
    assert tree.root_node.named_child_count == 2_000


def test_a_walk_visits_every_node_once_however_deep() -> None:
    tree = parse(b"[" * 20_000 + b"]" * 20_000, "json")
    assert tree is not None
    depths = [depth for depth, _ in walk(tree.root_node)]
    assert len(depths) == tree.root_node.descendant_count
    assert max(depths) >= 20_000

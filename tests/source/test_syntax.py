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


HOSTILE = {
    "open brackets": b"[" * 100_000,
    "nested brackets": b"[" * 100_000 + b"]" * 100_000,
    "nested calls": b"f(" * 100_000,
    "nested blocks": b"{" * 100_000,
    "nested tags": b"<a>" * 100_000,
    "nested indents": b"".join(b" " * depth + b"if x:\n" for depth in range(1_000)),
    "zero bytes": b"\0" * 100_000,
    "not UTF-8": b"\xff\xfe\xc3\x28" * 25_000,
    "quotes": b"\"'`" * 30_001,
    "emphasis": b"*a_`[" * 20_000,
    "one line": b"x=" + b"1+" * 500_000,
}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_hostile_text_neither_crashes_nor_outlasts_its_limit(language: str) -> None:
    for name, data in HOSTILE.items():
        start = time.monotonic()
        shape = outline(data, language, timeout_ms=300)
        references(data, language, shape)
        # a promise, not a benchmark: without the limit some of these take minutes
        assert time.monotonic() - start < 20, name


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

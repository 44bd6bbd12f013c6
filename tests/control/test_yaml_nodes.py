"""YAML nodes know where they stand, so that an edit can reach exactly them."""

from __future__ import annotations

import pytest

from tether.control.yaml_nodes import MAX_NODES, Malformed, Node, describe, is_text, read, show

TEXT = """\
# comment
a: plain  # aside
b: 'single'
c: "dou\\tble"
d: |
  block

e:
f: [x, {y: z}]
g:
  - one   # first

  # second
  - two

# the end
"""


def entries(text: str = TEXT) -> dict[str, Node]:
    root = read(text)
    assert root is not None
    return {key.value: value for key, value in root.entries}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_node_covers_the_text_it_was_written_as(newline: str) -> None:
    text = TEXT.replace("\n", newline)
    nodes = entries(text)
    covered = {name: text[node.start : node.end] for name, node in nodes.items()}
    assert covered["a"] == "plain"
    assert covered["b"] == "'single'"
    assert covered["c"] == '"dou\\tble"'
    assert covered["f"] == "[x, {y: z}]"
    assert covered["g"].startswith("- one")
    assert covered["g"].endswith("- two")
    assert nodes["d"].value == "block\n"
    assert (nodes["c"].line, nodes["c"].column) == (3, 3)


def test_nothing_is_told_from_text() -> None:
    nodes = entries()
    assert nodes["e"].is_empty
    assert not nodes["a"].is_empty
    assert read("") is None
    assert read("# only\n") is None
    assert read("~") is None


@pytest.mark.parametrize(
    ("text", "said", "text_like"),
    [
        ("a", "`a`", True),
        ("''", "an empty text", True),
        ("'3'", "`3`", True),
        ("3", "the number `3`", False),
        ("-1.5e3", "the number `-1.5e3`", False),
        ("0x1f", "the number `0x1f`", False),
        (".inf", "the number `.inf`", False),
        ("nan", "`nan`", True),
        ("2026-01-02", "`2026-01-02`", True),
        ("True", "the truth value `True`", False),
        ("[]", "a list", False),
        ("{}", "a map", False),
    ],
)
def test_what_was_found_is_said_in_words(text: str, said: str, text_like: bool) -> None:
    node = read(text)
    assert node is not None
    assert describe(node) == said
    assert is_text(node) is text_like


def test_more_than_a_person_would_write_is_not_read() -> None:
    with pytest.raises(Malformed, match=f"at most {MAX_NODES} values"):
        read("[" + "a," * MAX_NODES + "]")


def test_a_text_is_shown_on_one_short_line() -> None:
    assert show("a\nb\0é") == "a\\nb\\x00é"
    assert show("x" * 100, 10) == "x" * 9 + "…"

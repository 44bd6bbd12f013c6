"""A file cut into fragments."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.index.fragments import LONGEST_CHARS, LONGEST_ROWS, PASSAGE_ROWS, Fragment, cut_file
from tether.source.outline import outline
from tether.source.syntax import LANGUAGES

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=2_000)


def cut(text: str, language: str) -> tuple[Fragment, ...]:
    data = text.encode()
    return cut_file(text, outline(data, language), data).fragments


TYPESCRIPT = """import { a } from "b";

export const config = { port: 80 };

/** Reads a user. */
export function getUserData(id: string) {
  const inner = () => id;
  return inner();
}

export class User {
  name = "";

  rename(to: string) {
    this.name = to;
  }
}

if (config.port) {
  getUserData("1");
}

users.map((u) => u.id);
"""


def test_the_three_levels_of_typescript() -> None:
    found = {(f.level, f.kind, f.name, f.parent_symbol) for f in cut(TYPESCRIPT, "typescript")}
    assert (1, "constant", "config", "") in found
    assert (1, "function", "getUserData", "") in found
    assert (1, "class", "User", "") in found
    assert (1, "method", "rename", "class User") in found
    assert any(level == 2 and "if" in kind for level, kind, _, _ in found)
    assert any(level == 3 for level, _, _, _ in found)


def test_a_definition_keeps_its_comment_signature_and_doc() -> None:
    (found,) = (f for f in cut(TYPESCRIPT, "typescript") if f.name == "getUserData")
    text = TYPESCRIPT[found.start_char : found.end_char]
    assert text.startswith("/** Reads a user. */") and text.endswith("}")
    assert "getUserData(id: string)" in found.signature
    assert found.doc == "Reads a user."


def test_the_most_specific_wins_where_fragments_would_overlap() -> None:
    found = cut(TYPESCRIPT, "typescript")
    (holder,) = (f for f in found if f.name == "User")
    (method,) = (f for f in found if f.name == "rename")
    assert holder.end_line < method.start_line


SAMPLES = {
    "python": (
        "def load(path):\n    return path\n\n\nclass Box:\n    def open(self):\n        return 1\n",
        "open",
    ),
    "javascript": (
        "function load(p) {\n  return p;\n}\nclass Box {\n  open() {\n    return 1;\n  }\n}\n",
        "open",
    ),
    "typescript": ("interface Box {\n  open(): void;\n}\nfunction load(): void {\n  return;\n}\n", "load"),
    "tsx": ("export function Page() {\n  return <div>hello</div>;\n}\n", "Page"),
    "rust": ("struct Box2 {\n  a: u8,\n}\nimpl Box2 {\n  fn open(&self) -> u8 {\n    1\n  }\n}\n", "open"),
    "go": ("package a\n\nfunc Load(p string) string {\n\treturn p\n}\n", "Load"),
    "java": ("class Box {\n  int open() {\n    return 1;\n  }\n}\n", "open"),
    "kotlin": ("class Box {\n  fun open(): Int {\n    return 1\n  }\n}\n", "open"),
    "c": ("int load(int p) {\n  return p;\n}\n", "load"),
    "cpp": ("class Box {\n public:\n  int open() {\n    return 1;\n  }\n};\n", "open"),
    "csharp": ("class Box {\n  int Open() {\n    return 1;\n  }\n}\n", "Open"),
    "ruby": ("class Box\n  def open\n    1\n  end\nend\n", "open"),
    "php": ("<?php\nfunction load($p) {\n  return $p;\n}\n", "load"),
    "swift": ("func load(p: Int) -> Int {\n  return p\n}\n", "load"),
    "scala": ("object Box {\n  def open(): Int = {\n    1\n  }\n}\n", "open"),
    "haskell": ("module A where\n\nload :: Int -> Int\nload p = p\n", "load"),
    "elixir": ("defmodule Box do\n  def open(a) do\n    a\n  end\nend\n", "open"),
    "lua": ("function load(p)\n  return p\nend\n", "load"),
    "zig": ("fn load(p: u8) u8 {\n    return p;\n}\n", "load"),
    "bash": ("load() {\n  echo $1\n}\n", "load"),
    "html": ("<html><body><h1 id='top'>Title</h1></body></html>\n", None),
    "css": (".box {\n  color: red;\n}\n", None),
    "json": ('{\n  "name": "box",\n  "parts": [1, 2]\n}\n', None),
    "yaml": ("name: box\nparts:\n  - 1\n", None),
    "toml": ('[box]\nname = "a"\n', None),
    "sql": ("CREATE TABLE box (\n  id INT\n);\n", "box"),
    "markdown": ("# Box\n\ntext\n\n## Open\n\nmore\n", "Open"),
}


def test_every_language_has_a_sample() -> None:
    assert SAMPLES.keys() == LANGUAGES


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_each_language_is_cut_at_its_definitions(language: str) -> None:
    text, name = SAMPLES[language]
    found = cut(text, language)
    assert found
    if name is not None:
        assert name in {f.name for f in found}


def check_cover(text: str, fragments: tuple[Fragment, ...]) -> None:
    """Fragments are in order, do not overlap, fit the limits and leave out nothing but closing marks."""
    at = 0
    for fragment in fragments:
        assert at <= fragment.start_char < fragment.end_char <= len(text)
        between = text[at : fragment.start_char]
        assert not set(between) - set(" \t\r\n\f\v)]};,end") or not between.strip()
        assert fragment.end_char - fragment.start_char <= LONGEST_CHARS + 2_000
        assert text[: fragment.start_char].count("\n") + 1 == fragment.start_line
        assert text[: fragment.end_char].count("\n") + 1 == fragment.end_line
        at = fragment.end_char


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_no_text_is_lost_and_none_is_twice(language: str) -> None:
    text = "\n".join(SAMPLES[language][0] for _ in range(20))
    check_cover(text, cut(text, language))


@settings(deadline=None)
@given(TEXT)
def test_any_text_is_covered_without_a_grammar(text: str) -> None:
    cuts = cut_file(text)
    check_cover(text, cuts.fragments)
    kept = "\n".join(text[f.start_char : f.end_char] for f in cuts.fragments)
    assert "".join(kept.split()) == "".join(text.split())


@settings(deadline=None, max_examples=40)
@given(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=600),
    st.sampled_from(["python", "typescript"]),
)
def test_any_text_is_cut_with_a_grammar(text: str, language: str) -> None:
    at = 0
    for fragment in cut(text, language):
        assert at <= fragment.start_char < fragment.end_char <= len(text)
        at = fragment.end_char


def test_a_long_definition_is_split_with_its_header_kept() -> None:
    body = "".join(f"    step_{n} = {n}\n\n" if n % 5 == 0 else f"    step_{n} = {n}\n" for n in range(300))
    found = cut(f"def long_one(a):\n{body}    return a\n", "python")
    assert len(found) > 3
    assert all(f.end_line - f.start_line < LONGEST_ROWS for f in found)
    assert all(f.name == "long_one" and f.signature.startswith("def long_one(a)") for f in found)


def test_a_line_without_end_is_split_too() -> None:
    text = "x = '" + "word " * 20_000 + "'\n"
    found = cut(text, "python")
    assert len(found) > 10
    assert all(f.end_char - f.start_char <= LONGEST_CHARS for f in found)


def test_one_line_neighbours_share_a_fragment() -> None:
    found = cut("".join(f"NAME_{n} = {n}\n" for n in range(8)), "python")
    assert len(found) == 1


def test_passages_gather_small_neighbours_up_to_their_size() -> None:
    text = "".join(f"def f{n}(a):\n    b = a\n    return b\n\n\n" for n in range(40))
    cuts = cut_file(text, outline(text.encode(), "python"), text.encode())
    assert len(cuts.fragments) == 40
    assert 3 <= len(cuts.passages) <= 8
    ends = [*cuts.passages[1:], len(cuts.fragments)]
    for first, last in zip(cuts.passages, ends, strict=True):
        assert cuts.fragments[last - 1].end_line - cuts.fragments[first].start_line <= PASSAGE_ROWS


def test_a_hundred_thousand_brackets_are_only_text() -> None:
    text = "[" * 100_000 + "]" * 100_000
    assert cut(text, "json")
    assert cut(text, "javascript")

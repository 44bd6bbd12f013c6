"""The class of a change, on pairs of versions written as text under `mutations/`."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.record.mutation import AST_REFACTOR, INTENT_EVOLUTION, classify
from tether.source.languages.rules import walk
from tether.source.syntax import parse

FOLDER = Path(__file__).with_name("mutations")


class Pair(NamedTuple):
    language: str
    expected: str
    title: str
    before: str
    after: str


def read_pairs() -> list[Pair]:
    """Cases of the form `=== refactor: title`, the version before, `--- after`, the version after."""
    pairs = []
    for path in sorted(FOLDER.glob("*.txt")):
        for part in path.read_text(encoding="utf-8").split("\n=== ")[1:]:
            heading, _, rest = part.partition("\n")
            expected, _, title = heading.partition(": ")
            before, _, after = rest.partition("\n--- after\n")
            kind = {"refactor": AST_REFACTOR, "evolution": INTENT_EVOLUTION}[expected]
            pairs.append(Pair(path.stem, kind, title, before + "\n", after.rstrip("\n") + "\n"))
    return pairs


PAIRS = read_pairs()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.language}: {pair.title}")
def test_a_change_has_the_class_written_beside_it(pair: Pair) -> None:
    found = classify(pair.before.encode(), pair.after.encode(), pair.language)
    assert found.kind == pair.expected, found.reason
    assert found.reason


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.language}: {pair.title}")
def test_a_change_and_its_undoing_have_one_class(pair: Pair) -> None:
    assert classify(pair.after.encode(), pair.before.encode(), pair.language).kind == pair.expected


def test_there_are_twenty_pairs_and_more_for_every_language() -> None:
    counts: dict[str, int] = {}
    for pair in PAIRS:
        family = "typescript" if pair.language == "tsx" else pair.language
        counts[family] = counts.get(family, 0) + 1
    assert set(counts) == {"javascript", "python", "rust", "typescript"}
    assert min(counts.values()) >= 20


def test_creation_deletion_and_unknown_languages_are_evolution() -> None:
    assert classify(None, b"x = 1\n", "python").reason == "created"
    assert classify(b"x = 1\n", None, "python").reason == "deleted"
    assert classify(b"a", b"a ", "go").reason == "no rule for `go`"
    assert classify(b"a", b"b", None).reason == "no known language"
    assert classify(b"x = 1\n", b"x = '\xff'\n", "python").reason == "not UTF-8 after"
    deep = b"x = " + b"[" * 400 + b"]" * 400 + b"\n"
    assert classify(b"x = 1\n", deep, "python").reason == "nested too deeply to compare after"
    for before, after in ((None, b""), (b"", None), (b"a", b"b")):
        assert classify(before, after, "go").kind == INTENT_EVOLUTION


@pytest.mark.parametrize(
    ("language", "head", "tail", "levels"),
    [
        ("python", "x = ", "\n", 150),
        ("javascript", "x = ", ";\n", 150),
        ("typescript", "const x = ", ";\n", 150),
        ("rust", "fn f() { x = ", "; }\n", 150),
    ],
)
def test_a_deep_tree_is_compared_without_running_out_of_stack(
    language: str, head: str, tail: str, levels: int
) -> None:
    before = f"{head}{'[' * levels}a{']' * levels}{tail}".encode()
    assert classify(before, before.replace(b"a]", b"a ]"), language).kind == AST_REFACTOR
    assert (
        classify(before, before.replace(b"a]", b"b]"), language).reason
        == "the behaviour-bearing tree differs"
    )


def test_a_move_keeps_the_bytes_and_is_a_refactor_in_any_language() -> None:
    for language in ("go", "python", None):
        assert classify(b"\xff anything", b"\xff anything", language).kind == AST_REFACTOR


TEMPLATES = {
    "python": """\
LIMIT = 3


def total(rows, *, rate=1.5):
    {a} = 0
    for {b}, {c} in rows:
        with open({b}) as {d}:
            {a} += {c} * rate + len({d}.read())
    def {e}({f}):
        return {f} < {a} and [{g} + {f} for {g} in rows if {g} != LIMIT]
    return {e}(2), lambda {h}: {h} - {a}, f"{{{a}!r}} of {{{a} + 1}}"
""",
    "typescript": """\
export const limit = 3;
export function total({a}: number[], { rate: {b} = 1.5 }: Options): number {
  let {c} = 0;
  for (const {d} of {a}) {
    try { {c} += {d} * {b}; } catch ({e}) { report({e}, { rate: {b} }); }
  }
  const {f} = ({g}: number) => {g} < {c} ? limit : -{g};
  return {f}({c} + 1);
}
""",
    "rust": """\
const LIMIT: u32 = 3;
pub fn total<'x>({a}: &'x [u32], {b}: Option<u32>) -> u32 {
    let mut {c} = 0;
    for {d} in {a}.iter() {
        {c} += {d} * 2;
    }
    if let Some({e}) = {b} { {c} -= {e}; }
    let {f} = |{g}: u32| {g} + LIMIT;
    match {c} { 0 => 1, {h} if {h} > LIMIT => {f}({h}), _ => {c} }
}
""",
}
TEMPLATES["javascript"] = (
    TEMPLATES["typescript"].replace(": number[]", "").replace(": Options", "").replace(": number", "")
)
COMMENT = {"python": "#", "typescript": "//", "javascript": "//", "rust": "//"}
WORDS = [
    "alpha",
    "beta",
    "gamma",
    "delta",
    "count",
    "item",
    "value",
    "acc",
    "tmp",
    "it",
    "x1",
    "_y",
    "zz",
    "ünder",
]


def fill(template: str, names: list[str]) -> str:
    for letter, name in zip("abcdefgh", names, strict=False):
        template = template.replace(f"{{{letter}}}", name)
    return template.replace("{{", "{").replace("}}", "}")


@given(st.sampled_from(sorted(TEMPLATES)), st.permutations(WORDS), st.permutations(WORDS), st.data())
@settings(max_examples=120, deadline=None)
def test_local_names_and_noise_never_make_an_evolution(
    language: str, names: list[str], others: list[str], data: st.DataObject
) -> None:
    before = fill(TEMPLATES[language], names)
    lines = fill(TEMPLATES[language], others).splitlines()
    for _ in range(data.draw(st.integers(0, 5))):
        at = data.draw(st.integers(0, len(lines) - 1))
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        noise = data.draw(st.sampled_from(["", "   ", f"{indent}{COMMENT[language]} a remark"]))
        lines.insert(at, noise)
    found = classify(before.encode(), ("\n".join(lines) + "\n").encode(), language)
    assert found.kind == AST_REFACTOR, found.reason


SWAPS = {
    "+": "-",
    "-": "+",
    "*": "+",
    "<": ">",
    ">": "<",
    "+=": "-=",
    "-=": "+=",
    "!=": "==",
    "and": "or",
    "0": "1",
    "1": "2",
    "2": "3",
    "3": "4",
    "1.5": "2.5",
}


def find_swaps(source: bytes, language: str) -> list[tuple[int, int, bytes]]:
    tree = parse(source, language)
    assert tree is not None
    found = []
    for _, node in walk(tree.root_node):
        text = source[node.start_byte : node.end_byte].decode()
        if node.child_count == 0 and text in SWAPS:
            found.append((node.start_byte, node.end_byte, SWAPS[text].encode()))
    return found


@given(st.sampled_from(sorted(TEMPLATES)), st.permutations(WORDS), st.data())
@settings(max_examples=120, deadline=None)
def test_an_operator_or_literal_changed_is_always_an_evolution(
    language: str, names: list[str], data: st.DataObject
) -> None:
    before = fill(TEMPLATES[language], names).encode()
    start, end, swapped = data.draw(st.sampled_from(find_swaps(before, language)))
    after = before[:start] + swapped + before[end:]
    assert classify(before, after, language).kind == INTENT_EVOLUTION


@given(st.sampled_from(sorted(TEMPLATES)), st.permutations(WORDS), st.data())
@settings(max_examples=120, deadline=None)
def test_one_use_of_a_name_exchanged_for_another_is_always_an_evolution(
    language: str, names: list[str], data: st.DataObject
) -> None:
    before = fill(TEMPLATES[language], names).encode()
    tree = parse(before, language)
    assert tree is not None
    uses = [node for _, node in walk(tree.root_node) if node.type == "identifier"]
    local = [node for node in uses if before[node.start_byte : node.end_byte].decode() in names]
    node = data.draw(st.sampled_from(local))
    old = before[node.start_byte : node.end_byte].decode()
    new = data.draw(st.sampled_from([name for name in names if name != old]))
    after = before[: node.start_byte] + new.encode() + before[node.end_byte :]
    # a name that occurs twice, bound and used once each, would be renamed altogether by two exchanges;
    # by one it is only ever half renamed
    assert classify(before, after, language).kind == INTENT_EVOLUTION

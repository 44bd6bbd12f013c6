"""What a pack promises: it fits, it repeats, it loses nothing silently."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pack.exact import TOKENIZERS, exact, parse, read_back

from tether.errors import TetherError
from tether.pack.compose import Settings
from tether.pack.document import File
from tether.pack.engine import pack, write_pack
from tether.pack.formats import FORMATS
from tether.pack.lens import Lens
from tether.pack.lenses import LENSES, find_lens

CODE = """import os


@decorated
def f(a,
      b):
    return a


class C:
    def m(self):
        pass
"""
CONTENTS = (
    st.text(max_size=80)
    | st.binary(max_size=80)
    | st.integers(1, 40).map(lambda n: CODE * n)
    | st.integers(1, 400).map(lambda n: "// line\n" * n)
    | st.sampled_from(["", "\n", "]]>\n", "x", "\x0c\n", "/", " \n \n", "\r\n", "⟦U+0041⟧\x01"])
)
NAMES = st.sampled_from(
    ["a.py", "b.js", "README.md", "src/auth.py", "tests/t.py", "x", "d/Dockerfile", "é \n<&>.rs", "k.json"]
)
FILES = st.dictionaries(NAMES, CONTENTS, max_size=7).map(lambda found: list(found.items()))


@given(
    files=FILES,
    format_=st.sampled_from(list(FORMATS)),
    lens=st.sampled_from(["", *LENSES]),
    budget=st.integers(0, 3000),
    strategy=st.sampled_from(["drop", "truncate", "hybrid"]),
    tokenizer=st.sampled_from(list(TOKENIZERS)),
    frozen=st.booleans(),
)
def test_the_output_never_exceeds_the_budget_by_its_own_tokenizer(
    files: list[tuple[str, str | bytes]],
    format_: str,
    lens: str,
    budget: int,
    strategy: str,
    tokenizer: str,
    frozen: bool,
) -> None:
    counter = TOKENIZERS[tokenizer]()
    settings = Settings(format_, budget=budget, strategy=strategy, tokenizer=counter, frozen=frozen)
    try:
        made = pack(files, lens=lens, settings=settings)
    except TetherError as refusal:
        assert "smaller than an empty pack" in refusal.message
        return
    assert counter.count(made.text) <= budget
    assert counter.count(made.text) == made.report.utilized
    if format_ in ("claude-xml", "xml"):
        parse(made.text)
    if format_ == "json":
        json.loads(made.text)


@given(files=FILES, format_=st.sampled_from(list(FORMATS)), tokenizer=st.sampled_from(list(TOKENIZERS)))
def test_utilized_is_the_number_of_tokens_written_with_no_budget_too(
    files: list[tuple[str, str | bytes]], format_: str, tokenizer: str
) -> None:
    counter = TOKENIZERS[tokenizer]()
    made = pack(files, settings=Settings(format_, tokenizer=counter))
    assert counter.count(made.text) == made.report.utilized


@given(st.dictionaries(st.text(st.characters(codec=None), min_size=1, max_size=12), CONTENTS, max_size=4))
def test_claude_xml_is_valid_and_gives_back_every_text(found: dict[str, str | bytes]) -> None:
    made = pack(list(found.items()))
    texts = {}
    for file in parse(made.text).findall(".//file"):
        texts[file.get("path")] = read_back(file)
    for entry, path in zip(made.entries, texts, strict=True):
        content = found[entry.path]
        if isinstance(content, bytes):
            try:
                content = content.decode()
            except UnicodeDecodeError:
                content = content.decode("latin-1")
        assert texts[path] == content.replace("\r\n", "\n").replace("\r", "\n")


def test_a_budget_smaller_than_an_empty_pack_is_refused_with_the_least_that_would_do() -> None:
    with pytest.raises(TetherError, match="give at least"):
        pack([("a", "b")], budget=10)
    assert pack([("a", "b")], 0, settings=Settings("plus-minus")).text == ""


def test_a_central_file_is_kept_as_a_skeleton_and_a_marginal_one_is_listed() -> None:
    files = [("core.py", CODE * 300), ("x.bin.txt", "word " * 4000)]
    made = pack(files, 4000, "debug", Settings(tokenizer=exact()))
    assert [(e.path, e.form) for e in made.entries] == [("core.py", "signature")]
    assert [s.path for s in made.dropped] == ["x.bin.txt"]
    assert '<coldspot path="x.bin.txt"' in made.text


def test_files_degrade_one_by_one_in_the_order_of_their_priority() -> None:
    lens = Lens("l", groups=LENSES["debug"].groups)
    files = [("a.py", CODE * 30), ("b.js", CODE * 30), ("c.txt", "a\n" * 900)]
    forms = {}
    for budget in (9000, 4600, 3600, 2300, 1000):
        made = pack(
            files, settings=Settings(lens=lens, budget=budget, strategy="truncate", tokenizer=exact())
        )
        forms[budget] = {entry.path: entry.form for entry in made.entries}
    assert forms[9000] == {"a.py": "full", "b.js": "full", "c.txt": "full"}
    assert forms[4600]["a.py"] == "full"
    assert all("a.py" in kept for kept in forms.values())
    assert len(forms[1000]) < 3


def test_drop_keeps_whole_files_or_none() -> None:
    files = [("a.py", CODE * 300), ("b.py", "x = 1\n")]
    made = pack(files, 1000, settings=Settings(strategy="drop", tokenizer=exact()))
    assert [(e.path, e.form) for e in made.entries] == [("b.py", "full")]


def test_room_left_over_goes_back_to_what_was_shortened() -> None:
    made = pack([("a.py", CODE * 20)], 2500, settings=Settings(strategy="hybrid", tokenizer=exact()))
    assert made.entries[0].form == "full"


def test_a_lens_acts_without_a_budget() -> None:
    made = pack([("a.py", CODE), ("notes.txt", "n"), ("tests/test_a.py", CODE)], lens="architecture")
    assert [(e.path, e.form) for e in made.entries] == [("a.py", "structure")]


def test_onboarding_does_not_emit_the_whole_repository() -> None:
    made = pack([("README.md", "# x"), ("src/deep.py", CODE), ("src/main.py", CODE)], lens="onboarding")
    assert [e.path for e in made.entries] == ["README.md", "src/main.py"]


def test_a_frozen_pack_depends_on_paths_and_contents_alone() -> None:
    files = [
        File(n, lambda c=c: c, mtime=i) for i, (n, c) in enumerate([("b", b"2"), ("a", b"1"), ("C", b"3")])
    ]
    frozen = Settings(
        lens=find_lens("debug"), frozen=True, utilities={"a": (1.0, "learned")}, timestamp="now"
    )
    one = pack(files, settings=frozen)
    other = pack([File(f.path, f.load, mtime=9 - f.mtime) for f in reversed(files)], settings=frozen)
    assert one.text == other.text
    assert [e.path for e in one.entries] == ["C", "a", "b"]
    root = parse(one.text)
    assert root.findtext(".//timestamp") == "1970-01-01T00:00:00Z"
    assert root.findtext(".//snapshot_id") == one.report.snapshot
    changed = pack([("a", "1"), ("b", "2"), ("C", "4")], settings=frozen)
    assert changed.report.snapshot != one.report.snapshot


def test_debug_shows_the_newest_first_unless_frozen() -> None:
    files = [File(n, lambda: b"x\n", mtime=t) for n, t in (("a", 1.0), ("b", 3.0), ("c", 2.0))]
    assert [e.path for e in pack(files, lens="debug").entries] == ["b", "c", "a"]


def test_learned_utility_changes_the_priority_and_says_so() -> None:
    utilities = {"a.py": (0.9, "learned"), "b.py": (0.1, "learned")}
    made = pack([("a.py", "x\n"), ("b.py", "y\n")], lens="debug", settings=Settings(utilities=utilities))
    found = {e.path: e.priority for e in made.entries}
    assert (found["a.py"].value, found["b.py"].value) == (97, 73)
    assert found["a.py"].explain() == (
        "priority 97: `*.py` gives 100, learned 0.900: round(0.7 × 100 + 30 × 0.900) = 97"
    )


def test_the_same_path_twice_is_refused() -> None:
    with pytest.raises(TetherError, match="given twice"):
        pack([("a", "1"), ("a", "2")])


@pytest.mark.parametrize("format_", ["plus-minus", "xml", "markdown"])
def test_streaming_holds_no_more_than_one_file(format_: str) -> None:
    size = 400_000
    files = [File(f"{i:03}.txt", lambda: b"some words\n" * (size // 11)) for i in range(60)]
    written = []
    tracemalloc.start()
    write_pack(files, Settings(format_), lambda data: written.append(len(data)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(written) > 60 * size * 0.9
    assert peak < 12 * size


def test_a_spooled_pack_holds_no_more_than_one_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    size = 400_000
    files = [File(f"{i:03}.txt", lambda: b"some words\n" * (size // 11)) for i in range(60)]
    tracemalloc.start()
    with (tmp_path / "spool").open("w+b") as spool, (tmp_path / "out").open("wb") as out:
        write_pack(files, Settings(), out.write, spool)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "out").stat().st_size > 60 * size * 0.9
    assert peak < 14 * size
    parse((tmp_path / "out").read_text())


def test_files_are_sorted_by_code_point_and_either_way_round() -> None:
    names = ["b", "a/z", "B", "a", "é", "a.b"]
    files = [(name, "x\n") for name in names]
    assert [e.path for e in pack(files).entries] == ["B", "a", "a.b", "a/z", "b", "é"]
    backwards = pack(files, settings=Settings(sort_order="desc"))
    assert [e.path for e in backwards.entries] == ["é", "b", "a/z", "a.b", "a", "B"]


@pytest.mark.parametrize("key", ["mtime", "ctime"])
def test_files_of_one_age_keep_the_order_of_their_paths(key: str) -> None:
    files = [
        File(n, lambda: b"x\n", mtime=t, ctime=t) for n, t in (("d", 1.0), ("c", 2.0), ("b", 2.0), ("a", 3.0))
    ]
    assert [e.path for e in pack(files, settings=Settings(sort_by=key)).entries] == ["d", "b", "c", "a"]


def test_arguments_come_before_the_lens_and_exceptions_before_both() -> None:
    files = [("a.py", CODE), ("b.py", CODE), ("k.json", "{}\n" * 50)]
    modes = {
        (): {"a.py": "structure", "b.py": "structure", "k.json": "full"},
        (("truncate", 5), ("mode", "simple")): {"a.py": "simple", "b.py": "simple", "k.json": "simple"},
        (("truncate", 0),): {"a.py": "full", "b.py": "full", "k.json": "full"},
        (("truncate_exclude", ("b.*",)),): {"a.py": "structure", "b.py": "full", "k.json": "full"},
        (("whole", frozenset({"a.py"})),): {"a.py": "full", "b.py": "structure", "k.json": "full"},
    }
    for given_, expected in modes.items():
        made = pack(files, lens="architecture", settings=Settings(**dict(given_)))  # type: ignore[arg-type]
        assert {e.path: e.form for e in made.entries} == expected


def test_excluding_beats_including_and_including_replaces_the_lens_s_list() -> None:
    files = [("a.py", "x\n"), ("a.go", "x\n"), ("tests/t.go", "x\n")]
    settings = Settings(include=("*.go", "*.py"), exclude=("a.py",))
    assert [e.path for e in pack(files, settings=settings).entries] == ["a.go", "tests/t.go"]
    assert [e.path for e in pack(files, lens="architecture", settings=settings).entries] == ["a.go"]

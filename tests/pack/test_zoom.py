"""Zooms show what they name, within their budget, and say where it leads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pack.exact import TOKENIZERS, exact, parse

from tether.errors import TetherError
from tether.pack.document import make_file
from tether.pack.target import Target, parse_target, read_arguments
from tether.pack.zoom import Detail, matches_module, zoom

MAIN = '''import os
from lib.tools import assist


@cached
def work(
    a: int,
    b: int = 2,
) -> int:
    """Do it."""
    helper(a)
    return assist(b)


def helper(x):
    return x


class Engine:
    """Runs."""

    def start(self):
        return work(1)

    def stop(self):
        return None
'''
FILES = [
    make_file("src/main.py", MAIN),
    make_file(
        "src/lib/tools.py", "def assist(n):\n    return n + 1\n\n\ndef start():\n    return assist(3)\n"
    ),
    make_file(
        "tests/test_main.py",
        "from main import work\n\n\ndef test_work():\n    assert work(1)\n\n\ndef helper():\n    pass\n",
    ),
    make_file("web/app.ts", "export function start(): void {\n  go();\n}\nfunction go() { return 1; }\n"),
    make_file("README.md", "# One\n" + "text\n" * 100),
]


def look(text: str, **detail: object) -> object:
    return zoom(FILES, parse_target(text), Detail(**{"tokenizer": exact(), **detail}))  # type: ignore[arg-type]


# ── targets ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fn=f", Target("function", "f")),
        ("function=A.f", Target("function", "A.f")),
        ("struct=S", Target("class", "S")),
        ("mod=m", Target("module", "m")),
        ("file=a/b.py", Target("file", "a/b.py")),
        ("file=a.py:10-40", Target("file", "a.py", 10, 40)),
        ("file=a.py:L10-L40", Target("file", "a.py", 10, 40)),
        ("file=a.py:7", Target("file", "a.py", 7, 7)),
        ("file=a:b", Target("file", "a:b")),
        ("file=a⟦U+000A⟧b", Target("file", "a\nb")),
    ],
)
def test_targets_and_their_aliases(text: str, expected: Target) -> None:
    assert parse_target(text) == expected


@pytest.mark.parametrize("text", ["", "f", "function=", "thing=x", "file=a.py:40-10", "file=a.py:0-3"])
def test_a_target_that_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(TetherError):
        parse_target(text)


def test_lines_may_be_given_apart() -> None:
    assert parse_target("file=a.py", "100-200") == Target("file", "a.py", 100, 200)
    with pytest.raises(TetherError, match="belong to a file"):
        parse_target("function=f", "1-2")


def test_zoom_context_takes_the_seed_s_arguments_and_the_older_ones() -> None:
    assert read_arguments({"type": "function", "target": "f", "budget": 500, "depth": "signature"}) == (
        Target("function", "f"),
        "signature",
        500,
    )
    older = {"target_type": "file", "target_name": "a.py", "line_range": "1-9"}
    assert read_arguments(older) == (Target("file", "a.py", 1, 9), "implementation", None)
    for bad in (
        {},
        {"type": "function"},
        {"type": "x", "target": "y"},
        {"type": "file", "target": "a", "depth": "deep"},
    ):
        with pytest.raises(TetherError):
            read_arguments(bad)
    with pytest.raises(TetherError, match="budget"):
        read_arguments({"type": "file", "target": "a", "budget": True})


# ── depths ───────────────────────────────────────────────────────────────────


def body(text: str) -> list[tuple[str, str]]:
    root = parse(text)
    return [(f.get("path") + ":" + f.get("lines"), f.text.strip("\n ")) for f in root.findall(".//file")]


def test_the_signature_is_whole_though_it_takes_many_lines() -> None:
    found = look("function=work", depth="signature")
    assert body(found.text) == [
        ("src/main.py:5-9", "@cached\ndef work(\n    a: int,\n    b: int = 2,\n) -> int:"),
    ]


def test_the_implementation_is_the_definition_and_leads_to_callers_and_callees() -> None:
    found = look("function=work")
    assert body(found.text)[0][1].endswith("return assist(b)")
    assert [(z.relation, z.target) for z in found.related] == [
        ("callee", "helper"),
        ("callee", "assist"),
        ("caller", "Engine.start"),
    ]
    assert found.related[1].command == "tether zoom function=assist --module=src/lib/tools.py --budget=300"
    with_tests = look("function=work", tests=True)
    assert ("caller", "test_work") in [(z.relation, z.target) for z in with_tests.related]


def test_full_adds_what_the_definition_stands_on_and_calls() -> None:
    found = look("function=Engine.start", depth="full")
    assert [where for where, _ in body(found.text)] == [
        "src/main.py:1-1",
        "src/main.py:2-2",
        "src/main.py:19-19",
        "src/main.py:22-23",
        "src/main.py:5-9",
    ]


def test_lines_of_a_file_with_context() -> None:
    assert body(look("file=src/main.py:15-16").text) == [
        ("src/main.py:15-16", "def helper(x):\n    return x"),
    ]
    assert body(look("file=src/main.py:15-16", context=1).text)[0][0] == "src/main.py:14-17"


def test_a_file_s_signature_is_its_structure() -> None:
    text = look("file=src/main.py", depth="signature").text
    assert "def stop(self):" in text and "return None" not in text


def test_a_class_and_a_module() -> None:
    assert body(look("class=Engine").text)[0][0] == "src/main.py:19-26"
    found = look("module=lib", budget=2000)
    assert found.paths == ("src/lib/tools.py",)
    assert found.utilized <= 2000
    assert look("module=main").paths == ("src/main.py",)
    assert look("module=test_main").paths == ("tests/test_main.py",)


@pytest.mark.parametrize(
    ("path", "module", "expected"),
    [
        ("src/a/b.py", "a.b", True),
        ("src/a/b.py", "b", True),
        ("src/a/__init__.py", "a", True),
        ("src/a/b.py", "src/a/b.py", True),
        ("src/a/b.py", "src/a", True),
        ("src/ab.py", "a", False),
        ("x/mod.rs", "x", True),
        ("src/a/b.rs", "a::b", True),
    ],
)
def test_which_paths_a_module_name_means(path: str, module: str, expected: bool) -> None:
    assert matches_module(path, module) is expected


# ── names ────────────────────────────────────────────────────────────────────


def test_an_ambiguous_name_lists_candidates_whose_commands_are_not_ambiguous() -> None:
    with pytest.raises(TetherError, match="could be any of 3") as caught:
        look("function=start")
    candidates = caught.value.data["candidates"]
    assert [(c["path"], c["target"]) for c in candidates] == [
        ("src/main.py", "function=Engine.start"),
        ("web/app.ts", "function=start"),
        ("src/lib/tools.py", "function=start"),
    ]
    assert look("function=start", module="tools").paths == ("src/lib/tools.py",)


def test_tests_count_only_when_asked_or_when_nothing_else_has_the_name() -> None:
    assert look("function=helper").paths == ("src/main.py",)
    assert look("function=test_work").paths == ("tests/test_main.py",)


def test_an_unknown_name_is_answered_with_what_is_near() -> None:
    with pytest.raises(TetherError, match="did you mean `helper`"):
        look("function=helpr")
    with pytest.raises(TetherError, match=r"`class=Engine` is in `src/main\.py`"):
        look("function=Engine")
    with pytest.raises(TetherError, match=r"did you mean `src/main\.py`"):
        look("file=src/mian.py")


# ── budget and privacy ───────────────────────────────────────────────────────


@given(
    target=st.sampled_from(
        ["function=work", "class=Engine", "file=README.md", "module=main", "file=src/main.py:3-9"]
    ),
    depth=st.sampled_from(["signature", "implementation", "full"]),
    budget=st.integers(1, 900),
    context=st.integers(0, 5),
    tokenizer=st.sampled_from(list(TOKENIZERS)),
)
def test_a_zoom_never_exceeds_its_budget(
    target: str, depth: str, budget: int, context: int, tokenizer: str
) -> None:
    counter = TOKENIZERS[tokenizer]()
    try:
        found = look(target, depth=depth, budget=budget, context=context, tokenizer=counter)
    except TetherError as refusal:
        assert refusal.code == "BAD_ARGUMENTS" and "give at least" in refusal.message
        return
    parse(found.text)
    assert counter.count(found.text) == found.utilized <= budget


def test_what_did_not_fit_can_be_zoomed_into_next() -> None:
    found = look("file=README.md", budget=280)
    root = parse(found.text)
    rest = root.find(".//truncation_marker/zoom")
    last = int(root.find(".//file").get("lines").split("-")[1])
    assert rest.get("target") == f"README.md:{last + 1}-101"
    assert rest.get("command") == f"tether zoom file=README.md:{last + 1}-101 --budget=280"


def test_secrets_stay_out_of_zooms() -> None:
    def redact(text: str) -> list[tuple[int, int, str]]:
        at = text.index("hunter2")
        return [(at, at + 7, "[gone]")]

    files = [make_file("a.py", "x = 1\npassword = 'hunter2'\n")]
    found = zoom(files, parse_target("file=a.py"), Detail(redact=redact))
    assert "hunter2" not in found.text and found.pieces[0].redacted == 1
    assert zoom(files, parse_target("file=a.py:1"), Detail(redact=redact)).pieces[0].redacted == 0

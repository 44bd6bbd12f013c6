"""Byte for byte: what each way of shortening keeps, and what it says it left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.pack.truncate import cut, cut_simple, cut_smart, cut_structure

RULE = "=" * 70
ADVICE = f'To get full content: --include "p" --truncate 0\n/* ZOOM_AFFORDANCE: c */\n{RULE}\n'


def number(count: int) -> str:
    return "\n".join(f"l{i}" for i in range(1, count + 1))


def test_simple_keeps_the_first_lines() -> None:
    found = cut_simple(number(10), "p", 4, "c")
    assert found and found.text == number(4)
    assert found.note == f"\n\n{RULE}\nTRUNCATED at line 4/10 (60% reduced)\n{ADVICE}"


def test_a_file_within_its_limit_is_left_alone() -> None:
    assert cut_simple(number(10), "p", 10, "c") is None
    assert cut_smart(number(10), "p", "text", 10, "c") is None
    assert cut_simple(number(10), "p", 0, "c") is None


@pytest.mark.parametrize(
    ("language", "head", "tail"),
    [("text", 40, 10), ("rust", 40, 10), ("python", 50, 15), ("typescript", 45, 15), ("json", 60, 10)],
)
def test_smart_keeps_head_and_tail_in_the_language_s_shares(language: str, head: int, tail: int) -> None:
    found = cut_smart(number(1000), "p", language, 100, "c")
    assert found
    lines = found.text.split("\n")
    gap = lines.index(f"... [{1000 - head - tail} lines omitted] ...")
    assert lines[gap - 1] == f"l{head}" and lines[gap + 1] == f"l{1001 - tail}" and lines[-1] == "l1000"


def test_smart_keeps_python_s_entry_point() -> None:
    text = number(500) + '\nif __name__ == "__main__":\n' + number(400)
    found = cut_smart(text, "p", "python", 100, "c")
    assert found and '__main__":' in found.text
    assert "\n... [445 lines omitted] ...\nl496\n" in found.text


def test_smart_keeps_markdown_s_sections_then_its_head() -> None:
    text = "\n".join(f"# h{i}\n" + "text\n" * 30 for i in range(4))
    found = cut_smart(text, "p", "markdown", 40, "c")
    assert found and all(f"# h{i}" in found.text for i in range(4))


def test_the_smart_note_lists_what_the_file_holds() -> None:
    names = "".join(f"def f{i}(): pass\n" for i in range(12))
    text = (
        f"import os\nfrom a.b import c\n{names}class K:\n    pass\n# TO"
        + "DO x\nif __name__ == '__main__':\n    pass\n"
    )
    found = cut_smart(text, "app.py", "python", 10, "c")
    assert found and found.note == (
        f"\n\n{RULE}\nTRUNCATED at line 10/20 (50% reduction)\nLanguage: python\nCategory: application\n"
        "Classes (1): K\n"
        "Functions (12): f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, ... (+2 more)\n"
        "Key imports: os, a.b\nEntry points: if __name__ == '__main__'\nMarkers: TO" + "DO\n"
        '\nTo get full content: --include "app.py" --truncate 0\n'
        f"/* ZOOM_AFFORDANCE: c */\n{RULE}\n"
    )


@pytest.mark.parametrize(
    ("language", "text", "kept"),
    [
        (
            "python",
            '"""Doc."""\nimport a\nfrom b import c\nX = 1\n@d\nclass K(B):\n    def m(self):\n'
            "        return 1\nasync def n(): ...\n",
            '"""Doc."""\nimport a\nfrom b import c\n@d\nclass K(B):\n    def m(self):\nasync def n(): ...',
        ),
        (
            "typescript",
            "import a\nexport const b = 1\nlet z\nclass C {\n}\nfunction f() {\n}\nasync function g() {\n}\n"
            "const h = () => 1\nconst i = 2\ninterface I {\n}\ntype T = 1\nenum E {\n}\n",
            "import a\nexport const b = 1\nclass C {\nfunction f() {\nasync function g() {\n"
            "const h = () => 1\ninterface I {\ntype T = 1\nenum E {",
        ),
        (
            "bash",
            "#!/bin/sh\nset -e\nsource x\n. y\nrun() {\n  echo\n}\n#!no\n",
            "#!/bin/sh\nsource x\n. y\nrun() {",
        ),
        (
            "rust",
            "use a;\npub mod b;\nlet x;\npub(crate) struct S {\n}\nfn f() {\n}\npub async fn g() {\n}\n"
            "trait T {\n}\nimpl T {\n}\n",
            "use a;\npub mod b;\npub(crate) struct S {\nfn f() {\npub async fn g() {\ntrait T {\nimpl T {",
        ),
    ],
)
def test_structure_by_patterns_keeps_the_lines_that_begin_like_a_signature(
    language: str, text: str, kept: str
) -> None:
    found = cut_structure(text, "p", language, "c")
    assert found and found.text == kept
    total = text.count("\n") + 1
    assert found.note == (
        f"\n\n{RULE}\nSTRUCTURE MODE: Showing only signatures ({kept.count(chr(10)) + 1}/{total} lines)\n"
        f"Language: {language}\n\nIncluded: imports, class/function signatures, type definitions\n"
        f"Excluded: function bodies, implementation details\n\n{ADVICE}"
    )


def test_a_docstring_counts_only_in_the_first_ten_lines() -> None:
    text = "import a\n" + "x = 1\n" * 9 + '"""late"""\n'
    found = cut_structure(text, "p", "python", "c")
    assert found and found.text == "import a"


def test_what_has_no_structure_is_kept_in_full_where_no_limit_says_otherwise() -> None:
    assert cut("x = 1\n" * 50, "p", "python", "structure", 0, "c") is None
    assert cut("x\n" * 50, "p", "text", "structure", 0, "c") is None
    found = cut("x\n" * 50, "p", "text", "structure", 10, "c")
    assert found and found.mode == "smart"


@given(
    text=st.text(max_size=200)
    | st.lists(st.sampled_from(["def f():", "  x", "# h", "", "class K:"])).map("\n".join),
    language=st.sampled_from(["python", "typescript", "rust", "bash", "markdown", "json", "text"]),
    mode=st.sampled_from(["simple", "smart", "structure", "signature", "full"]),
    limit=st.integers(0, 12),
)
def test_no_file_is_ever_emptied(text: str, language: str, mode: str, limit: int) -> None:
    found = cut(text, "p", language, mode, limit, "c")
    if found is not None and text.strip():
        assert found.text
        assert found.lines == text.count("\n") + 1

"""Context for an agent's turn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tether.index.code import CodeIndex
from tether.index.hydrate import build_context, count_tokens

Write = Callable[..., Path]


def test_a_fragment_comes_with_its_imports_and_two_lines_around(index: CodeIndex) -> None:
    context = build_context(index, "add_line product to the cart", k=1)
    (piece,) = context.pieces
    assert piece.file_path == "src/shop/cart.py"
    assert "import json" in context.text and "from shop.prices import find_price" in context.text
    assert "def add_line" in context.text
    assert "self.lines = []" in context.text, "the lines before"
    assert "def total(self):" in context.text, "the lines after"


@pytest.mark.parametrize("budget", [0, 1, 20, 60, 150, 400, 8000])
def test_the_budget_is_never_exceeded(index: CodeIndex, budget: int) -> None:
    context = build_context(index, "cart total session price taxes", k=5, budget=budget)
    assert count_tokens(context.text) <= budget
    assert context.tokens == count_tokens(context.text)
    if budget <= 1:
        assert context.pieces == () and context.left_out > 0


def test_the_budget_holds_for_whoever_counts(index: CodeIndex) -> None:
    context = build_context(index, "cart total session price", budget=300, count=len)
    assert 0 < len(context.text) <= 300


def test_a_stale_fragment_is_given_fresh_and_indexed_again(index: CodeIndex, write: Write) -> None:
    index.watched = True  # so that the search itself does not look for changes
    write("src/shop/prices.py", "def find_price(product):\n    return 'newest price'\n")
    context = build_context(index, "find_price", k=1)
    assert context.stale == 1 and "newest price" in context.text
    hit = index.search("newest price").hits[0]
    assert (hit.file_path, hit.stale) == ("src/shop/prices.py", False)


def test_many_stale_fragments_bring_up_their_folders(project: Path, write: Write) -> None:
    for n in range(8):
        write(f"pkg/part{n}.py", f"def compute_orbit_{n}(body):\n    return body.orbit + {n}\n")
    with CodeIndex(str(project)) as index:
        index.index()
        index.watched = True
        for n in range(8):
            write(f"pkg/part{n}.py", f"def compute_orbit_{n}(body):\n    return 'fresh' + {n}\n", age=60)
        context = build_context(index, "compute orbit of a body", k=5)
        assert context.stale > 3
        assert any("folders were indexed again" in note for note in context.notes)
        assert all(not hit.stale for hit in index.search("compute orbit of a body", 8).hits)


def test_secrets_do_not_reach_the_context(project: Path, write: Write) -> None:
    write("src/keys.py", 'def connect():\n    password = "hunter2-Correct-Horse-42"\n    return password\n')
    with CodeIndex(str(project)) as index:
        context = build_context(index, "connect with a password", k=1)
    assert "def connect" in context.text and "Correct-Horse" not in context.text


def test_the_estimate_is_not_below_an_exact_count_on_real_code() -> None:
    from rs_bpe.bpe import openai

    exact = openai.o200k_base()
    for path in sorted(Path(__file__).parents[2].glob("src/tether/*/*.py"))[::4]:
        text = path.read_text()
        assert count_tokens(text) >= exact.count(text), path.name


@given(st.text(max_size=200), st.text(max_size=200))
def test_more_text_is_never_fewer_tokens(first: str, second: str) -> None:
    assert count_tokens(first + "\n" + second) >= max(count_tokens(first), count_tokens(second))

"""Where a name is defined, and what leads to and from it."""

from __future__ import annotations

import pytest

from tether.errors import TetherError
from tether.index.code import CodeIndex
from tether.index.symbols import lookup_symbol_definition, trace_symbol_graph
from tether.index.text import search_codebase_text


def test_a_definition_is_found_by_its_name_in_any_form(index: CodeIndex) -> None:
    for name in ("total", "Cart.total", "Cart::total", "Cart.total()", "shop.cart.Cart.total"):
        (found,) = lookup_symbol_definition(index, name)
        assert (found.file_path, found.kind, found.qualified) == ("src/shop/cart.py", "method", "Cart.total")
        assert found.doc == "The sum of all lines, taxes included."


def test_a_definition_can_be_asked_for_by_kind_and_path(index: CodeIndex) -> None:
    assert lookup_symbol_definition(index, "Cart", kind="class")
    assert lookup_symbol_definition(index, "Cart", kind="function") == []
    assert lookup_symbol_definition(index, "Cart", path="src/web") == []
    assert lookup_symbol_definition(index, "nothing_like_it") == []


def test_the_exact_spelling_comes_first(index: CodeIndex) -> None:
    assert lookup_symbol_definition(index, "session")[0].name == "Session"


def test_callers_are_traced_with_their_lines(index: CodeIndex) -> None:
    graph = trace_symbol_graph(index, "find_price")
    edges = {(edge.source, edge.kind, edge.file_path, edge.line) for edge in graph.edges}
    assert ("Cart.total", "call", "src/shop/cart.py", 20) in edges
    assert graph.complete


def test_callers_of_callers_are_traced(index: CodeIndex) -> None:
    graph = trace_symbol_graph(index, "find_price", depth=2)
    assert any(edge.file_path == "tests/test_cart.py" and edge.target == "total" for edge in graph.edges)


def test_what_a_definition_uses_is_traced(index: CodeIndex) -> None:
    graph = trace_symbol_graph(index, "Cart.total", direction="out")
    assert ("Cart.total", "find_price") in {(edge.source, edge.target) for edge in graph.edges}


def test_limits_are_said(index: CodeIndex) -> None:
    assert not trace_symbol_graph(index, "find_price", direction="both", depth=3, limit=1).complete


def test_an_unknown_name_is_refused(index: CodeIndex) -> None:
    with pytest.raises(TetherError) as error:
        trace_symbol_graph(index, "nothing_like_it")
    assert error.value.code == "NOT_FOUND"


def test_exact_text_is_found_with_its_place(index: CodeIndex) -> None:
    found = search_codebase_text(index, "product.net * (1 + TAX_RATE)")
    (match,) = found.matches
    assert (match.file_path, match.line, match.column) == ("src/shop/prices.py", 8, 12)
    assert found.files_read < 6, "files that cannot hold it are not read"


def test_parts_of_words_are_found_too(index: CodeIndex) -> None:
    assert {m.file_path for m in search_codebase_text(index, "ind_pri").matches} == {
        "src/shop/cart.py",
        "src/shop/prices.py",
    }
    assert search_codebase_text(index, "ind_pri", word=True).matches == ()


def test_case_path_and_limit_are_honoured(index: CodeIndex) -> None:
    assert search_codebase_text(index, "CART TOTAL").matches == ()
    assert search_codebase_text(index, "CART TOTAL", ignore_case=True, path="docs/**").matches
    found = search_codebase_text(index, "cart", ignore_case=True, limit=2)
    assert len(found.matches) == 2 and not found.complete

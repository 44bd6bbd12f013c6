"""Grammars load without their packages' `__init__`, and mix with ordinary imports."""

import subprocess
import sys

import pytest

from tether.source.grammar import load_grammar, make_parser

QUIET = """
import sys
sys.path[:] = {path!r}
from tether.source.grammar import make_parser
assert not make_parser("bash").parse(b"ls | wc -l").root_node.has_error
assert not {{"tree_sitter", "tree_sitter_bash", "importlib.resources", "typing"}} & set(sys.modules)
"""


@pytest.mark.parametrize("name", ["bash", "javascript", "python", "rust", "tsx", "typescript"])
def test_every_declared_grammar_loads_and_parses(name: str) -> None:
    assert make_parser(name).parse(b"x").root_node.child_count == 1
    assert load_grammar(name) is load_grammar(name)


def test_loading_a_grammar_imports_no_package_code() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-c", QUIET.format(path=sys.path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_directly_loaded_binding_is_the_one_an_ordinary_import_finds() -> None:
    parser = make_parser("python")
    import tree_sitter
    import tree_sitter_python

    assert type(parser) is tree_sitter.Parser
    parser.language = tree_sitter.Language(tree_sitter_python.language())
    assert not parser.parse(b"x = 1").root_node.has_error


def test_a_missing_grammar_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="tree_sitter_klingon"):
        load_grammar("klingon")

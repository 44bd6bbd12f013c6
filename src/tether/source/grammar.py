"""Tree-sitter grammars, loaded without their packages' `__init__`: a hook cannot pay for those. HOOK PATH."""

from __future__ import annotations

import sys
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from tree_sitter import Language, Parser

# grammar → (package, function), where they are not `tree_sitter_<grammar>` and `language`
NAMES: dict[str, tuple[str, str]] = {
    "csharp": ("tree_sitter_c_sharp", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}


def load_engine() -> ModuleType:
    """The tree-sitter extension module itself: `Language`, `Parser`, `Query` and the rest."""
    return _load_binding("tree_sitter")


@cache
def load_grammar(name: str) -> Language:
    """The grammar of a language: `bash`, `python`, `typescript`, … ImportError when it is not installed."""
    package, function = NAMES.get(name, (f"tree_sitter_{name}", "language"))
    language: Language = load_engine().Language(getattr(_load_binding(package), function)())
    return language


def make_parser(name: str) -> Parser:
    """A new parser of a language. Parsers keep state: one for each thread."""
    parser: Parser = load_engine().Parser(load_grammar(name))
    return parser


def _load_binding(package: str) -> ModuleType:
    """A package's compiled `_binding`, registered as an ordinary import of the package would have done."""
    name = f"{package}._binding"
    module = sys.modules.get(name)
    if module is not None:
        return module
    from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec, PathFinder

    spec = PathFinder.find_spec(package)
    for folder in (spec and spec.submodule_search_locations) or ():
        for suffix in EXTENSION_SUFFIXES:
            path = f"{folder}/_binding{suffix}"
            try:
                with open(path, "rb"):
                    pass
            except OSError:
                continue
            loader = ExtensionFileLoader(name, path)
            module = loader.create_module(ModuleSpec(name, loader, origin=path))
            loader.exec_module(module)
            # INVARIANT: one copy a process. A second copy would have its own types, and objects of the
            # one are refused by the other.
            sys.modules[name] = module
            return module
    raise ImportError(f"no compiled binding of `{package}`: install it with pip", name=package)

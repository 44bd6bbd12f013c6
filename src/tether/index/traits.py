"""What a path tells of a file: tests, examples, generated and vendored code, documents, configuration."""

from __future__ import annotations

import re
from typing import Final

TEST: Final = 1
EXAMPLE: Final = 2
VENDORED: Final = 4
DOCUMENT: Final = 8
DATA: Final = 16
FACADE: Final = 32  # `__init__.py`, `index.ts`, `mod.rs` with next to nothing of their own

_TEST: Final = re.compile(
    r"(?:^|/)(?:tests?|testing|testdata|__tests__|specs?|fixtures?|test_[^/]*|e2e)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_tests?\.[a-z]+|[^/]*[.-](?:test|spec)\.[a-z]+|conftest\.py|[^/]*_spec\.rb|tests?\.[a-z]+)$"
)
_TEST_CAMEL: Final = re.compile(r"(?:Tests?|Spec|TestCase|IT)\.[a-z]+$|(?:^|/)[A-Za-z]*Tests?/")
_EXAMPLE: Final = re.compile(
    r"(?:^|/)(?:examples?|samples?|demos?|docs?|documentation|benchmarks?|bench|benches|tutorials?|galleries|asv_bench)/"
)
_VENDORED: Final = re.compile(
    r"(?:^|/)(?:vendor|vendored|_vendor|third_party|thirdparty|3rdparty|extern|external|generated|gen|dist|locale|compat"
    r"|migrations)/|\.min\.|\.d\.ts$|(?:^|/)(?:jquery|bootstrap|underscore|lodash)[-.\w]*\.js$"
)
_DOCUMENT: Final = frozenset("md markdown rst txt adoc asciidoc org tex rdoc pod 1 ipynb".split())
_DATA: Final = frozenset(
    (
        "json jsonc json5 yml yaml toml cfg ini conf properties xml svg csv tsv po pot html htm css "
        "scss less lock env plist pbxproj snap in"
    ).split()
)
FACADES: Final = frozenset({"__init__", "index", "mod", "init", "main", "lib", "package-info", "prelude"})


def traits_of(path: str, symbols: int, language: str) -> int:
    """The traits of a file, as bits."""
    low = path.lower()
    traits = 0
    if _TEST.search(low) or _TEST_CAMEL.search(path):
        traits |= TEST
    if _EXAMPLE.search(low):
        traits |= EXAMPLE
    if _VENDORED.search(low):
        traits |= VENDORED
    name = low.rsplit("/", 1)[-1]
    suffix = name.rsplit(".", 1)[-1] if "." in name else ""
    if suffix in _DOCUMENT or language == "markdown":
        traits |= DOCUMENT
    elif suffix in _DATA or (not language and not symbols):
        traits |= DATA
    if name.rsplit(".", 1)[0] in FACADES and symbols < 4:
        traits |= FACADE
    return traits


def stem_of(path: str) -> str:
    """The word a file goes by: its name without extension, its folder's for the likes of `mod.rs`."""
    folder, _, name = path.rpartition("/")
    stem = name.rsplit(".", 1)[0] if "." in name[1:] else name
    if stem.lower() in FACADES and folder:
        return folder.rsplit("/", 1)[-1]
    return stem

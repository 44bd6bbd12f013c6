"""What files depend on: the imports they name, as far as they lead to other files of the project."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

from tether.pack.document import File
from tether.pack.text import decode, is_binary, name_language

_PYTHON = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]+(?:\(([^()]{0,4000})\)|([^\n#;(]+))|import[ \t]+([^\n#;]+))",
    re.MULTILINE,
)
_SCRIPT = re.compile(
    r"""(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|\brequire\(\s*)["']([^"'\n]{1,300})["']""", re.MULTILINE
)
_RUST = re.compile(
    r"^\s*(?:pub\s+)?mod\s+(\w+)\s*;|^\s*(?:pub\s+)?use\s+(?:crate|super|self)::([\w:]+)", re.MULTILINE
)
_INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"\n]{1,300})"', re.MULTILINE)
_DOTTED = re.compile(r"^\s*import\s+(?:static\s+)?([\w.]+)", re.MULTILINE)
_RUBY = re.compile(r"""^\s*require(?:_relative)?\s+["']([^"'\n]{1,300})["']""", re.MULTILINE)
_SHELL = re.compile(r"""^\s*(?:source|\.)\s+["']?([^\s"'$]{1,300})""", re.MULTILINE)
_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".d.ts", ".vue", "/index.ts", "/index.tsx", "/index.js")
_JVM = (".java", ".kt", ".scala", ".groovy")
_ENDINGS = {
    "python": (".py", "/__init__.py", ".pyi"),
    **dict.fromkeys(("javascript", "typescript", "tsx", "vue", "svelte"), _SCRIPTS),
    "rust": (".rs", "/mod.rs"),
    **dict.fromkeys(("java", "kotlin", "scala", "groovy"), _JVM),
    "ruby": (".rb",),
}


def find_dependencies(changed: Iterable[str], files: Mapping[str, File]) -> set[str]:
    """The project files that the changed ones import, without the changed ones themselves."""
    changed = set(changed)
    suffixes: dict[str, list[str]] = {}
    for path in files:
        parts = path.split("/")
        for start in range(len(parts)):
            suffixes.setdefault("/".join(parts[start:]), []).append(path)
    needed: set[str] = set()
    for path in sorted(changed):
        data = files[path].load()
        if data is None or is_binary(data):
            continue
        endings = _ENDINGS.get(name_language(path), ())
        for candidate in name_imports(path, decode(data)):
            found = _resolve(candidate, endings, files, suffixes)
            if found:
                needed.add(found)
    return needed - changed


def name_imports(path: str, text: str) -> Iterable[str]:
    """Path stems that the imports of a text may lead to, nearest meaning first."""
    language = name_language(path)
    folder = posixpath.dirname(path)
    if language == "python":
        yield from _name_python(folder, text)
    elif language in ("javascript", "typescript", "tsx", "vue", "svelte"):
        for match in _SCRIPT.finditer(text):
            target = match.group(1)
            stem = posixpath.normpath(posixpath.join(folder, target)) if target.startswith(".") else target
            yield stem
            yield re.sub(r"\.m?jsx?$", "", stem)
    elif language == "rust":
        for match in _RUST.finditer(text):
            name = (match.group(1) or match.group(2)).replace("::", "/")
            yield posixpath.join(folder, name)
            while name:
                yield name
                name = name.rpartition("/")[0]
    elif language in ("c", "cpp", "objc"):
        for match in _INCLUDE.finditer(text):
            yield posixpath.normpath(posixpath.join(folder, match.group(1)))
            yield match.group(1)
    elif language in ("java", "kotlin", "scala", "groovy"):
        for match in _DOTTED.finditer(text):
            yield match.group(1).replace(".", "/")
    elif language == "ruby":
        for match in _RUBY.finditer(text):
            yield posixpath.normpath(posixpath.join(folder, match.group(1)))
            yield match.group(1)
    elif language == "bash":
        for match in _SHELL.finditer(text):
            yield posixpath.normpath(posixpath.join(folder, match.group(1)))


def _name_python(folder: str, text: str) -> Iterable[str]:
    for match in _PYTHON.finditer(text):
        source, many, some, plain = match.groups()
        if plain:
            yield from (name.split()[0].replace(".", "/") for name in plain.split(",") if name.strip())
            continue
        names = re.sub(r"#[^\n]*|\\", "", many or some)
        dots = len(source) - len(source.lstrip("."))
        base = source.lstrip(".").replace(".", "/")
        if dots:
            up = folder
            for _ in range(dots - 1):
                up = posixpath.dirname(up)
            base = posixpath.join(up, base) if base else up
        for name in names.replace("\n", ",").split(","):
            words = name.split()
            if words and words[0] != "*":
                yield f"{base}/{words[0]}".lstrip("/")
        yield base


def _resolve(
    stem: str, endings: tuple[str, ...], files: Mapping[str, File], suffixes: Mapping[str, list[str]]
) -> str:
    """The one file a stem means; a stem that could mean several means none."""
    if not stem or stem.startswith(".."):
        return ""
    for ending in ("", *endings):
        if stem + ending in files:
            return stem + ending
    for ending in endings or ("",):
        found = suffixes.get(stem + ending, [])
        if len(found) == 1:
            return found[0]
    return ""

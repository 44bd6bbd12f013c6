"""Bytes to text: what counts as text, one newline, one digest, one name for the language."""

from __future__ import annotations

import hashlib

LARGEST = 5 * 1024 * 1024  # a bigger file is skipped
SNIFFED = 8192  # a NUL within this many bytes means binary

LANGUAGES = {
    "bash": ("sh", "bash", "zsh", "fish"),
    "c": ("c", "h"),
    "clojure": ("clj", "cljs"),
    "cpp": ("cc", "cpp", "cxx", "hh", "hpp", "hxx"),
    "csharp": ("cs",),
    "css": ("css", "scss", "less"),
    "dart": ("dart",),
    "elixir": ("ex", "exs"),
    "go": ("go",),
    "graphql": ("graphql", "gql"),
    "groovy": ("groovy", "gradle"),
    "haskell": ("hs",),
    "hcl": ("tf", "hcl"),
    "html": ("html", "htm", "xhtml"),
    "java": ("java",),
    "javascript": ("js", "jsx", "mjs", "cjs"),
    "json": ("json", "jsonc", "json5"),
    "julia": ("jl",),
    "kotlin": ("kt", "kts"),
    "lua": ("lua",),
    "makefile": ("mk",),
    "markdown": ("md", "markdown", "mdx"),
    "objc": ("m", "mm"),
    "ocaml": ("ml", "mli"),
    "perl": ("pl", "pm"),
    "php": ("php",),
    "powershell": ("ps1", "psm1"),
    "protobuf": ("proto",),
    "python": ("py", "pyw", "pyi"),
    "r": ("r",),
    "ruby": ("rb", "rake"),
    "rust": ("rs",),
    "scala": ("scala", "sc"),
    "sql": ("sql",),
    "svelte": ("svelte",),
    "swift": ("swift",),
    "toml": ("toml",),
    "tsx": ("tsx",),
    "typescript": ("ts", "mts", "cts"),
    "vue": ("vue",),
    "xml": ("xml", "xsd", "xsl", "svg"),
    "yaml": ("yaml", "yml"),
    "zig": ("zig",),
}
_BY_EXTENSION = {extension: name for name, extensions in LANGUAGES.items() for extension in extensions}
_BY_NAME = {
    "dockerfile": "dockerfile",
    "makefile": "makefile",
    "gnumakefile": "makefile",
    "cmakelists.txt": "cmake",
    "gemfile": "ruby",
    "rakefile": "ruby",
    "jenkinsfile": "groovy",
}


def name_language(path: str) -> str:
    """The language a path's name suggests; `text` when it suggests none."""
    name = path.rsplit("/", 1)[-1].lower()
    known = _BY_NAME.get(name)
    if known:
        return known
    dot = name.rfind(".")
    return _BY_EXTENSION.get(name[dot + 1 :], "text") if dot >= 0 else "text"


def is_binary(data: bytes) -> bool:
    """A NUL near the start: no text file has one."""
    return data.find(b"\0", 0, SNIFFED) >= 0


def unify_newlines(text: str) -> str:
    """The text with LF as its only line end."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decode(data: bytes) -> str:
    """UTF-8, else Latin-1, with LF as the only line end: never fails."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return unify_newlines(text)


def hash_md5(text: str) -> str:
    """The lower-case hex MD5 that every format prints: a fingerprint for people, not a safeguard."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def count_lines(text: str) -> int:
    """Pieces between newlines: a trailing newline counts one more."""
    return text.count("\n") + 1

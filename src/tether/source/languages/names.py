"""Which file is written in which language: by name, extension, and first line."""

from __future__ import annotations

# language → extensions. A language is named as its grammar is.
EXTENSIONS: dict[str, str] = {
    "bash": "sh bash zsh ksh bats ebuild",
    "c": "c h",
    "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp tpp inl cu cuh ino",
    "csharp": "cs csx",
    "css": "css",
    "elixir": "ex exs",
    "go": "go",
    "haskell": "hs",
    "html": "html htm xhtml",
    "java": "java",
    "javascript": "js mjs cjs jsx es6",
    "json": "json jsonc json5 geojson webmanifest ipynb",
    "kotlin": "kt kts",
    "lua": "lua rockspec",
    "markdown": "md markdown mkd mdx",
    "php": "php php3 php4 php5 phtml",
    "python": "py pyi pyw",
    "ruby": "rb rake gemspec ru podspec",
    "rust": "rs",
    "scala": "scala sc sbt",
    "sql": "sql ddl",
    "swift": "swift",
    "toml": "toml",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "yaml": "yaml yml",
    "zig": "zig zon",
}

FILE_NAMES: dict[str, str] = {
    "bash": ".bashrc .bash_profile .bash_aliases .profile .zshrc .zshenv .zprofile .envrc PKGBUILD",
    "json": ".babelrc .eslintrc .prettierrc .swcrc composer.lock Pipfile.lock flake.lock",
    "python": "SConstruct SConscript wscript",
    "ruby": "Gemfile Rakefile Guardfile Podfile Vagrantfile Brewfile Fastfile",
    "toml": "Cargo.lock poetry.lock uv.lock Pipfile",
    "yaml": ".clang-format .clang-tidy",
    "markdown": "README CHANGELOG CONTRIBUTING",
}

INTERPRETERS: dict[str, str] = {
    "bash": "sh bash dash zsh ksh bats",
    "elixir": "elixir",
    "haskell": "runhaskell runghc",
    "javascript": "node nodejs bun",
    "kotlin": "kotlin",
    "lua": "lua luajit",
    "php": "php",
    "python": "python pypy uv",
    "ruby": "ruby jruby rake",
    "scala": "scala amm",
    "swift": "swift",
    "typescript": "deno ts-node tsx",
}


def _invert(table: dict[str, str]) -> dict[str, str]:
    return {word: language for language, words in table.items() for word in words.split()}


BY_EXTENSION = _invert(EXTENSIONS)
BY_FILE_NAME = _invert(FILE_NAMES)
BY_INTERPRETER = _invert(INTERPRETERS)

"""Path patterns: `*.x` by path or name, `d/**` by prefix, `**/x` by name, `**/d/**` at any level."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import lru_cache


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> Callable[[str], object]:
    if pattern.startswith("**/") and pattern.endswith("/**") and len(pattern) > 6:
        middle = translate(pattern[3:-3])[:-2]  # without the anchor `\Z` (or `\z`)
        return re.compile(f"(?s:(?:.*/)?){middle}/").match
    if pattern.endswith("/**"):
        return re.compile(translate(pattern[:-2] + "*")).match
    if "**/" in pattern:
        prefix, _, name = pattern.rpartition("**/")
        by_name = re.compile(translate(name)).match
        by_prefix = re.compile(translate(prefix + "*")).match
        return lambda path: by_prefix(path) and by_name(path.rsplit("/", 1)[-1])
    whole = re.compile(translate(pattern)).match
    return lambda path: whole(path) or whole(path.rsplit("/", 1)[-1])


def matches(pattern: str, path: str) -> bool:
    """Whether a `/`-separated path matches, in the same way on every system (case counts)."""
    return _compile(pattern)(path) is not None


def matches_any(patterns: Iterable[str], path: str) -> bool:
    """Whether one of the patterns matches."""
    return any(_compile(pattern)(path) is not None for pattern in patterns)


def is_ignored(patterns: Iterable[str], path: str) -> bool:
    """Whether a component, the whole path, or a parent directory matches an ignore pattern."""
    parts = path.split("/")
    for pattern in patterns:
        bare = pattern.rstrip("/")
        whole = _whole(bare)
        if whole(path) or any(whole(part) for part in parts):
            return True
        if _compile(pattern)(path) is not None or _whole(pattern.rstrip("*"))(path + "/"):
            return True
    return False


@lru_cache(maxsize=4096)
def _whole(pattern: str) -> Callable[[str], object]:
    return re.compile(translate(pattern)).match

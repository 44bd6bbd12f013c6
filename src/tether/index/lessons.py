"""What a code base says of itself: doc sentences and names, each with the code it is said of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tether.index.store import Store

MOST: Final = 20_000
MOST_CHARS: Final = 2_000
LEAST_CHARS: Final = 80
_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_WORDS: Final = re.compile(r"[A-Za-z]{2,}")


def collect_lessons(store: Store) -> list[tuple[str, str]]:
    """Pairs of a question and its answer: a doc's first sentence, or a name, and the code without it."""
    lessons: list[tuple[str, str]] = []
    rows = store.db.execute("SELECT id, path FROM file ORDER BY path").fetchall()
    for file, path in rows:
        text = store.text(file)
        for fragment in store.fragments(file):
            body = text[fragment.start_char : fragment.end_char]
            if fragment.level != 1 or len(body) < LEAST_CHARS:
                continue
            where = f"{path}\n{fragment.parent_symbol}\n"
            if len(_WORDS.findall(fragment.doc)) >= 3:
                bare = _without(body, fragment.doc)
                lessons.append((fragment.doc, (where + bare)[:MOST_CHARS]))
            parts = _PART.findall(fragment.name)
            if len(parts) >= 2:
                nameless = (where + body).replace(fragment.name, " ")
                lessons.append((" ".join(parts), nameless[:MOST_CHARS]))
            if len(lessons) >= MOST:
                return lessons
    return lessons


def _without(body: str, doc: str) -> str:
    """The body without the sentence, however its lines are broken and marked."""
    words = doc.split()[:40]
    pattern = r"[\s/*#;!-]{1,40}".join(re.escape(word) for word in words)
    return re.sub(pattern, " ", body, count=1)

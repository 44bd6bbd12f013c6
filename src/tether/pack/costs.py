"""What pieces of a pack cost, each counted once: by what they say, not by where they stand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, MutableMapping
from typing import Any

from tether.pack.measure import Tokenizer, add_record, starts_at_seam

_DIGITS = str.maketrans("123456789", "000000000")


class Costs:
    """Units of texts, remembered by their hash."""

    def __init__(
        self, tokenizer: Tokenizer, memory: MutableMapping[bytes, tuple[Any, ...]], salt: bytes
    ) -> None:
        self.tokenizer = tokenizer
        self._memory = memory
        self._salt = salt

    def _known(self, about: str, count: Callable[[], int]) -> int:
        key = hashlib.sha256(about.encode()).digest()[:16] + self._salt
        known = self._memory.get(key)
        if known is None:
            known = self._memory[key] = (count(),)
        found: int = known[0]
        return found

    def of_text(self, text: str) -> int:
        """A text on its own."""
        if self.tokenizer.per_token > 1:
            return self.tokenizer.units(text)
        return self._known(text, lambda: self.tokenizer.units(text))

    def of_markup(self, text: str) -> int:
        """Lines that each start and end at a seam: they cost the same whatever their numbers are.

        INVARIANT: both vocabularies hold every number of up to three digits, and split longer ones into such.
        """
        if self.tokenizer.per_token > 1:
            return self.tokenizer.units(text)
        lines = [f"{line}\n" for line in text.split("\n")[:-1]]
        if not text.endswith("\n") or not all(map(starts_at_seam, lines)):
            return self.tokenizer.units(text)
        return sum(self.of_text(line.translate(_DIGITS)) for line in lines)

    def of_record(
        self,
        head: str,
        tail: str,
        identity: str,
        body: Callable[[], str],
        units: int | None,
        seam: bool = False,
    ) -> int:
        """A body in its frame. `identity` stands for the body, which is made only if it must be counted;
        `units` is what the body costs alone, if that is known, and `seam` that it starts a new token."""
        tokenizer = self.tokenizer
        if units is not None and tokenizer.per_token > 1:
            return tokenizer.units(head) + units + tokenizer.units(tail)

        def count() -> int:
            if units is not None and seam:
                return tokenizer.units(head) + units + self.of_markup(tail)
            return add_record(tokenizer, head, body(), tail, units)

        return self._known(f"{head}\0{tail}\0{identity}", count)

"""Regular expressions compiled when first used: most processes need few of them. HOOK PATH."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
        """A pattern that costs nothing until it is asked."""

else:

    class lazy:  # noqa: N801  it stands for a pattern
        """A pattern that costs nothing until it is asked."""

        def __init__(self, pattern: str, flags: int = 0) -> None:
            self._given = (pattern, flags)

        def __getattr__(self, name: str) -> Any:
            compiled = re.compile(*self._given)
            # from now on the methods used are found without coming here
            for method in ("match", "fullmatch", "search", "sub", "findall", "finditer", "split", "pattern"):
                setattr(self, method, getattr(compiled, method))
            return getattr(compiled, name)

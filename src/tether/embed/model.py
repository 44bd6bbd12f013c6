"""What every embedding model promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from tether.errors import TetherError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Vectors = NDArray[numpy.float32]


class Embedder(Protocol):
    """Turns texts into rows of unit length. `name` and `dimension` are part of every table's identity."""

    name: str
    dimension: int
    local: bool  # nothing leaves the machine

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """One row for each text; TetherError EMBEDDING_FAILED when it cannot be done now."""
        ...


def normalise(rows: Vectors) -> Vectors:
    """Rows scaled to unit length; rows without any stay without; anything not finite is refused."""
    import numpy

    if not numpy.isfinite(rows).all():
        raise TetherError("EMBEDDING_FAILED", "the model answered with numbers that are not finite")
    lengths = numpy.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = (rows / numpy.maximum(lengths, 1e-12)).astype(numpy.float32)
    return scaled


def has_numpy() -> bool:
    """Whether vectors can be handled here at all."""
    from importlib.util import find_spec

    return find_spec("numpy") is not None

"""The order in which models are tried: the local one, then the cloud if a person allowed it, then later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tether.errors import TetherError

if TYPE_CHECKING:
    from tether.embed.model import Embedder, Vectors

BULK: Final = 1_000  # files; more than that go to the cloud first, where one is allowed


class Chain:
    """Models in order of preference. INVARIANT: a cloud model is in it only when `cloud_enabled`."""

    def __init__(
        self, local: Embedder | None, cloud: Embedder | None = None, *, cloud_enabled: bool = False
    ) -> None:
        self.local = local
        self.cloud = cloud if cloud_enabled else None

    def models(self, files: int = 0) -> list[Embedder]:
        """The models to try, in order, when so many files are indexed at once."""
        order = [self.local, self.cloud]
        if files > BULK and self.cloud is not None:
            order.reverse()
        return [model for model in order if model is not None]

    def embed(self, texts: Sequence[str], files: int = 0) -> tuple[Embedder, Vectors, tuple[str, ...]]:
        """The vectors, the model that made them, and why those before it did not; EMBEDDING_FAILED if none."""
        reasons: list[str] = []
        for model in self.models(files):
            try:
                return model, model.embed(texts), tuple(reasons)
            except TetherError as error:
                reasons.append(f"{model.name}: {error.message}")
            except MemoryError:
                reasons.append(f"{model.name}: out of memory")
        raise TetherError(
            "EMBEDDING_FAILED", "; ".join(reasons) or "no embedding model is set up", reasons=reasons
        )

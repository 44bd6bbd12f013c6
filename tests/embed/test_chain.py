"""The order in which models are tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import pytest

from tether.embed.chain import BULK, Chain
from tether.embed.hashed import HashedModel
from tether.errors import TetherError


class Failing(HashedModel):
    """A model whose machine ran out of memory."""

    name = "failing"

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        raise MemoryError


class Cloud(HashedModel):
    name = "cloud"
    local = False


def test_the_local_model_comes_first() -> None:
    model, rows, reasons = Chain(HashedModel(), Cloud(), cloud_enabled=True).embed(["text"])
    assert (model.name, rows.shape, reasons) == ("tether-hashed-1", (1, 256), ())


def test_the_cloud_takes_over_with_the_reason_said() -> None:
    model, _, reasons = Chain(Failing(), Cloud(), cloud_enabled=True).embed(["text"])
    assert model.name == "cloud" and reasons == ("failing: out of memory",)


def test_without_leave_nothing_goes_to_the_cloud() -> None:
    with pytest.raises(TetherError) as error:
        Chain(Failing(), Cloud()).embed(["text"])
    assert error.value.code == "EMBEDDING_FAILED" and "out of memory" in error.value.message


def test_a_bulk_of_files_prefers_the_cloud_where_it_is_allowed() -> None:
    assert Chain(HashedModel(), Cloud(), cloud_enabled=True).models(BULK + 1)[0].name == "cloud"
    assert Chain(HashedModel(), Cloud()).models(BULK + 1)[0].name == "tether-hashed-1"


def test_texts_that_share_words_lie_nearer_than_others() -> None:
    rows = HashedModel().embed(["parse the JSON config", "configParser reads JSON", "draw a red circle", ""])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert numpy.allclose(numpy.linalg.norm(rows[:3], axis=1), 1) and not rows[3].any()

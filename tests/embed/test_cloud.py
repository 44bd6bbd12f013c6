"""An embeddings service."""

from __future__ import annotations

import numpy
import pytest
from tests.embed.conftest import Service

from tether.embed.cloud import BATCH, CloudModel
from tether.errors import TetherError


def model(service: Service, timeout: float = 5.0) -> CloudModel:
    return CloudModel(
        "secret-key", url=service.url, model="test-model", dimension=8, timeout=timeout, sleep=lambda _: None
    )


def test_vectors_come_back_in_order_and_of_unit_length(service: Service) -> None:
    rows = model(service).embed(["alpha beta", "gamma", "alpha beta"])
    assert rows.shape == (3, 8)
    assert numpy.allclose(numpy.linalg.norm(rows, axis=1), 1)
    assert numpy.allclose(rows[0], rows[2]) and not numpy.allclose(rows[0], rows[1])
    assert service.asked[0]["model"] == "test-model"
    assert service.keys == ["Bearer secret-key"]


def test_many_texts_go_in_batches(service: Service) -> None:
    assert model(service).embed(["text"] * (BATCH + 3)).shape[0] == BATCH + 3
    assert [len(body["input"]) for body in service.asked] == [BATCH, 3]


def test_an_outage_and_a_limit_are_tried_three_times_in_all(service: Service) -> None:
    service.moods = ["broken", "limited", "well"]
    assert model(service).embed(["text"]).shape == (1, 8)
    service.asked.clear()
    service.moods = ["broken"]
    with pytest.raises(TetherError) as error:
        model(service).embed(["text"])
    assert error.value.code == "EMBEDDING_FAILED" and len(service.asked) == 3


def test_a_refusal_is_not_tried_again(service: Service) -> None:
    service.moods = ["refused"]
    with pytest.raises(TetherError, match="401"):
        model(service).embed(["text"])
    assert len(service.asked) == 1


@pytest.mark.parametrize("mood", ["short", "nonsense", "elsewhere"])
def test_answers_that_are_no_vectors_are_refused(service: Service, mood: str) -> None:
    service.moods = [mood]
    with pytest.raises(TetherError) as error:
        model(service).embed(["text"])
    assert error.value.code == "EMBEDDING_FAILED"


def test_a_service_that_hangs_is_given_up(service: Service) -> None:
    service.moods = ["never"]
    with pytest.raises(TetherError):
        model(service, timeout=0.05).embed(["text"])


@pytest.mark.parametrize("url", ["http://example.com/v1", "file:///etc", "https://user:pass@example.com"])
def test_addresses_that_would_leak_are_refused(url: str) -> None:
    with pytest.raises(TetherError):
        CloudModel("key", url=url)


def test_nothing_in_an_error_tells_the_key(service: Service) -> None:
    service.moods = ["refused"]
    with pytest.raises(TetherError) as error:
        model(service).embed(["text"])
    assert "secret-key" not in str(error.value)

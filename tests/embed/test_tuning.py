"""A model made to fit one code base, and nothing else changed by it."""

from __future__ import annotations

import numpy as np
import pytest

from tether.embed.static import StaticModel, write_model
from tether.embed.tuning import Bags, tune

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture
def model(tmp_path):
    words = [
        *LETTERS,
        *(f"ask{a}{b}" for a in LETTERS for b in "xyz"),
        *(f"tell{a}{b}" for a in LETTERS for b in "xyz"),
    ]
    table = np.random.default_rng(3).normal(size=(len(words), 32)).astype(np.float32)
    path = str(tmp_path / "model.bin")
    write_model(path, "toy", words, table)
    return StaticModel.open(path)


def pairs():
    return [(f"ask{a}{b}", f"tell{a}{b} tell{a}x") for a in LETTERS[:20] for b in "xyz"]


def find(model, texts):
    asked = model.embed([question for question, _ in texts])
    told = model.embed([code for _, code in texts])
    return float(((asked @ told.T).argmax(axis=1) == np.arange(len(texts))).mean())


def test_questions_learn_to_find_their_code(model, tmp_path):
    table = tune(model, pairs(), epochs=80, rate=0.01)
    path = str(tmp_path / "tuned.bin")
    write_model(path, "tuned", model.words(), table)
    assert find(model, pairs()) < 0.3
    assert find(StaticModel.open(path), pairs()) > 0.9


def test_words_that_were_not_seen_stay_where_they_were(model):
    table = tune(model, pairs(), epochs=2)
    unseen = [model.words().index(word) for word in ("askzx", "tellzz", "z")]
    assert (table[unseen] == model.table()[unseen]).all()
    assert (table != model.table()).any()


def test_tuning_is_the_same_every_time(model):
    assert (tune(model, pairs(), epochs=3) == tune(model, pairs(), epochs=3)).all()


def test_texts_without_words_teach_nothing(model):
    table = tune(model, [("", "tellax"), ("askax", "!!"), ("", "")], epochs=3)
    assert (table == model.table()).all()


def test_bags_hand_out_the_texts_asked_for(model):
    bags = Bags(["askax askax askay", "", "tellbz"], model.vocabulary)
    pieces, values, starts = bags.take(np.array([2, 0]))
    words = model.words()
    assert [words[piece] for piece in pieces] == ["tellbz", "askax", "askay"]
    assert np.allclose(values, [1, 2**0.5 / (2**0.5 + 1), 1 / (2**0.5 + 1)])
    assert list(starts) == [0, 1]

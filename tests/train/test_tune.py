"""Distilling and tuning: small tables whose right answer is known."""

from __future__ import annotations

import numpy as np
from train.distil import reduce, weigh
from train.mine import Pair
from train.tune import Settings, count_matrix, describe, find_hard, number_packages, score, tune

from tether.embed.static import Vocabulary


def make_pairs():
    names = [chr(97 + n // 26) + chr(97 + n % 26) for n in range(64)]
    return [
        Pair("doc", "python", f"p{n % 4}", "x.py", "", "", f"q{names[n]}", f"c{names[n]} common words")
        for n in range(64)
    ]


def make_parts():
    pairs = make_pairs()
    words = sorted({word for pair in pairs for text in (pair.query, describe(pair)) for word in text.split()})
    vocabulary = Vocabulary([*words, *"xpy"])
    table = np.random.default_rng(1).normal(size=(vocabulary.pieces, 16)).astype(np.float32)
    questions = count_matrix([pair.query for pair in pairs], vocabulary)
    codes = count_matrix([describe(pair) for pair in pairs], vocabulary)
    return table, questions, codes, number_packages(pairs)


def test_tuning_brings_questions_to_their_code():
    table, questions, codes, packages = make_parts()
    settings = Settings(epochs=120, batch=32, rate=0.02, hard=0)
    tuned = tune(table, questions, codes, packages, settings, log=False)
    before, after = (score(t, questions, codes, packages) for t in (table, tuned))
    assert before < 0.5 and after > 0.95


def test_tuning_twice_gives_the_same_table():
    table, questions, codes, packages = make_parts()
    settings = Settings(epochs=3, batch=16)
    first, second = (tune(table, questions, codes, packages, settings, log=False) for _ in range(2))
    assert (first == second).all()


def test_a_hard_negative_is_another_code_of_the_same_package():
    table, questions, codes, packages = make_parts()
    hard = find_hard(table, questions, codes, packages)
    assert (packages[hard] == packages).all()
    assert (hard != np.arange(len(hard))).mean() > 0.9


def test_counts_weigh_by_their_root_and_sum_to_one():
    row = count_matrix(["a a a a b"], Vocabulary(["a", "b"])).toarray()[0]
    assert np.allclose(row, [2 / 3, 1 / 3])


def test_reducing_keeps_what_varies():
    random = np.random.default_rng(0)
    rows = np.zeros((200, 6), np.float32)
    rows[:, 2], rows[:, 4] = random.normal(size=200) * 9, random.normal(size=200)
    small = reduce(rows, 2)
    assert np.allclose(np.abs(small[:, 0]), np.abs(rows[:, 2] - rows[:, 2].mean()), atol=0.2)
    assert (reduce(rows, 2) == small).all()


def test_common_words_are_shorter():
    rows = weigh(np.ones((2, 4), np.float32), ["the", "mutex"], {"the": 900, "mutex": 1, "x": 99})
    lengths = np.linalg.norm(rows, axis=1)
    assert lengths[0] < 0.1 < 0.4 < lengths[1]

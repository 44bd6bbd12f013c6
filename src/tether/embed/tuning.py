"""The built-in model made to fit one code base: its own words are moved until its own code answers to them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tether.embed.static import Floats, StaticModel, Vocabulary

TEMPERATURE: Final = 0.05
BATCH: Final = 256
LEAST_PAIRS: Final = 50  # fewer teach nothing that holds
SEED: Final = 7

Numbers = NDArray[np.int64]


class Bags:
    """Texts as the pieces they hold and how much each weighs, side by side in three arrays."""

    def __init__(self, texts: Sequence[str], vocabulary: Vocabulary) -> None:
        pieces: list[int] = []
        times: list[int] = []
        borders = [0]
        for text in texts:
            counts = vocabulary.count(text)
            pieces += counts.keys()
            times += counts.values()
            borders.append(len(pieces))
        self.borders: Numbers = np.array(borders)
        self.pieces: Numbers = np.array(pieces, np.int64)
        values = np.sqrt(np.array(times, np.float32))
        for low, high in pairwise(borders):
            if low < high:
                values[low:high] /= values[low:high].sum()
        self.values: Floats = values

    def take(self, rows: Numbers) -> tuple[Numbers, Floats, Numbers]:
        """The pieces and weights of some texts, and where each text begins among them."""
        sizes = self.borders[rows + 1] - self.borders[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        places = np.arange(sizes.sum()) - np.repeat(starts - self.borders[rows], sizes)
        return self.pieces[places], self.values[places], starts


def tune(
    model: StaticModel,
    pairs: Sequence[tuple[str, str]],
    *,
    epochs: int = 4,
    rate: float = 0.0007,
    seed: int = SEED,
) -> Floats:
    """The model's table after learning that each first text asks for the second; InfoNCE, the same every time."""
    questions = Bags([question for question, _ in pairs], model.vocabulary)
    codes = Bags([code for _, code in pairs], model.vocabulary)
    whole = np.flatnonzero((np.diff(questions.borders) > 0) & (np.diff(codes.borders) > 0))
    table = model.table()
    scale = float(np.abs(table).mean())
    first, second = np.zeros_like(table), np.zeros(len(table), np.float32)
    random = np.random.default_rng(seed)
    total = max(1, epochs * max(1, len(whole) // BATCH))
    done = 0
    for _ in range(epochs):
        order = random.permutation(whole)
        for rows in _batches(order):
            touched, gradient = _gradient(table, questions.take(rows), codes.take(rows))
            first[touched] = 0.9 * first[touched] + 0.1 * gradient
            second[touched] = 0.99 * second[touched] + 0.01 * (gradient**2).mean(axis=1)
            done += 1
            mean = first[touched] / (1 - 0.9**done)
            spread = np.sqrt(second[touched] / (1 - 0.99**done))[:, None]
            fading = max(0.05, 1 - done / total)
            table[touched] -= rate * fading * scale / 0.02 * mean / (spread + 1e-8)
    return table


def _batches(order: Numbers) -> list[Numbers]:
    """Whole batches; what is left over waits for the next epoch, unless it is all there is."""
    if len(order) < 2:
        return []
    size = min(BATCH, len(order))
    return [order[at : at + size] for at in range(0, len(order) - size + 1, size)]


def _gradient(
    table: Floats, asked: tuple[Numbers, Floats, Numbers], told: tuple[Numbers, Floats, Numbers]
) -> tuple[Numbers, Floats]:
    """Which rows the loss of one batch depends on, and how."""
    q, q_length = _pool(table, asked)
    c, c_length = _pool(table, told)
    scores = q @ c.T / TEMPERATURE
    many = len(scores)
    along = np.exp(scores - scores.max(axis=1, keepdims=True))
    across = np.exp(scores - scores.max(axis=0, keepdims=True))
    pull = along / along.sum(axis=1, keepdims=True) + across / across.sum(axis=0, keepdims=True)
    pull[np.arange(many), np.arange(many)] -= 2
    pull /= 2 * many * TEMPERATURE
    for_q, for_c = pull @ c, pull.T @ q
    for_q = (for_q - q * (for_q * q).sum(axis=1, keepdims=True)) / q_length
    for_c = (for_c - c * (for_c * c).sum(axis=1, keepdims=True)) / c_length
    pieces = np.concatenate([asked[0], told[0]])
    shares = np.concatenate([_spread(for_q, asked), _spread(for_c, told)])
    order = np.argsort(pieces, kind="stable")
    touched, starts = np.unique(pieces[order], return_index=True)
    return touched, np.add.reduceat(shares[order], starts, axis=0)


def _pool(table: Floats, bag: tuple[Numbers, Floats, Numbers]) -> tuple[Floats, Floats]:
    pieces, values, starts = bag
    rows = np.add.reduceat(table[pieces] * values[:, None], starts, axis=0)
    lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    return rows / lengths, lengths


def _spread(rows: Floats, bag: tuple[Numbers, Floats, Numbers]) -> Floats:
    pieces, values, starts = bag
    sizes = np.diff(np.append(starts, len(pieces)))
    shares: Floats = np.repeat(rows, sizes, axis=0) * values[:, None]
    return shares

"""Words through the teacher, its dimensions reduced, each word weighted by how little it is used."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from train.teacher import Teacher

SMOOTH = 1e-3  # a in a / (a + p): half weight at one word in a thousand


def distil_words(
    words: list[str], totals: dict[str, int], teacher: Teacher, dimension: int
) -> NDArray[np.float32]:
    """One vector for each word: the teacher's, in its main directions, shorter for common words."""
    return weigh(reduce(teacher.embed(words), dimension), words, totals)


def reduce(rows: NDArray[np.float32], dimension: int) -> NDArray[np.float32]:
    """The rows, centred, in their main directions; the sign of each is fixed, so that runs agree."""
    rows = rows - rows.mean(axis=0)
    _, directions = np.linalg.eigh((rows.T @ rows).astype(np.float64))
    main = directions[:, ::-1][:, :dimension]
    main = main * np.sign(main[np.abs(main).argmax(axis=0), np.arange(main.shape[1])])
    return np.asarray(rows @ main, np.float32)


def weigh(rows: NDArray[np.float32], words: list[str], totals: dict[str, int]) -> NDArray[np.float32]:
    """Rows of unit length, scaled by a / (a + p)."""
    every = sum(totals.values())
    share = np.array([totals.get(word, 0) / every for word in words], np.float32)
    lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    return np.asarray(rows / lengths * (SMOOTH / (SMOOTH + share))[:, None], np.float32)

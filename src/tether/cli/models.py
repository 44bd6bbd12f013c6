"""Say which embedding models are in use, or try one out.

A model is a folder with `model.onnx` and `tokenizer.json`; nothing is downloaded and nothing is sent.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

from tether.index.home import open_home
from tether.types import plain

if TYPE_CHECKING:
    import argparse

EXAMPLES = """\
  tether models                       # the models with vectors here
  tether models add ~/models/bge-m3   # check a folder, and how to use it"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do."""
    parser.add_argument(
        "action", nargs="?", choices=("list", "add"), default="list", help="list (default) or add"
    )
    parser.add_argument("folder", nargs="?", help="the model's folder, for add")


def run(args: argparse.Namespace) -> int:
    """Lists or tries."""
    if args.action == "add":
        return _add(args.folder or "", args.json)
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

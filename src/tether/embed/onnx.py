"""Any embedding model kept as a folder: an ONNX graph and its tokenizer. Runs here, sends nothing anywhere."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from tether.embed.model import normalise
from tether.errors import TetherError

if TYPE_CHECKING:
    from tether.embed.model import Vectors

BATCH: Final = 16
MOST_TOKENS: Final = 512
GRAPHS: Final = (
    *("model_quantized.onnx", "model_int8.onnx", "model.onnx"),
    *("onnx/model_quantized.onnx", "onnx/model_int8.onnx", "onnx/model.onnx"),
)


class OnnxModel:
    """A folder with `tokenizer.json` and a graph that yields sentence vectors or token states."""

    local = True

    def __init__(self, folder: str, *, threads: int = 1) -> None:
        graph = find_graph(folder)
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise TetherError(
                "EMBEDDING_FAILED", "onnxruntime is not installed", action="pip install 'tether[onnx]'"
            ) from error
        self.folder = folder
        self.name = f"{os.path.basename(os.path.realpath(folder)).lower()}-onnx"
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        settings.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(graph, settings, providers=["CPUExecutionProvider"])
            self._tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        except Exception as error:  # both libraries raise bare exceptions of their own
            raise TetherError("EMBEDDING_FAILED", f"`{folder}` cannot be loaded: {error}") from error
        about = _read_json(os.path.join(folder, "config.json"))
        longest = min(MOST_TOKENS, int(about.get("max_position_embeddings", MOST_TOKENS)))
        pad = int(about.get("pad_token_id") or 0)
        self._tokenizer.enable_truncation(longest)
        self._tokenizer.enable_padding(pad_id=pad)
        self._inputs = {item.name for item in self._session.get_inputs()}
        self._output, self._pooled = _choose_output(self._session.get_outputs())
        self._pooling = _choose_pooling(folder)
        self.dimension = int(self.embed(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        import numpy

        rows = []
        for at in range(0, len(texts), BATCH):
            encoded = self._tokenizer.encode_batch(list(texts[at : at + BATCH]))
            ids = numpy.array([item.ids for item in encoded], dtype=numpy.int64)
            mask = numpy.array([item.attention_mask for item in encoded], dtype=numpy.int64)
            given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": numpy.zeros_like(ids)}
            try:
                (states,) = self._session.run(
                    [self._output], {name: value for name, value in given.items() if name in self._inputs}
                )
            except Exception as error:  # onnxruntime raises bare exceptions: out of memory among them
                raise TetherError("EMBEDDING_FAILED", f"`{self.name}` failed: {error}") from error
            if not self._pooled:
                if self._pooling == "cls":
                    states = states[:, 0]
                else:
                    shares = mask[:, :, None].astype(numpy.float32)
                    states = (states * shares).sum(axis=1) / numpy.maximum(shares.sum(axis=1), 1)
            rows.append(states)
        joined = numpy.concatenate(rows) if rows else numpy.zeros((0, self.dimension), dtype=numpy.float32)
        return normalise(joined)


def find_graph(folder: str) -> str:
    """The graph in a model's folder; smaller forms first."""
    for name in GRAPHS:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.path.isfile(os.path.join(folder, "tokenizer.json")):
            return path
    raise TetherError(
        "BAD_ARGUMENTS",
        f"`{folder}` holds no model",
        action="Give a folder with tokenizer.json and model.onnx",
    )


def _choose_output(outputs: Sequence[Any]) -> tuple[str, bool]:
    """The output to use, and whether it is already one vector a text."""
    for output in outputs:
        if len(output.shape) == 2:
            return output.name, True
    return outputs[0].name, False


def _choose_pooling(folder: str) -> str:
    """`cls` or `mean`: as the folder says, else as its family does."""
    about = _read_json(os.path.join(folder, "1_Pooling", "config.json"))
    if about.get("pooling_mode_cls_token"):
        return "cls"
    if about.get("pooling_mode_mean_tokens"):
        return "mean"
    return "cls" if "bge" in os.path.basename(folder).lower() else "mean"


def _read_json(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            value = json.load(file)
    except (OSError, ValueError):
        return {}  # optional beside the graph: its absence only means the usual layout
    return value if isinstance(value, dict) else {}

"""Models kept as folders: graphs of the known layouts, made here with random weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers

from tether.embed.onnx import OnnxModel
from tether.errors import TetherError

WORDS = ["[PAD]", "[UNK]", "load", "save", "file", "user", "draw", "circle"]


def make_tokenizer(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))


def make_graph(path: Path, width: int, *, pooled: bool, types: bool) -> numpy.ndarray:  # type: ignore[type-arg]
    """Token states straight from a table; pooled, the state of the first token as `sentence_embedding`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = numpy.random.default_rng(1).normal(size=(len(WORDS), width)).astype(numpy.float32)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    shape: list[str | int] = ["batch", "length", width]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape)]
    constants = [numpy_helper.from_array(table, "table")]
    if pooled:
        constants.append(numpy_helper.from_array(numpy.array(0, dtype=numpy.int64), "first"))
        nodes.append(
            helper.make_node("Gather", ["last_hidden_state", "first"], ["sentence_embedding"], axis=1)
        )
        outputs.append(
            helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", width])
        )
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if types else [])]
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "length"]) for n in names]
    graph = helper.make_graph(nodes, "model", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path))
    return table


def unit(row: object) -> object:
    value = numpy.asarray(row)
    return value / numpy.linalg.norm(value)


def test_the_minilm_layout_is_pooled_by_the_mean_without_padding(tmp_path: Path) -> None:
    folder = tmp_path / "all-MiniLM-L6-v2"
    make_tokenizer(folder)
    table = make_graph(folder / "onnx" / "model.onnx", 384, pooled=False, types=True)
    model = OnnxModel(str(folder))
    assert (model.name, model.dimension, model.local) == ("all-minilm-l6-v2-onnx", 384, True)
    rows = model.embed(["load file", "draw"])
    assert numpy.allclose(rows[0], unit(table[2] + table[4]), atol=1e-5)
    assert numpy.allclose(rows[1], unit(table[6]), atol=1e-5), "padding counts for nothing"


def test_the_bge_m3_layout_gives_1024_numbers_of_the_first_token(tmp_path: Path) -> None:
    folder = tmp_path / "bge-m3"
    make_tokenizer(folder)
    table = make_graph(folder / "onnx" / "model_quantized.onnx", 1024, pooled=False, types=False)
    model = OnnxModel(str(folder))
    assert (model.name, model.dimension) == ("bge-m3-onnx", 1024)
    assert numpy.allclose(model.embed(["save user"])[0], unit(table[3]), atol=1e-5)


def test_a_graph_that_pools_itself_is_taken_at_its_word(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    make_tokenizer(folder)
    table = make_graph(folder / "model.onnx", 16, pooled=True, types=False)
    assert numpy.allclose(OnnxModel(str(folder)).embed(["user load"])[0], unit(table[5]), atol=1e-5)


def test_a_folder_says_how_it_pools(tmp_path: Path) -> None:
    folder = tmp_path / "bge-small"
    make_tokenizer(folder)
    table = make_graph(folder / "model.onnx", 16, pooled=False, types=False)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_mean_tokens": True}))
    row = OnnxModel(str(folder)).embed(["load file"])[0]
    assert numpy.allclose(row, unit(table[2] + table[4]), atol=1e-5)


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TetherError, match="no model"):
        OnnxModel(str(tmp_path))
    make_tokenizer(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"not a graph")
    with pytest.raises(TetherError) as error:
        OnnxModel(str(tmp_path))
    assert error.value.code == "EMBEDDING_FAILED"

"""The built-in model: the same vectors everywhere, from any text, out of a file that is trusted with nothing."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tether.embed.static import MAGIC, MOST_KNOWN, WEIGHTS, StaticModel, Vocabulary
from tether.errors import TetherError


@pytest.fixture(scope="module")
def model() -> StaticModel:
    return StaticModel.open()


def write(path, about, words=("a", "b"), weights=(1, 2), rows=((1, 2), (3, -4))):
    text = "\n".join(words).encode()
    about = {"name": "tiny", "dimension": 2, "rows": 2, "vocabulary_bytes": len(text), **about}
    path.write_bytes(
        MAGIC
        + json.dumps(about).encode()
        + b"\n"
        + text
        + np.array(weights, "<u2").tobytes()
        + np.array(rows, np.int8).tobytes()
    )
    return str(path)


def test_vectors_are_the_same_to_the_bit_on_every_machine(model):
    texts = [
        "def open_session(request): return Session(request.cookies)",
        "retry with backoff",
        "",
        "∑ 数据 x",
    ]
    small, factors = model.embed_int8(texts)
    digest = hashlib.sha256(model.embed(texts).tobytes() + small.tobytes() + factors.tobytes()).hexdigest()
    assert digest == "65c7cfa6681472d2acb71ab415b93589db685e3f46423db07f35cb1690f407bc"


def test_what_is_embedded_together_does_not_matter(model):
    texts = [f"class Number{n}: '''adds {n} to {'many ' * n}things'''" for n in range(20)]
    together = model.embed(texts)
    assert all((model.embed([text])[0] == row).all() for text, row in zip(texts, together, strict=True))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=200), max_size=4))
def test_any_text_becomes_a_unit_vector_or_nothing(texts):
    rows = StaticModel.open().embed(texts)
    assert rows.shape == (len(texts), 256) and rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    assert all(abs(length - 1) < 1e-5 or length == 0 for length in lengths)


def test_bytes_lie_where_the_floats_lie(model):
    texts = ["parse the configuration file", "int main(void) { return read_config(path); }"]
    rows = model.embed(texts)
    small, factors = model.embed_int8(texts)
    assert small.dtype == np.int8
    again = small * factors[:, None]
    assert ((rows * again).sum(axis=1) > 0.999).all()


def test_a_question_lies_nearest_to_the_code_that_answers_it(model):
    codes = [
        "def hash_password(text, salt): return pbkdf2_hmac('sha256', text.encode(), salt, 100_000)",
        "fn accept(listener: &TcpListener) -> io::Result<Socket> { listener.accept().map(Socket::from) }",
        "func (c *Cache) Evict() { for k, e := range c.items { if e.expired() { delete(c.items, k) } } }",
        "void drawLine(Canvas canvas, Point from, Point to) { canvas.stroke(from.x, from.y, to.x, to.y); }",
    ]
    questions = [
        "how are passwords encrypted",
        "waiting for incoming network connections",
        "removing old entries from the cache",
        "rendering shapes on the screen",
    ]
    nearest = (model.embed(questions) @ model.embed(codes).T).argmax(axis=1)
    assert list(nearest) == [0, 1, 2, 3]


def test_identifiers_are_read_by_their_parts():
    vocabulary = Vocabulary(["http", "server", "error", "2", "s", "e"])
    for name in ("HTTPServerError2", "http_server_error_2", "httpServer.error2", "HTTP SERVER error 2"):
        assert dict(vocabulary.count(name)) == {0: 1, 1: 1, 2: 1, 3: 1}


def test_an_unknown_word_is_read_as_the_longest_pieces_known():
    vocabulary = Vocabulary(["web", "socket", "s", "k", "sock"])
    assert vocabulary["websockets"] == (0, 1, 2)
    assert vocabulary["websöck"] == (0, 2, 3)
    assert vocabulary["x" * 1000] == ()


def test_remembered_words_are_bounded():
    vocabulary = Vocabulary(["a"])
    vocabulary.update({str(number): () for number in range(MOST_KNOWN)})
    assert vocabulary["a"] == (0,)
    assert len(vocabulary) == 1


def test_the_file_is_small_enough_to_ship():
    assert os.path.getsize(WEIGHTS) <= 12_000_000


def test_it_answers_to_the_promise_of_every_model(model):
    assert model.local and model.name and model.dimension == 256
    assert (model.embed(["x"], query=True) == model.embed(["x"])).all()


def test_a_table_read_back_says_the_same(model, tmp_path):
    from tether.embed.static import write_model

    path = tmp_path / "again.bin"
    write_model(str(path), model.name, model.words(), model.table())
    again = StaticModel.open(str(path))
    texts = ["open a file and read lines", "std::vector<int> sort(values)"]
    assert ((again.embed(texts) * model.embed(texts)).sum(axis=1) > 0.9999).all()


def test_a_tiny_model_sums_as_told(tmp_path):
    tiny = StaticModel.open(write(tmp_path / "tiny.bin", {}))
    both = np.array([16 * 1 * 1 + 16 * 2 * 3, 16 * 1 * 2 - 16 * 2 * 4], np.float64)
    assert np.allclose(tiny.embed(["a b"])[0], both / np.linalg.norm(both), atol=1e-4)


@pytest.mark.parametrize(
    "about",
    [
        {"rows": 3},
        {"rows": -1},
        {"dimension": 0},
        {"dimension": "2"},
        {"vocabulary_bytes": 1 << 40},
        {"rows": 1, "dimension": 6},
    ],
)
def test_a_file_that_contradicts_itself_is_refused(tmp_path, about):
    with pytest.raises(TetherError):
        StaticModel.open(write(tmp_path / "bad.bin", about))


@pytest.mark.parametrize("data", [b"", b"x", MAGIC, MAGIC + b"{}\n", MAGIC + b"[1]\n", MAGIC + b"{" * 9000])
def test_a_file_that_is_no_model_is_refused(tmp_path, data):
    path = tmp_path / "bad.bin"
    path.write_bytes(data)
    with pytest.raises(TetherError):
        StaticModel.open(str(path))


def test_a_cut_file_is_refused(tmp_path):
    path = tmp_path / "cut.bin"
    with open(WEIGHTS, "rb") as file:
        path.write_bytes(file.read()[:-1])
    with pytest.raises(TetherError, match="not whole"):
        StaticModel.open(str(path))


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(TetherError, match="cannot be opened"):
        StaticModel.open(str(tmp_path / "none.bin"))


def test_nothing_but_numpy_is_needed():
    code = (
        "import sys, tether.embed.static as s; s.StaticModel.open().embed(['x']);"
        "print([m for m in ('scipy', 'tokenizers', 'torch', 'onnxruntime') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"

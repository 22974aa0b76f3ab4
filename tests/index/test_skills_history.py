"""Results of a search depend on the skills that are there, not on how they came to be in the index."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from skillc.index.skills import MemorySkill, Scope, Searchable, SkillIndex, query, segment, typos, weights
from skillc.index.skills.database import IN_MEMORY
from skillc.library.sources.virtual import MemoryFolder
from tests.support.examples import examples

PLACES = [f"{collection}/{name}" for collection in ("garden", "kitchen") for name in "abcdefgh"]
WORDS = [
    *("prune", "roses", "in", "spring", "with", "sharp", "shears", "zebra", "zebras", "修剪玫瑰"),
    *("deploy", "deploys", "kubernetes", "cluster"),
]
LONG_TASK = " ".join(f"{word} {word}s" for word in WORDS) + " " + " ".join(f"word{n}" for n in range(60))
TASKS = [
    "roses",
    "sharp zebra shears in spring",
    "kubernets",
    "zebrs",
    "deploing",
    "the with in",
    "玫瑰",
    LONG_TASK,
]
SCOPES = [Scope(), Scope(every=True), Scope(prefixes=["kitchen"])]

texts = st.lists(st.sampled_from([*WORDS, *(f"word{n}" for n in range(60))]), max_size=40).map(" ".join)
changes = st.dictionaries(
    st.sampled_from(PLACES), st.none() | st.tuples(texts, texts), min_size=1, max_size=5
)


@pytest.fixture(scope="module", autouse=True)
def few_are_many() -> Iterator[None]:
    """Let limits matter to as few skills as there are here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query, "MIN_CHOSEN", 4)
        patch.setattr(typos, "MANY", 5)
        patch.setattr(segment, "GROUP", 3)
        patch.setattr(segment, "MAX_LISTS", 50)
        patch.setattr(weights, "MAX_BODY_TERMS", 6)
        yield


class Shelf:
    """Skills in memory, and their index."""

    def __init__(self) -> None:
        self.index = SkillIndex(IN_MEMORY)
        self.folder = MemoryFolder(self.index)

    def hold(self, skills: dict[str, tuple[str, str]]) -> None:
        self.folder.replace([self._skill(place, *texts) for place, texts in skills.items()])

    @staticmethod
    def _skill(place: str, head: str, body: str) -> MemorySkill:
        return place, place.rpartition("/")[2], head or "-", (), (), body

    def answers(self) -> list[object]:
        return [
            (
                task,
                scope.every,
                skill.id,
                skill.score,
                skill.confidence,
                skill.copies,
                skill.matched,
                found.corrections,
            )
            for task in TASKS
            for scope in SCOPES
            for limit in (1, 10)
            for found in [self.index.find([Searchable("shelf", self.folder)], task, limit, scope=scope)]
            for skill in found
        ]


@pytest.mark.slow
@examples(60)
@given(st.lists(changes, min_size=2, max_size=12), st.integers(0, 11))
def test_any_history_gives_the_same_results(
    history: list[dict[str, tuple[str, str] | None]], asked: int
) -> None:
    """[LIB: Existing (updated)] skills that were added, changed and removed are found as in a fresh index."""
    old, fresh = Shelf(), Shelf()
    skills: dict[str, tuple[str, str]] = {}
    for number, change in enumerate(history):
        skills |= {place: texts for place, texts in change.items() if texts is not None}
        skills = {place: texts for place, texts in skills.items() if change.get(place, texts) is not None}
        old.hold(skills)
        if number == asked:
            old.answers()  # what an earlier search keeps changes nothing either
    fresh.hold(skills)
    assert old.answers() == fresh.answers()

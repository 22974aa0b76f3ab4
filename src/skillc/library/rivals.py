"""Rank a skill for prompts among all skills of the library, without any agent.

It says which skills a prompt is nearest to, by the index that `skc find` and the prompt hook use. It can't
say what an agent does: whether one stays quiet is for a run to show.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass

from skillc.errors import EmptyQuery
from skillc.index.skills import EVERYTHING, OFFER_CONFIDENCE, FoundSkill, Searchable, skill_index
from skillc.library.find import find_skills, list_folders
from skillc.library.sources import MemoryFolder
from skillc.library.stores import Skill
from skillc.skills.document import parse, read_main_file, read_metadata, read_tags

DEPTH = 10  # results among which a skill is looked for
AMONG = 3  # results that an agent is told of at most
MAX_RIVALS = 3  # that are named


@dataclass(frozen=True, slots=True)
class Rival:
    """Another skill that fits a prompt."""

    id: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Rank:
    """Where a skill stands for a prompt; `rank` is None where it is not among the first DEPTH."""

    rank: int | None
    confidence: float | None
    offered: bool  # whether the prompt hook would tell an agent of it
    rivals: tuple[Rival, ...]  # that stand before it, or that are first where it does not fit


class Ranking:
    """The library with a skill, which need not be in it."""

    def __init__(self, skill: Skill, cwd: str) -> None:
        self._skill, self._cwd = skill, cwd
        self._source = os.path.realpath(skill.source)
        folders = list_folders(cwd)
        self._parts = (
            [*([] if skill.is_stored else [_alone(skill)]), *folders] if folders is not None else None
        )

    def rank(self, prompt: str, acceptable: Collection[str] = ()) -> Rank:
        """Return where the skill stands for a prompt; `acceptable` skills, by name, are no rivals."""
        try:
            found = self._find(prompt)
        except EmptyQuery:
            found = []
        place = next((number for number, each in enumerate(found) if self._is_own(each)), None)
        before = found if place is None else found[:place]
        own = None if place is None else found[place]
        return Rank(
            None if place is None else place + 1,
            own.confidence if own else None,
            own is not None and place is not None and place < AMONG and own.confidence >= OFFER_CONFIDENCE,
            tuple(
                Rival(each.id, each.confidence)
                for each in before[:MAX_RIVALS]
                if each.id.rpartition("/")[2] not in acceptable
            ),
        )

    def _find(self, prompt: str) -> list[FoundSkill]:
        if self._parts is None:
            return find_skills(self._cwd, prompt, DEPTH)
        return skill_index().find(self._parts, prompt, DEPTH, scope=EVERYTHING)

    def _is_own(self, found: FoundSkill) -> bool:
        if found.directory:
            return os.path.realpath(found.directory) == self._source
        return found.source_name == _ALONE


_ALONE = "the skill itself"


def _alone(skill: Skill) -> Searchable:
    """Return a repository with the skill alone."""
    document = parse(read_main_file(skill.source))
    fields = read_metadata(document, skill.name)
    folder = MemoryFolder(skill_index())
    body = document.data[document.body :].decode("utf-8", "replace")
    folder.replace([(skill.name, fields.name, fields.description, (), read_tags(fields.fields), body)])
    return Searchable(_ALONE, folder)

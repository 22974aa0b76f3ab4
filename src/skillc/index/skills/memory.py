"""Skills without a folder, made searchable in memory: those of servers and of programs."""

from __future__ import annotations

from skillc.index.skills.batch import Batch, Statistics
from skillc.index.skills.database import IN_MEMORY, Database
from skillc.index.skills.postings import MAX_SLOTS, SegmentLists, invert
from skillc.index.skills.snapshot import Entry, find_folder
from skillc.index.skills.weights import SkillText, weigh_terms
from skillc.index.skills.writer import save_folder, write_batch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.index.skills.find import SkillIndex
    from skillc.index.skills.query import FolderReader

    MemorySkill = tuple[
        str, str, str, tuple[str, ...], str | None
    ]  # ID, name, description, capabilities, body

_KEY = ("documents", False)
_STAMP = (0, 0, 0)


class MemoryFolder:
    """The skills of a source that has no folder; a skill without a body is found by its head.

    It is searched as a `Folder` is.
    """

    def __init__(self, index: SkillIndex) -> None:
        self.database = Database(IN_MEMORY)
        self._index = index
        self._skills: dict[str, MemorySkill] = {}

    def replace(self, skills: list[MemorySkill]) -> None:
        """Hold these skills and no others; only new ones are indexed."""
        last, current = self._skills, {skill[0]: skill for skill in skills}
        if current == last:
            return
        gone = [skill_id for skill_id in last if current.get(skill_id) != last[skill_id]]
        new = [skill for skill_id, skill in current.items() if last.get(skill_id) != skill]

        def change(execute: Any) -> None:
            write_batch(execute, save_folder(execute, *_KEY, None, gone), batch)

        with self._index.lock:
            batch = self._invert(sorted(new))
            self.database.write(change)
            self._skills = current

    def _invert(self, new: list[MemorySkill]) -> Batch:
        batch = Batch()
        statistics = Statistics(self.database, *_KEY)
        for start in range(0, len(new), MAX_SLOTS):
            group = new[start : start + MAX_SLOTS]
            texts = [
                SkillText(name, description, (body or "").encode("utf-8", "replace"))
                for _, name, description, _, body in group
            ]
            weights = list(enumerate(weigh_terms(self._index.stemmer, texts)))
            lists = SegmentLists()
            lists.add(invert(weights, statistics.skills, statistics.body_frequencies))
            batch.lists.append(lists)
            batch.entries += [
                Entry(skill_id, skill_id, _STAMP, description, capabilities, None, None, 0)
                for skill_id, _, description, capabilities, _ in group
            ]
        return batch

    def refresh(self, force: bool = False) -> int | None:
        return self.database.read(lambda execute: find_folder(execute, *_KEY)[0])

    def is_read_by(self, reader: FolderReader) -> bool:
        return True

    def is_current(self, path: str, stamp: object) -> bool:
        return True

    def skill_directory(self, path: str) -> str:
        return ""

    def read_skill_file(self, path: str) -> bytes:
        return (self._skills[path][4] or "").encode("utf-8", "replace") if path in self._skills else b""

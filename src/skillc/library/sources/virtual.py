"""Skills that have no folder in an index of their own, such as those of a server or a program."""

from __future__ import annotations

import os

from skillc.index.skills import (
    IN_MEMORY,
    Database,
    Folder,
    MemorySkill,
    SkillIndex,
    find_folder,
    invert_texts,
    write_change,
)


class VirtualFolder(Folder):
    """Skills in an index that have no folder, such as those of a server; searched as those of one are."""

    def __init__(self, database: Database) -> None:
        super().__init__("documents", False, database)  # a name in place of the root

    def refresh(self, force: bool = False, time_out: float | None = None) -> int | None:
        """Return the number in the index; what writes to it keeps it current."""
        return self.database.read(lambda execute: find_folder(execute, *self.key)[0])

    def is_current(self, path: str | bytes, stamp: object) -> bool:
        return True

    def skill_directory(self, path: str | bytes) -> str:
        return ""

    def read_skill_file(self, path: str | bytes) -> bytes:
        """Return the SKILL.md of a skill, or its body; empty where there is none."""
        raise NotImplementedError


class MemoryFolder(VirtualFolder):
    """The skills of a server or a program, indexed in memory. A skill without a body is found by its head."""

    def __init__(self, index: SkillIndex) -> None:
        super().__init__(Database(IN_MEMORY))
        self._index = index
        self._skills: dict[str, MemorySkill] = {}

    def replace(self, skills: list[MemorySkill]) -> None:
        """Hold these skills and no others; only new ones are indexed."""
        current = {skill[0]: skill for skill in skills}
        with self._index.lock:
            last = self._skills
            if current == last:
                return
            removals = [skill_id for skill_id in last if current.get(skill_id) != last[skill_id]]
            new = sorted(skill for skill_id, skill in current.items() if last.get(skill_id) != skill)
            batch = invert_texts(new, self._index.stemmer)
            self.database.write(lambda execute: write_change(execute, *self.key, None, removals, batch))
            self._skills = current

    def read_skill_file(self, path: str | bytes) -> bytes:
        skill = self._skills.get(os.fsdecode(path))
        return (skill[5] or "").encode("utf-8", "replace") if skill else b""

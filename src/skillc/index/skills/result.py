"""A skill that fits a task, as it is told: what it is, where it is, why it fits, and how to read it."""

from __future__ import annotations

import os

from skillc.text import shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from skillc.index.skills.query import Candidate

    Reasons = tuple[tuple[tuple[str, tuple[str, ...]], ...], str]  # words with their fields; the section


class FoundSkill:
    """A skill that fits a task, and why: the task's words it has, and the section to read first.

    `also` names where else it is: repository and ID. `directory` is its folder, where it has one.
    """

    __slots__ = ("_reasons", "_why", "also", "description", "directory", "id", "name", "score", "source_name")

    def __init__(
        self,
        candidate: Candidate,
        source_name: str,
        also: list[tuple[str, str]],
        directory: str,
        reasons: Callable[[], Reasons],
    ) -> None:
        self.id = candidate.skill_id
        self.name = candidate.skill_id.rpartition("/")[2]
        self.description: str = candidate.description
        self.score = candidate.score
        self.source_name = source_name
        self.also = tuple(also)
        self.directory = directory
        self._reasons = reasons
        self._why: Reasons | None = None

    @property
    def matched(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The task's words that the skill has, strongest first, each with the fields it is in."""
        return self._known()[0]

    @property
    def section(self) -> str | None:
        """The heading of the section to read first; None where the best is what stands before any."""
        return self._known()[1] or None

    @property
    def read(self) -> str:
        """The command that shows it."""
        return _command(self.id, self.directory, self.section or "")

    def _known(self) -> Reasons:
        if self._why is None:
            self._why = self._reasons()  # reads the file: see `reasons`
        return self._why

    def as_json(self) -> dict[str, Any]:
        """The wire format of `skc find`, of `GET /search` and of the tools."""
        return {
            "id": self.id,
            "name": self.name,
            "description": self.description,
            "score": self.score,
            "source_name": self.source_name,
            "also": [{"source_name": name, "id": skill_id} for name, skill_id in self.also],
            "matched": [{"term": word, "fields": list(fields)} for word, fields in self.matched],
            "section": self.section,
            "read": self.read,
        }


def _command(skill_id: str, directory: str, section: str) -> str:
    """What to run to read a skill: its best section, or all of it."""
    if not section or not directory:
        return f"skc load {skill_id}"
    parent, name = os.path.split(directory)
    in_store = parent.replace("\\", "/").endswith("/.skillc/skills")
    skill, heading = shell_quote(name if in_store else directory, '"'), shell_quote(section, '"')
    return f"skc show {skill} --section {heading}"

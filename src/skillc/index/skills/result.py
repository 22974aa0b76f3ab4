"""A skill that fits a task: what it is, where it is, why it fits, and how to read it."""

from __future__ import annotations

import os

from skillc.text import one_line, shell_quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from skillc.index.skills.query import Candidate

    Explanation = tuple[tuple[tuple[str, tuple[str, ...]], ...], str]  # words with their fields; a section

MAX_WORDS = 12  # that `format_results` names


class FoundSkill:
    """A skill that fits a task, and why: the task's words it has, and the section to read first.

    `also` names where else it is: repository and ID. `directory` is its folder, where it has one.
    """

    def __init__(
        self,
        candidate: Candidate,
        source_name: str,
        also: list[tuple[str, str]],
        directory: str,
        explain: Callable[[], Explanation],
    ) -> None:
        self.id = candidate.skill_id
        self.name = candidate.skill_id.rpartition("/")[2]
        self.description: str = candidate.description
        self.score = candidate.score
        self.source_name = source_name
        self.also = tuple(also)
        self.directory = directory
        self._explain = explain  # reads the file, so it runs on first use
        self._explanation: Explanation | None = None

    @property
    def matched(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The task's words that the skill has, strongest first, each with the fields it is in."""
        return self._why()[0]

    @property
    def section(self) -> str | None:
        """The heading of the section to read first; None where that is the text before any heading."""
        return self._why()[1] or None

    @property
    def read(self) -> str:
        """The command that shows its best section, or all of it."""
        if not self.section or not self.directory:
            return f"skc load {self.id}"
        parent, name = os.path.split(self.directory)
        in_store = parent.replace("\\", "/").endswith("/.skillc/skills")
        skill = shell_quote(name if in_store else self.directory, '"')
        section = shell_quote(self.section, '"')
        return f"skc show {skill} --section {section}"

    def _why(self) -> Explanation:
        if self._explanation is None:
            self._explanation = self._explain()
        return self._explanation

    def as_json(self) -> dict[str, Any]:
        """Return the wire format of `skc find`, of `GET /search` and of the tools."""
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


def format_results(results: Sequence[FoundSkill]) -> Iterator[str]:
    """Yield a few lines for each skill, best first: the text of `skc find` and of the tool."""
    for skill in results:
        yield f"{one_line(skill.id)}  ({skill.score:.1f}, {one_line(skill.source_name)})"
        yield f"  {one_line(' '.join(skill.description.split()))}"
        words = ", ".join(word for word, _ in skill.matched[:MAX_WORDS])
        yield f"  matched: {one_line(words)}"
        if skill.also:
            yield f"  also: {one_line(', '.join(f'{skill_id} ({name})' for name, skill_id in skill.also))}"
        yield f"  read: {one_line(skill.read)}"
    if not results:
        yield "No skills fit."

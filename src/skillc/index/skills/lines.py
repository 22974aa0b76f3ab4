"""What was found, in lines for people: the text of `skc find` and of the tool."""

from __future__ import annotations

from skillc.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skillc.index.skills.result import FoundSkill

SHOWN = 12  # words that matched


def lines(found: Sequence[FoundSkill]) -> Iterator[str]:
    """A few lines for each skill, best first."""
    for skill in found:
        yield f"{one_line(skill.id)}  ({skill.score:.1f}, {one_line(skill.source_name)})"
        yield f"  {one_line(' '.join(skill.description.split()))}"
        words = ", ".join(word for word, _ in skill.matched[:SHOWN])
        yield f"  matched: {one_line(words)}"
        if skill.also:
            yield f"  also: {one_line(', '.join(f'{skill_id} ({name})' for name, skill_id in skill.also))}"
        yield f"  read: {one_line(skill.read)}"
    if not found:
        yield "No skills fit."

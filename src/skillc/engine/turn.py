"""What a message becomes before the model sees it: `/references` resolved, blocks put in front [D31]."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc.engine.events import SkillEvent, SkillResolutionFailed, SkillsResolved
from skillc.errors import unexpected

if TYPE_CHECKING:
    from skillc.engine.engine import DefaultSkillEngine, ResolvedSkill

REFERENCE = re.compile(r"^/([a-z0-9-]+(?:/[a-z0-9-]+)*)(?:\s+|$)")

Observer = Callable[[SkillEvent], None]


@dataclass(frozen=True, slots=True)
class Turn:
    """A message as the model gets it, what happened on the way, and what to tell the user."""

    message: str
    events: tuple[SkillEvent, ...]
    notices: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "message": self.message,
            "events": [event.as_json() for event in self.events],
            "notices": list(self.notices),
        }


async def prepare_turn(
    engine: DefaultSkillEngine,
    message: str,
    skill_references: Sequence[str] | None = None,
    observer: Observer | None = None,
) -> Turn:
    """Resolve a leading `/reference` and those given beside the message, one by one.

    What resolves is put in front; a `/reference` that does is taken out of the text. What does not,
    for whatever reason, leaves the text as it is, is an event, and gives the user a message.
    """
    if not engine.options.enabled:
        return Turn(message, (), ())
    resolved: list[ResolvedSkill] = []
    events: list[SkillEvent] = []
    text = message
    match = REFERENCE.match(message)
    wanted = [*(skill_references or ()), *([match[1]] if match else [])]
    for reference in dict.fromkeys(wanted):
        try:
            resolved += await engine.resolve_and_render([reference])
        except Exception as error:  # also of sources that are not ours: the turn goes on
            events.append(SkillResolutionFailed(reference, unexpected(error).message))
        else:
            if match and reference == match[1]:
                text = message[match.end() :]
    if resolved:
        size = sum(skill.byte_size for skill in resolved)
        events.insert(0, SkillsResolved(tuple(skill.id for skill in resolved), size))
        text = "\n\n".join([*(skill.rendered_body for skill in resolved), *([text] if text else [])])
    for event in events if observer else ():
        assert observer is not None
        observer(event)
    notices = tuple(event.error for event in events if isinstance(event, SkillResolutionFailed))
    return Turn(text, tuple(events), notices)

"""Turns: the system prompt, and a message with its `/references` resolved [D31]."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillc.contract import Result
from skillc.engine.engine import ResolvedSkill, SkillEngine
from skillc.errors import unexpected

REFERENCE = re.compile(r"^/([a-z0-9-]+(?:/[a-z0-9-]+)*)(?:\s+|$)")


@dataclass(frozen=True, slots=True)
class SkillsResolved(Result):
    """An event: skills whose blocks entered the context, and how many bytes that was."""

    type: str = field(default="SkillsResolved", init=False, repr=False)
    skills: tuple[str, ...]
    injection_bytes: int


@dataclass(frozen=True, slots=True)
class SkillResolutionFailed(Result):
    """An event: a reference that led to no skill; the turn went on without it."""

    type: str = field(default="SkillResolutionFailed", init=False, repr=False)
    reference: str
    error: str


SkillEvent = SkillsResolved | SkillResolutionFailed
Observer = Callable[[SkillEvent], None]


@dataclass(frozen=True, slots=True)
class Turn(Result):
    """A message as the model gets it, the events on the way, and notices for the user."""

    message: str
    events: tuple[SkillEvent, ...]
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelInput:
    """The input of a model for a message: `system` is for the system prompt."""

    system: str
    turn: Turn

    def as_json(self) -> dict[str, Any]:
        """Return what `skc turn` prints and `POST /turns` answers."""
        return {"system": self.system, **self.turn.as_json()}


def _is_enabled(engine: SkillEngine) -> bool:
    return bool(getattr(getattr(engine, "options", None), "enabled", True))


def _snapshot(engine: SkillEngine) -> SkillEngine:
    """Return an engine for all calls of one request; itself where it has no snapshots."""
    snapshot: Callable[[], SkillEngine] | None = getattr(engine, "snapshot", None)
    return snapshot() if snapshot else engine


async def prepare_turn(
    engine: SkillEngine,
    message: str,
    skill_references: Sequence[str] | None = None,
    observer: Observer | None = None,
    explain: Callable[[Exception], str] = lambda error: unexpected(error).message,
) -> Turn:
    """Resolve a leading `/reference` and those given beside the message, one by one.

    The blocks of resolved skills come first, and a resolved `/reference` is taken out of the text. A
    reference that fails, for whatever reason, leaves the text as it is and gives an event and a notice, whose
    text `explain` returns.
    """
    if not _is_enabled(engine):
        return Turn(message, (), ())
    engine = _snapshot(engine)
    skills: list[ResolvedSkill] = []
    events: list[SkillEvent] = []
    text = message
    match = REFERENCE.match(message)
    references = [*(skill_references or ()), *([match[1]] if match else [])]
    for reference in dict.fromkeys(references):
        try:
            skills += await engine.resolve_and_render([reference])
        except Exception as error:  # of any source: the turn goes on
            events.append(SkillResolutionFailed(reference, explain(error)))
        else:
            if match and reference == match[1]:
                text = message[match.end() :]
    if skills:
        size = sum(skill.byte_size for skill in skills)
        events.insert(0, SkillsResolved(tuple(skill.id for skill in skills), size))
        text = "\n\n".join([*(skill.rendered_body for skill in skills), *([text] if text else [])])
    if observer is not None:
        for event in events:
            observer(event)
    notices = tuple(event.error for event in events if isinstance(event, SkillResolutionFailed))
    return Turn(text, tuple(events), notices)


async def system_prompt(engine: SkillEngine, preload: Sequence[str] | None = None) -> str:
    """Return the inventory and the blocks of the skills to preload, of which a missing one is raised."""
    if not _is_enabled(engine):
        return ""
    engine = _snapshot(engine)
    skills = await engine.resolve_and_render(dict.fromkeys(preload or ()))
    inventory = await engine.inventory_section([skill.id for skill in skills])
    return "\n\n".join([inventory, *(skill.rendered_body for skill in skills)])


async def model_input(
    engine: SkillEngine,
    message: str,
    preload_skills: Sequence[str] | None = None,
    skill_references: Sequence[str] | None = None,
    observer: Observer | None = None,
    explain: Callable[[Exception], str] = lambda error: unexpected(error).message,
) -> ModelInput:
    """Return system prompt and turn; raises SkillNotFound for a preload, a missing reference is an event."""
    engine = _snapshot(engine)
    system = await system_prompt(engine, preload_skills)
    return ModelInput(system, await prepare_turn(engine, message, skill_references, observer, explain))

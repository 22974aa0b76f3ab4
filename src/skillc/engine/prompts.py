"""What a model gets of skills: the part of the system prompt, and with a message the whole of a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc.engine.turn import Observer, Turn, prepare_turn

if TYPE_CHECKING:
    from skillc.engine.engine import DefaultSkillEngine


@dataclass(frozen=True, slots=True)
class ModelInput:
    """What a model gets for a message: `system` is for the system prompt."""

    system: str
    turn: Turn

    def as_json(self) -> dict[str, Any]:
        """What `skc turn` prints and `POST /turns` answers."""
        return {"system": self.system, **self.turn.as_json()}


async def system_prompt(engine: DefaultSkillEngine, preload: Sequence[str] | None = None) -> str:
    """The inventory, then the blocks of the skills to preload: None and empty mean none.

    One that is not there is raised.
    """
    if not engine.options.enabled:
        return ""
    loaded = await engine.resolve_and_render(dict.fromkeys(preload or ()))
    inventory = await engine.inventory_section([skill.id for skill in loaded])
    return "\n\n".join([inventory, *(skill.rendered_body for skill in loaded)])


async def model_input(
    engine: DefaultSkillEngine,
    message: str,
    preload_skills: Sequence[str] | None = None,
    skill_references: Sequence[str] | None = None,
    observer: Observer | None = None,
) -> ModelInput:
    """System prompt and message in one; a skill to preload that is not there is raised, a reference told."""
    system = await system_prompt(engine, preload_skills)
    return ModelInput(system, await prepare_turn(engine, message, skill_references, observer))

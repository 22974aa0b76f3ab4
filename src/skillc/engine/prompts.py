"""The system prompt's part about skills: the inventory, then the skills that are loaded from the start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillc.engine.skill_engine import DefaultSkillEngine


async def system_prompt(engine: DefaultSkillEngine, preload: Sequence[str] | None = None) -> str:
    """Inventory and preloaded blocks; None and empty mean none, one that is not there is raised."""
    loaded = await engine.resolve_and_render(dict.fromkeys(preload or ()))
    inventory = await engine.inventory_section([skill.id for skill in loaded])
    return "\n\n".join([inventory, *(skill.rendered_body for skill in loaded)])

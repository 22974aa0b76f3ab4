"""Tools from elsewhere that an agent can be given beside its own: what the engine asks of them.

The engine knows no runner and no sandbox. Whatever offers tools for skills fits here by its shape
alone, so that neither room imports the other; `skillc.adapters.SkillToolset` does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from skillc.engine.engine import DefaultSkillEngine


class OfferedTool(Protocol):
    """A tool as a model sees it."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...


class Outcome(Protocol):
    """What a call returns to the model."""

    @property
    def text(self) -> str: ...
    @property
    def is_error(self) -> bool: ...


class OfferedTools(Protocol):
    """The tools that one agent was given."""

    @property
    def definitions(self) -> Sequence[OfferedTool]: ...

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Call one of `definitions`; failures are outcomes, too."""
        ...


class Toolset(Protocol):
    """Something that has tools for the skills of an agent."""

    async def offer(self, skills: DefaultSkillEngine, reserved: Collection[str]) -> OfferedTools:
        """The tools for an agent's skills, under names that are not `reserved`."""
        ...

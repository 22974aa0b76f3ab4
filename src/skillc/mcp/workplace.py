"""What a server works on: the directory it was started in, and the library that is configured there.

Settings are looked at for every call, so that who edits them need not restart a chat client; the
library, which keeps what it learned of its repositories, is made anew only when skills.toml changed.
"""

from __future__ import annotations

from skillc import paths, settings as config
from skillc.compiler import keep_indexed
from skillc.engine import DefaultSkillEngine, EngineOptions
from skillc.library import SkillsConfig, locate_skill, resolve_repositories
from skillc.usage import logged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from skillc.errors import Diagnostic
    from skillc.library import CompositeSkillSource, Skill
    from skillc.usage.log import Value

    Result = TypeVar("Result")

Stamp = tuple[tuple[object, ...], ...]


class Workplace:
    """A working directory, and what skc finds from there."""

    def __init__(self, cwd: str | None = None) -> None:
        self.cwd = cwd or paths.current_directory()
        self._made: tuple[Stamp, CompositeSkillSource, DefaultSkillEngine] | None = None

    def access(
        self,
        command: str,
        name: str,
        noted: dict[str, Value],
        run: Callable[[Skill], Result],
        learned: Callable[[Result], dict[str, Value]] = lambda result: {},
    ) -> tuple[Result, tuple[Diagnostic, ...]]:
        """Run an operation on the skill called `name` and log it, as the command line does."""
        skill = locate_skill(name, self.cwd)
        keep_indexed(skill, self.cwd)
        result, noticed = logged(skill, command, noted, self.cwd, lambda: run(skill), learned)
        return result, (*skill.diagnostics, *noticed)

    def settings(self) -> config.Config:
        """The settings in force now."""
        return config.load(self.cwd)

    def engine(self) -> DefaultSkillEngine:
        """The engine over all configured repositories; raises InvalidConfiguration."""
        return self._current()[2]

    def library(self) -> CompositeSkillSource:
        """The source of all configured repositories."""
        return self._current()[1]

    def _current(self) -> tuple[Stamp, CompositeSkillSource, DefaultSkillEngine]:
        stamp = paths.config_stamps(self.cwd)
        if self._made is None or self._made[0] != stamp:
            settings = SkillsConfig.load(self.cwd)
            source = resolve_repositories(settings, next(paths.library_roots(self.cwd), None))
            options = EngineOptions(
                max_injection_bytes=settings.max_injection_bytes,
                inventory_threshold=settings.inventory_threshold,
                enabled=settings.enabled,
            )
            self._made = (stamp, source, DefaultSkillEngine(source, options))
        return self._made

"""What a server works on: the directory it was started in, and the library that is configured there.

Settings are looked at for every call, so that who edits them need not restart a chat client; the
library, which keeps what it learned of its repositories, is made anew only when skills.toml changed.
"""

from __future__ import annotations

import os

from skillc import paths, settings as config
from skillc.compiler import keep_index_current
from skillc.engine import DefaultSkillEngine, EngineOptions
from skillc.library import locate_skill
from skillc.library.config import DIRECTORIES, FILE, SkillsConfig
from skillc.library.repositories import resolve_repositories
from skillc.usage import run_logged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeVar

    from skillc.errors import Diagnostic
    from skillc.library import Skill
    from skillc.library.library import CompositeSkillSource
    from skillc.usage import LogValue

    Result = TypeVar("Result")

Stamp = tuple[tuple[str, int, int, int] | None, ...]


class Workplace:
    """A working directory, and what skc finds from there."""

    def __init__(self, cwd: str | None = None) -> None:
        self.cwd = cwd or paths.current_directory()
        self._made: tuple[Stamp, CompositeSkillSource, DefaultSkillEngine] | None = None

    def access(
        self,
        command: str,
        name: str,
        noted: dict[str, LogValue],
        run: Callable[[Skill], Result],
        learned: Callable[[Result], dict[str, LogValue]] = lambda result: {},
    ) -> tuple[Result, tuple[Diagnostic, ...]]:
        """Run an operation on the skill called `name` and log it, as the command line does."""
        skill = locate_skill(name, self.cwd)
        keep_index_current(skill, self.cwd)
        result, noticed = run_logged(skill, command, noted, self.cwd, lambda: run(skill), learned)
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
        stamp = tuple(map(_stamp, self._configurations()))
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

    def _configurations(self) -> Iterator[str]:
        """Every file that could configure the library."""
        home = paths.home()
        for root in (*paths.library_roots(self.cwd), *([home] if home else [])):
            for directory in DIRECTORIES:
                yield os.path.join(root, directory, FILE)


def _stamp(path: str) -> tuple[str, int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return path, status.st_ino, status.st_size, status.st_mtime_ns

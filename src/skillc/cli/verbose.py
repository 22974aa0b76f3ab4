"""Say with --verbose what a command did: where a name led, which index it used, how long each step took."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeVar

from skillc import library
from skillc.errors import SkillcError
from skillc.index import sections, skills
from skillc.text import one_line
from skillc.workspace import Workspace

Result = TypeVar("Result")


class VerboseWorkspace(Workspace):
    """A workspace that reports its steps, a line each, such as `verbose: show took 1.2 ms`."""

    __slots__ = ()

    def locate(self, name: str, *, index: bool = True) -> library.Skill:
        with self._measure(f"resolving '{name}'"):
            skill = super().locate(name, index=index)
        where = f"repository {skill.repository}" if skill.repository else f"{skill.scope} store"
        self._say(
            f"'{name}' is {skill.source} ({where if skill.is_stored or skill.repository else 'a folder'})"
        )
        return skill

    def operate(
        self,
        command: str,
        skill: library.Skill | str,
        arguments: dict[str, Any],
        operation: Callable[[library.Skill], Result],
        outcome: Callable[[Result], dict[str, Any]] = lambda result: {},
    ) -> Result:
        target = self.locate(skill) if isinstance(skill, str) else skill
        with self._measure(command):
            result = super().operate(command, target, arguments, operation, outcome)
        if command in ("show", "search", "outline"):
            self._say(f"index: {self._find_index(target)}")
        return result

    def find(self, task: str, limit: int = 10, scope: skills.Scope | None = None) -> skills.FoundSkills:
        with self._measure("find"):
            return super().find(task, limit, scope)

    def wait(self, request: Coroutine[Any, Any, Result], *, warnings: bool = True) -> Result:
        with self._measure("asking the repositories"):
            return super().wait(request, warnings=warnings)

    def _find_index(self, skill: library.Skill) -> str:
        try:
            with sections.open_index(skill, self._tokenizer()) as index:
                return index.path
        except SkillcError as error:
            return f"none ({error.code})"

    @contextmanager
    def _measure(self, step: str) -> Iterator[None]:
        start = perf_counter()
        try:
            yield
        finally:
            self._say(f"{step} took {(perf_counter() - start) * 1000:.1f} ms")

    def _say(self, line: str) -> None:
        self.report(f"verbose: {one_line(line)}")

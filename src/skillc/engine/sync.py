"""The engine for scripts: the same methods, without `await`."""

from __future__ import annotations

import asyncio
import builtins
import threading
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from skillc.engine.skill_engine import DefaultSkillEngine, EngineOptions, ResolvedSkill
from skillc.engine.turns import Turn, prepare_turn
from skillc.library.catalog.library import FoundSkill
from skillc.library.descriptors import SkillCollection, SkillDescriptor, SkillDocument, SkillFilter
from skillc.library.sources import ALL, SkillSource

Answer = TypeVar("Answer")


class SyncSkillEngine:
    """A `DefaultSkillEngine` whose answers come at once. Works inside a running event loop, too."""

    def __init__(self, source: SkillSource, options: EngineOptions = EngineOptions()) -> None:
        self.engine = DefaultSkillEngine(source, options)

    def list_skills(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        return _run(self.engine.list_skills(filter))

    def collections(self) -> builtins.list[SkillCollection]:
        return _run(self.engine.collections())

    def inventory_section(self, active: Iterable[str] = ()) -> str:
        return _run(self.engine.inventory_section(active))

    def browse(self, path: str = "", query: str | None = None) -> dict[str, Any]:
        return _run(self.engine.browse(path, query))

    def find(self, task: str, limit: int = 10) -> builtins.list[FoundSkill]:
        return _run(self.engine.find(task, limit))

    def load(self, skill_id: str) -> SkillDocument:
        return _run(self.engine.load(skill_id))

    def resolve_and_render(self, ids: Iterable[str]) -> builtins.list[ResolvedSkill]:
        return _run(self.engine.resolve_and_render(ids))

    def files(self, skill_id: str) -> builtins.list[str]:
        return _run(self.engine.files(skill_id))

    def read_file(self, skill_id: str, path: str) -> str:
        return _run(self.engine.read_file(skill_id, path))

    def prepare_turn(self, message: str, skill_references: Sequence[str] | None = None) -> Turn:
        return _run(prepare_turn(self.engine, message, skill_references))


def _run(question: Coroutine[Any, Any, Answer]) -> Answer:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(question)
    return _run_apart(question)


def _run_apart(question: Coroutine[Any, Any, Answer]) -> Answer:
    """Inside an event loop, as in a notebook: another thread has a loop of its own."""
    answers: builtins.list[Answer] = []
    errors: builtins.list[BaseException] = []

    def work() -> None:
        try:
            answers.append(asyncio.run(question))
        except BaseException as error:  # raised again where it was asked
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return answers[0]

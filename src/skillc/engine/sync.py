"""The engine for scripts: the same methods, without `await`."""

from __future__ import annotations

import asyncio
import builtins
import contextvars
import threading
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, TypeVar

from skillc.engine.engine import DefaultSkillEngine, EngineOptions, ResolvedSkill
from skillc.engine.turn import ModelInput, Turn, model_input, prepare_turn
from skillc.index.skills import FoundSkill
from skillc.library import ALL, SkillCollection, SkillDescriptor, SkillDocument, SkillFilter, SkillSource

Answer = TypeVar("Answer")


class SyncSkillEngine:
    """A `DefaultSkillEngine` without `await`. It works inside a running event loop, too."""

    def __init__(self, source: SkillSource, options: EngineOptions = EngineOptions()) -> None:
        self.engine = DefaultSkillEngine(source, options)

    def list_skills(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        return run_sync(self.engine.list_skills(filter))

    def collections(self) -> builtins.list[SkillCollection]:
        return run_sync(self.engine.collections())

    def inventory_section(self, active: Iterable[str] = ()) -> str:
        return run_sync(self.engine.inventory_section(active))

    def browse(self, path: str = "", query: str | None = None) -> dict[str, Any]:
        return run_sync(self.engine.browse(path, query))

    def find(self, task: str, limit: int = 10, *, rerank: bool = True) -> builtins.list[FoundSkill]:
        return run_sync(self.engine.find(task, limit, rerank=rerank))

    def load(self, skill_id: str) -> SkillDocument:
        return run_sync(self.engine.load(skill_id))

    def resolve_and_render(self, ids: Iterable[str]) -> builtins.list[ResolvedSkill]:
        return run_sync(self.engine.resolve_and_render(ids))

    def files(self, skill_id: str) -> builtins.list[str]:
        return run_sync(self.engine.files(skill_id))

    def read_file(self, skill_id: str, path: str) -> str:
        return run_sync(self.engine.read_file(skill_id, path))

    def prepare_turn(self, message: str, skill_references: Sequence[str] | None = None) -> Turn:
        return run_sync(prepare_turn(self.engine, message, skill_references))

    def model_input(
        self,
        message: str,
        preload_skills: Sequence[str] | None = None,
        skill_references: Sequence[str] | None = None,
    ) -> ModelInput:
        return run_sync(model_input(self.engine, message, preload_skills, skill_references))


def run_sync(question: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine and return its result; inside a running event loop, too."""
    try:
        asyncio.get_running_loop()
        run = _run_in_thread
    except RuntimeError:
        run = _run  # called below: inside the handler this error would be the context of any other
    return run(question)


def _run(question: Coroutine[Any, Any, Answer]) -> Answer:
    """Do what asyncio.run does, but keep the thread's own event loop, which the program may have set."""
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(question)


def _run_in_thread(question: Coroutine[Any, Any, Answer]) -> Answer:
    """Run in another thread, because this one has a running loop, as in a notebook.

    The thread has the caller's context variables, so that observers can tell which request it is.
    """
    answers: builtins.list[Answer] = []
    errors: builtins.list[BaseException] = []

    def work() -> None:
        try:
            answers.append(_run(question))
        except BaseException as error:  # raised again by the caller
            errors.append(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,))
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return answers[0]

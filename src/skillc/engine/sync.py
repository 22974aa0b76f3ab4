"""The engine for scripts: the same methods, without `await`."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from skillc.engine.engine import DefaultSkillEngine, EngineOptions
from skillc.engine.turn import model_input, prepare_turn
from skillc.library.sources import SkillSource

Answer = TypeVar("Answer")
P = ParamSpec("P")


def run_sync(request: Coroutine[Any, Any, Answer]) -> Answer:
    """Run a coroutine and return its result; inside a running event loop, too."""
    try:
        asyncio.get_running_loop()
        run = _run_in_thread
    except RuntimeError:
        run = _run  # called below: inside the handler this error would be the context of any other
    return run(request)


def _run(request: Coroutine[Any, Any, Answer]) -> Answer:
    """Do what asyncio.run does, but keep the thread's own event loop, which the program may have set."""
    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        return runner.run(request)


def _run_in_thread(request: Coroutine[Any, Any, Answer]) -> Answer:
    """Run in another thread, because this one has a running loop, as in a notebook.

    The thread has the caller's context variables, so that observers can tell which request it is.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, _run, request).result()


def _sync(
    function: Callable[Concatenate[DefaultSkillEngine, P], Coroutine[Any, Any, Answer]],
) -> Callable[Concatenate[SyncSkillEngine, P], Answer]:
    """Return a coroutine function of the engine as a method without `await`."""

    @wraps(function)
    def method(self: SyncSkillEngine, /, *arguments: P.args, **options: P.kwargs) -> Answer:
        return run_sync(function(self.engine, *arguments, **options))

    return method


class SyncSkillEngine:
    """A `DefaultSkillEngine` without `await`. It works inside a running event loop, too."""

    def __init__(self, source: SkillSource, options: EngineOptions = EngineOptions()) -> None:
        self.engine = DefaultSkillEngine(source, options)

    list_skills = _sync(DefaultSkillEngine.list_skills)
    collections = _sync(DefaultSkillEngine.collections)
    inventory_section = _sync(DefaultSkillEngine.inventory_section)
    browse = _sync(DefaultSkillEngine.browse)
    find = _sync(DefaultSkillEngine.find)
    load = _sync(DefaultSkillEngine.load)
    resolve_and_render = _sync(DefaultSkillEngine.resolve_and_render)
    files = _sync(DefaultSkillEngine.files)
    read_file = _sync(DefaultSkillEngine.read_file)
    prepare_turn = _sync(prepare_turn)
    model_input = _sync(model_input)

"""Conversations, each held in a framework's own way: what the user says in, what the model says out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from skillc import BuiltAgent
from tests.adapters.providers import Provider

OWN = "You answer sailors."
Talk = Callable[[BuiltAgent, Provider, Iterable[str]], list[str]]
NAMES = (
    *("openai_agents.sync_talk", "openai_agents.async_talk", "openai_agents.streamed"),
    *("anthropic.sync_talk", "anthropic.async_talk", "anthropic.streamed", "langchain.sync_talk"),
    *("langchain.async_talk", "langchain.piecewise", "pydantic_ai.sync_talk", "pydantic_ai.http"),
    "pydantic_ai.piecewise",
)


class Later:
    """A module that is imported when something of it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # which pytest looks for in all that a module has
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


def driver(name: str) -> Talk:
    """A way to talk by its name; the framework is imported now, so that collecting tests stays quick."""
    framework, _, way = name.partition(".")
    talk: Talk = getattr(import_module(f"tests.adapters.drive_{framework}"), way)
    return talk

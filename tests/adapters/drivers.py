"""Conversations, each held in a framework's own way: what the user says in, what the model says out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module

from skillc import BuiltAgent
from tests.adapters.providers import Provider

OWN = "You answer sailors."
Talk = Callable[[BuiltAgent, Provider, Iterable[str]], list[str]]
NAMES = (
    "openai_agents.sync_talk",
    "openai_agents.async_talk",
    "openai_agents.streamed",
    "anthropic.sync_talk",
    "anthropic.async_talk",
    "anthropic.streamed",
    "langchain.sync_talk",
    "langchain.async_talk",
    "langchain.piecewise",
    "pydantic_ai.sync_talk",
    "pydantic_ai.http",
    "pydantic_ai.piecewise",
)


def driver(name: str) -> Talk:
    """A way to talk by its name; the framework is imported now, so that collecting tests stays quick."""
    framework, _, way = name.partition(".")
    talk: Talk = getattr(import_module(f"tests.adapters.drive_{framework}"), way)
    return talk

"""The engine that the prompting commands work with: configured repositories, embedded skills last."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from skillc import places
from skillc.cli.printing import warn
from skillc.engine import DefaultSkillEngine, EngineOptions
from skillc.library.configuration import SkillsConfig
from skillc.library.repositories import resolve_repositories

if TYPE_CHECKING:
    from skillc.library.composite import CompositeSkillSource

Answer = TypeVar("Answer")


def run(question: Coroutine[Any, Any, Answer]) -> Answer:
    return asyncio.run(question)


def library() -> tuple[CompositeSkillSource, SkillsConfig]:
    """The source of all configured repositories, and the configuration."""
    cwd = places.current_directory()
    config = SkillsConfig.load(cwd)
    warn(config.diagnostics)
    return resolve_repositories(config, next(places.project_roots(cwd), None)), config


def engine() -> DefaultSkillEngine:
    source, config = library()
    return DefaultSkillEngine(
        source,
        EngineOptions(
            max_injection_bytes=config.max_injection_bytes,
            inventory_threshold=config.inventory_threshold,
            enabled=config.enabled,
        ),
    )

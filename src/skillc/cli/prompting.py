"""The engine that the prompting commands work with: configured repositories, embedded skills last."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from skillc import paths
from skillc.cli.output import warn
from skillc.cli.progress import watch_reading
from skillc.engine import DefaultSkillEngine, EngineOptions
from skillc.library import (
    CompositeSkillSource,
    SkillRepositoryConfig,
    SkillsConfig,
    repositories_in_force,
    resolve_repositories,
)

if TYPE_CHECKING:
    from skillc.library import SkillSource

Answer = TypeVar("Answer")


def run(question: Coroutine[Any, Any, Answer], library: SkillSource | None = None) -> Answer:
    """The answer to a question, and a word about the repositories of `library` that had no part in it."""
    gc.disable()  # of a hundred thousand values for one answer, all are needed to its end
    try:
        answer = asyncio.run(question)
    finally:
        gc.enable()
    warn(library.warnings() if isinstance(library, CompositeSkillSource) else ())
    return answer


def library() -> tuple[CompositeSkillSource, SkillsConfig]:
    """The source of all configured repositories, and the configuration."""
    watch_reading()
    config, project = _configuration()
    return resolve_repositories(config, project), config


def repositories() -> tuple[SkillRepositoryConfig, ...]:
    """The repositories in force themselves."""
    return repositories_in_force(*_configuration())


def _configuration() -> tuple[SkillsConfig, str | None]:
    """What skills.toml says, and the nearest project."""
    cwd = paths.current_directory()
    config = SkillsConfig.load(cwd)
    warn(config.diagnostics)
    return config, next(paths.library_roots(cwd), None)


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

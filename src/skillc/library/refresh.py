"""Refreshing repositories now, whatever their intervals say; one that fails takes no other down."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from skillc.errors import RepositoryUnavailable, SkillcError, unexpected
from skillc.library.config import SkillRepositoryConfig
from skillc.library.repositories import source_of


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What came of it: `before` is None where nothing was kept, `failure` None where all is well.

    A repository that is `stale` could not be refreshed and serves what it had.
    """

    name: str
    type: str
    status: str
    before: int | None = None
    skills: int = 0
    commit: str | None = None
    failure: SkillcError | None = None


async def refresh_repositories(repositories: Iterable[SkillRepositoryConfig]) -> list[Refreshed]:
    """Refresh all at once; the results are in their order."""
    return await asyncio.gather(*(_refreshed(repository) for repository in repositories))


async def _refreshed(repository: SkillRepositoryConfig) -> Refreshed:
    name, kind, before = repository.name, repository.type, None
    try:
        source = source_of(repository)
        cached_count, again = getattr(source, "cached_count", None), getattr(source, "refresh", None)
        before = await cached_count() if cached_count else None
        if again:
            await again()
        skills = len(await source.list())
    except Exception as error:
        return Refreshed(name, kind, "unavailable", before, failure=_failure(name, unexpected(error)))
    status = "unused" if getattr(source, "unused", False) else getattr(source, "status", "ok")
    problem = getattr(source, "error", None)
    failure = _failure(name, RepositoryUnavailable(name, problem)) if problem else None
    return Refreshed(name, kind, status, before, skills, getattr(source, "commit", None), failure)


def _failure(name: str, error: SkillcError) -> SkillcError:
    """An error under the repository's name; a source calls itself by its address."""
    if not isinstance(error, RepositoryUnavailable):
        return error if error.code != SkillcError.code else RepositoryUnavailable(name, error.message)
    return RepositoryUnavailable(name, error.reason)

"""Refresh repositories now, whatever their intervals say."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

from skillc import atomic, paths
from skillc.contract import hidden
from skillc.errors import RepositoryUnavailable, SkillcError, unexpected
from skillc.library.repositories.config import SkillRepositoryConfig, SkillsConfig, repositories_in_force
from skillc.library.repositories.resolve import source_of
from skillc.spelling import unknown_repository


@dataclass(frozen=True, slots=True)
class Refresh:
    """The outcome of a refresh: `before` is None if nothing was cached, `failure` None if all is well.

    A repository that is `stale` could not be refreshed and serves what it had.
    """

    name: str
    type: str
    status: str
    before: int | None = None
    skills: int = 0
    commit: str | None = None
    failure: SkillcError | None = hidden(None)
    error: str | None = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "error", self.failure.message if self.failure else None)


def choose_repositories(
    config: SkillsConfig, project_root: str | None, name: str | None
) -> list[SkillRepositoryConfig]:
    """Return the repositories in force, or the one of a name; raises InvalidOption for no such name."""
    repositories = repositories_in_force(config, project_root)
    if name is not None and all(repository.name != name for repository in repositories):
        raise unknown_repository(name, [repository.name for repository in repositories])
    return [repository for repository in repositories if name in (None, repository.name)]


async def refresh_repositories(
    repositories: Iterable[SkillRepositoryConfig], *, time_out: float | None = None
) -> list[Refresh]:
    """Refresh all at once, whatever their intervals say; a failure of one affects no other.

    Copies of their skills are brought up to date when they are next used. `time_out` is how many seconds a
    repository may take, in place of its own.
    """
    results = await asyncio.gather(*(_refresh(repository, time_out) for repository in repositories))
    if paths.home() is not None:
        await asyncio.to_thread(atomic.discard, paths.recent_copies())
    return results


async def _refresh(repository: SkillRepositoryConfig, time_out: float | None) -> Refresh:
    name, kind, before = repository.name, repository.type, None
    try:
        source = source_of(repository, time_out)
        count = getattr(source, "cached_count", None)
        before = await count() if count else None
        refresh = getattr(source, "refresh", None)
        if refresh:
            await refresh()
        skills = len(await source.list())
    except Exception as error:
        return Refresh(name, kind, "unavailable", before, failure=_rename(name, unexpected(error)))
    status = "unused" if getattr(source, "unused", False) else getattr(source, "status", "ok")
    problem = getattr(source, "error", None)
    failure = RepositoryUnavailable(name, problem) if problem else None
    return Refresh(name, kind, status, before, skills, getattr(source, "commit", None), failure)


def _rename(name: str, error: SkillcError) -> SkillcError:
    """Return an error under the repository's name, because a source names itself by its address."""
    if isinstance(error, RepositoryUnavailable):
        return RepositoryUnavailable(name, error.reason, error.details)
    return error if error.code != SkillcError.code else RepositoryUnavailable(name, error.message)

"""From configuration to one source, the only way that all surfaces take; and refresh repositories now."""

from __future__ import annotations

import asyncio
import builtins
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from skillc import atomic, paths
from skillc.contract import hidden
from skillc.errors import InvalidConfiguration, RepositoryUnavailable, SkillcError, unexpected
from skillc.library.repositories.config import SkillRepositoryConfig, SkillsConfig, repositories_in_force
from skillc.library.repositories.variables import check_variables
from skillc.library.sources import (
    ALL,
    EMBEDDED,
    TIME_OUT,
    CompositeSkillSource,
    EmbeddedSkillSource,
    FilesystemSkillSource,
    NamedSource,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillScope,
    SkillSource,
)
from skillc.remotes.http import BearerAuth, HeaderAuth, StoredAuth, find_token, hide_secrets
from skillc.skills import SkillId
from skillc.spelling import unknown_repository

ALLOW = "SKILLC_ALLOW_COMMANDS"

# How long a server may be silent, as a part of its repository's time-out: less than the composite
# waits, so that the source can say what is wrong, and no thread outlives its question.
SILENCE = 5 / 6
HTTP_SILENCE = 1 / 3


class UnavailableSource(SkillSource):
    """A repository that could not be set up: every question is answered with the reason [D57]."""

    def __init__(self, repository: SkillRepositoryConfig, error: Exception) -> None:
        self.kind = repository.type
        prefix = f"repository '{repository.name}': "  # the failure names it
        reason = unexpected(error).message.replace(prefix, "")
        self._failure = RepositoryUnavailable(repository.name, hide_secrets(reason))

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        raise self._failure

    async def load(self, skill_id: SkillId) -> SkillDocument:
        raise self._failure


def resolve_repositories(
    config: SkillsConfig, project_root: str | os.PathLike[str] | None = None, *, time_out: float = TIME_OUT
) -> CompositeSkillSource:
    """Return the configured repositories in order, or the default chain, and the embedded skills last.

    MCP repositories come after even those, wherever they are configured: they can't replace any skill.
    Without a `project_root` the default chain has the user's skills alone. `time_out` is how many
    seconds a repository may take to answer before the others are served without it; one that sets
    `timeout_seconds` has its own. One that can't be set up is unavailable, and says why when it is used.
    """
    members: list[NamedSource] = []
    mcp: list[NamedSource] = []
    for repository in repositories_in_force(config, project_root):
        patience = repository.time_out or time_out
        try:
            source = source_of(repository, patience)
        except (SkillcError, OSError, ValueError) as error:
            source = UnavailableSource(repository, error)
        own = NamedSource(repository.name, source, repository.required, time_out=patience)
        (mcp if repository.type == "mcp" else members).append(own)
    members.append(NamedSource(EMBEDDED, EmbeddedSkillSource(), fallback=True))
    return CompositeSkillSource([*members, *mcp], time_out=time_out)


def source_of(repository: SkillRepositoryConfig, time_out: float | None = None) -> SkillSource:
    """Return the source that a repository's settings describe, with variables expanded.

    Raises InvalidConfiguration for a variable that is not set, or that its project may not use.
    """
    if repository.type == "filesystem":
        scope = SkillScope.USER if repository.base == paths.home() else SkillScope.PROJECT
        required = bool(repository.file)  # the default folders need not exist
        return FilesystemSkillSource(repository.path, scope, strict=repository.strict, required=required)
    patience = time_out or repository.time_out or TIME_OUT
    settings = repository.expand_settings()
    check_variables(repository)
    if repository.type == "git":
        return _git_source(repository, settings, round(patience * SILENCE, 2))
    return _server_source(repository, settings, patience)


@contextmanager
def _names_repository(repository: SkillRepositoryConfig) -> Iterator[None]:
    """Say of wrong settings which file and which repository has them."""
    try:
        yield
    except InvalidConfiguration as error:
        reason = error.message.rpartition(": ")[2]
        raise InvalidConfiguration(repository.file, f"repository '{repository.name}': {reason}") from None


def _server_source(
    repository: SkillRepositoryConfig, settings: Mapping[str, Any], patience: float
) -> SkillSource:
    """Return the source that asks a server, which may be a program on this machine."""
    from skillc.library.sources import (  # slow to import
        ClawHubSkillSource,
        HttpSkillSource,
        McpSkillSource,
        WellKnownSkillSource,
    )

    token, header = settings.get("auth_token"), settings.get("auth_header")
    auth = (HeaderAuth(header, token) if header else BearerAuth(token)) if token else None
    refresh = float(settings.get("refresh_seconds", 60))
    if repository.type != "mcp":
        classes = (HttpSkillSource, ClawHubSkillSource, WellKnownSkillSource)
        source = next(each for each in classes if each.kind == repository.type)
        if auth is None and repository.type != "well-known" and (stored := find_token(settings["url"])):
            auth = StoredAuth(stored)
        with _names_repository(repository):
            return source(
                settings["url"],
                auth,
                refresh,
                name=repository.name,
                time_out=round(patience * HTTP_SILENCE, 2),
                allow_hosts=settings.get("allow_hosts", ()),
            )
    command, problem = settings.get("command", []), ""
    if command and repository.of_project and os.environ.get(ALLOW) != "1":
        # A project that was only cloned must not start programs.
        problem = f"its command is set by a project; set it in ~/.skillc/skills.toml instead, or {ALLOW}=1"
    with _names_repository(repository):
        return McpSkillSource(
            repository.name,
            command=command,
            url=settings.get("url", ""),
            auth=auth,
            cwd=repository.base or None,
            cache_ttl=refresh,
            time_out=round(patience * SILENCE, 2),
            problem=problem,
        )


def _git_source(
    repository: SkillRepositoryConfig, settings: Mapping[str, Any], silence: float
) -> SkillSource:
    from skillc.library.sources import GitSkillSource
    from skillc.remotes.git import GitRef, GitSkillConfig, HttpsToken, SshKey

    token, key = settings.get("auth_token"), settings.get("ssh_key")
    with _names_repository(repository):
        config = GitSkillConfig(
            settings["url"],
            GitRef(settings.get("ref_type", "branch"), settings.get("git_ref", "main")),
            skills_root=settings.get("skills_root"),
            refresh_interval=float(settings.get("refresh_seconds", 300)),
            auth=HttpsToken(token) if token else SshKey(key) if key else None,
            depth=settings.get("depth", 1) or None,
            strict=repository.strict,
            time_out=silence,
            allow_hosts=tuple(settings.get("allow_hosts", ())),
        )
    return GitSkillSource(config)


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

"""From configuration to one source: the single way that all surfaces take."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from skillc import paths
from skillc.errors import InvalidConfiguration
from skillc.library.config import SkillRepositoryConfig, SkillsConfig, default_repositories
from skillc.library.descriptors import SkillScope
from skillc.library.embedded import EmbeddedSkillSource
from skillc.library.filesystem import FilesystemSkillSource
from skillc.library.library import TIME_OUT, CompositeSkillSource, NamedSource
from skillc.library.source import SkillSource

EMBEDDED = "embedded"  # the name of what comes with skc
ALLOW = "SKILLC_ALLOW_COMMANDS"

# How long a server may be silent, as a part of what its repository may take: less than the composite
# waits, so that it is the source that says what is wrong, and no thread outlives its question.
GIT_SILENCE = 5 / 6
HTTP_SILENCE = 1 / 3


def resolve_repositories(
    config: SkillsConfig, project_root: str | os.PathLike[str] | None = None, *, time_out: float = TIME_OUT
) -> CompositeSkillSource:
    """The configured repositories in order, or the default chain, and the embedded skills last.

    What comes over MCP is after even those, wherever it is configured: it takes the place of nothing.
    Without a `project_root` the default chain has the user's skills alone. `time_out` is how many
    seconds a repository may take to answer before the others are served without it; one that sets
    `timeout_seconds` has its own.
    """
    named: list[NamedSource] = []
    remote: list[NamedSource] = []
    for repository in repositories_in_force(config, project_root):
        patience = repository.time_out or time_out
        source = source_of(repository, patience)
        own = NamedSource(repository.name, source, repository.required, time_out=patience)
        (remote if repository.type == "mcp" else named).append(own)
    embedded = NamedSource(EMBEDDED, EmbeddedSkillSource(), fallback=True)
    return CompositeSkillSource([*named, embedded, *remote], time_out=time_out)


def repositories_in_force(
    config: SkillsConfig, project_root: str | os.PathLike[str] | None = None
) -> tuple[SkillRepositoryConfig, ...]:
    """Those that are configured or, where none is, the default chain."""
    roots = [os.fspath(project_root)] if project_root else []
    return config.repositories or default_repositories(roots, paths.home())


def source_of(repository: SkillRepositoryConfig, time_out: float | None = None) -> SkillSource:
    """The source that a repository's settings describe; variables are expanded here, where it is used."""
    if repository.type == "filesystem":
        scope = SkillScope.USER if repository.base == paths.home() else SkillScope.PROJECT
        configured = bool(repository.file)  # only what somebody wrote down must be there
        return FilesystemSkillSource(repository.path, scope, strict=repository.strict, required=configured)
    settings = repository.expanded()
    patience = time_out or repository.time_out or TIME_OUT
    if repository.type == "mcp":
        return _mcp(repository, settings)
    if repository.type == "http":
        return _http(repository.name, settings, round(patience * HTTP_SILENCE, 2))
    return _git(repository, settings, round(patience * GIT_SILENCE, 2))


def _http(name: str, settings: Mapping[str, Any], silence: float) -> SkillSource:
    from skillc.library.http import BearerAuth, HeaderAuth, HttpSkillSource  # with the extra `http` alone

    token, header = settings.get("auth_token"), settings.get("auth_header")
    auth = (HeaderAuth(header, token) if header else BearerAuth(token)) if token else None
    refresh = float(settings.get("refresh_seconds", 60))
    return HttpSkillSource(settings["url"], auth, refresh, name=name, time_out=silence)


def _mcp(repository: SkillRepositoryConfig, settings: Mapping[str, Any]) -> SkillSource:
    from skillc.library.http import BearerAuth, HeaderAuth
    from skillc.library.mcp import McpSkillSource

    token, header = settings.get("auth_token"), settings.get("auth_header")
    command = settings.get("command", [])
    return McpSkillSource(
        repository.name,
        command=command,
        url=settings.get("url", ""),
        auth=(HeaderAuth(header, token) if header else BearerAuth(token)) if token else None,
        cwd=repository.base or None,
        cache_ttl=float(settings.get("refresh_seconds", 60)),
        problem=_not_allowed(repository) if command else "",
    )


def _not_allowed(repository: SkillRepositoryConfig) -> str:
    """Why a command is not run: a project that was only cloned must not start programs."""
    home = paths.home()
    if os.environ.get(ALLOW) == "1" or (home and os.path.realpath(repository.base) == os.path.realpath(home)):
        return ""
    return f"its command is set by a project; set it in ~/.skillc/skills.toml instead, or {ALLOW}=1"


def _git(repository: SkillRepositoryConfig, settings: Mapping[str, Any], silence: float) -> SkillSource:
    from skillc.library.git import GitRef, GitSkillConfig, GitSkillSource, HttpsToken, SshKey

    token, key = settings.get("auth_token"), settings.get("ssh_key")
    try:
        config = GitSkillConfig(
            settings["url"],
            GitRef(settings.get("ref_type", "branch"), settings.get("git_ref", "main")),
            skills_root=settings.get("skills_root"),
            refresh_interval=float(settings.get("refresh_seconds", 300)),
            auth=HttpsToken(token) if token else SshKey(key) if key else None,
            depth=settings.get("depth", 1) or None,
            strict=repository.strict,
            time_out=silence,
        )
    except InvalidConfiguration as error:
        reason = error.message.rpartition(": ")[2]
        raise InvalidConfiguration(repository.file, f"repository '{repository.name}': {reason}") from None
    return GitSkillSource(config)

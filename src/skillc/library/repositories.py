"""From configuration to one source: the single way that all surfaces take."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from skillc import places
from skillc.errors import InvalidConfiguration
from skillc.library.composite import CompositeSkillSource, NamedSource
from skillc.library.configuration import SkillRepositoryConfig, SkillsConfig, default_repositories
from skillc.library.descriptors import SkillScope
from skillc.library.embedded import EmbeddedSkillSource
from skillc.library.filesystem import FilesystemSkillSource
from skillc.library.sources import SkillSource

ALLOW = "SKILLC_ALLOW_COMMANDS"
GIT_SILENCE = 25.0  # seconds; less than the composite waits, so that no thread outlives its question


def resolve_repositories(config: SkillsConfig, project_root: str | None = None) -> CompositeSkillSource:
    """The configured repositories in order, or the default chain, and the embedded skills last."""
    home = places.home()
    roots = [project_root] if project_root else []
    chain = config.repositories or default_repositories(roots, home)
    named = [NamedSource(repo.name, _source(repo, home), required=repo.required) for repo in chain]
    embedded = NamedSource("embedded", EmbeddedSkillSource(), fallback=True)
    # What comes over MCP takes the place of nothing else, wherever it is configured.
    remote = [own for own in named if getattr(own.source, "kind", "") == "mcp"]
    return CompositeSkillSource([*(own for own in named if own not in remote), embedded, *remote])


def _source(repository: SkillRepositoryConfig, home: str | None) -> SkillSource:
    """The source that a repository's settings describe; variables are expanded here, where it is used."""
    if repository.type == "filesystem":
        scope = SkillScope.USER if repository.base == home else SkillScope.PROJECT
        configured = bool(repository.file)  # only what somebody wrote down must be there
        return FilesystemSkillSource(repository.path, scope, strict=repository.strict, required=configured)
    settings = repository.expanded()
    if repository.type == "mcp":
        return _mcp(repository, settings, home)
    return _http(repository.name, settings) if repository.type == "http" else _git(repository, settings)


def _http(name: str, settings: Mapping[str, Any]) -> SkillSource:
    from skillc.library.http import BearerAuth, HeaderAuth, HttpSkillSource  # with the extra `http` alone

    token, header = settings.get("auth_token"), settings.get("auth_header")
    auth = (HeaderAuth(header, token) if header else BearerAuth(token)) if token else None
    return HttpSkillSource(settings["url"], auth, float(settings.get("refresh_seconds", 60)), name=name)


def _mcp(repository: SkillRepositoryConfig, settings: Mapping[str, Any], home: str | None) -> SkillSource:
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
        problem=_not_allowed(repository, home) if command else "",
    )


def _not_allowed(repository: SkillRepositoryConfig, home: str | None) -> str:
    """Why a command is not run: a project that was only cloned must not start programs."""
    if os.environ.get(ALLOW) == "1" or (home and os.path.realpath(repository.base) == os.path.realpath(home)):
        return ""
    return f"its command is set by a project; set it in ~/.skillc/skills.toml instead, or {ALLOW}=1"


def _git(repository: SkillRepositoryConfig, settings: Mapping[str, Any]) -> SkillSource:
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
            time_out=GIT_SILENCE,
        )
    except InvalidConfiguration as error:
        reason = error.message.rpartition(": ")[2]
        raise InvalidConfiguration(repository.file, f"repository '{repository.name}': {reason}") from None
    return GitSkillSource(config)

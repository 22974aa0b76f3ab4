"""From configuration to one source: the single way that all surfaces take."""

from __future__ import annotations

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

EMBEDDED = "embedded"  # the name of what comes with skc
GIT_SILENCE = 25.0  # seconds; less than the composite waits, so that no thread outlives its question


def resolve_repositories(config: SkillsConfig, project_root: str | None = None) -> CompositeSkillSource:
    """The configured repositories in order, or the default chain, and the embedded skills last."""
    chain = repositories_in_force(config, project_root)
    named = [NamedSource(repo.name, source_of(repo), required=repo.required) for repo in chain]
    return CompositeSkillSource([*named, NamedSource(EMBEDDED, EmbeddedSkillSource(), fallback=True)])


def repositories_in_force(
    config: SkillsConfig, project_root: str | None = None
) -> tuple[SkillRepositoryConfig, ...]:
    """Those that are configured or, where none is, the default chain."""
    return config.repositories or default_repositories([project_root] if project_root else [], places.home())


def source_of(repository: SkillRepositoryConfig) -> SkillSource:
    """The source that a repository's settings describe; variables are expanded here, where it is used."""
    if repository.type == "filesystem":
        scope = SkillScope.USER if repository.base == places.home() else SkillScope.PROJECT
        configured = bool(repository.file)  # only what somebody wrote down must be there
        return FilesystemSkillSource(repository.path, scope, strict=repository.strict, required=configured)
    settings = repository.expanded()
    return _http(repository.name, settings) if repository.type == "http" else _git(repository, settings)


def _http(name: str, settings: Mapping[str, Any]) -> SkillSource:
    from skillc.library.http import BearerAuth, HeaderAuth, HttpSkillSource  # with the extra `http` alone

    token, header = settings.get("auth_token"), settings.get("auth_header")
    auth = (HeaderAuth(header, token) if header else BearerAuth(token)) if token else None
    return HttpSkillSource(settings["url"], auth, float(settings.get("refresh_seconds", 60)), name=name)


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

"""From configuration to one source: the single way that all surfaces take."""

from __future__ import annotations

from skillc import places
from skillc.errors import InvalidConfiguration
from skillc.library.composite import CompositeSkillSource, NamedSource
from skillc.library.configuration import SkillRepositoryConfig, SkillsConfig, default_repositories
from skillc.library.descriptors import SkillScope
from skillc.library.embedded import EmbeddedSkillSource
from skillc.library.filesystem import FilesystemSkillSource
from skillc.library.sources import SkillSource


def resolve_repositories(config: SkillsConfig, project_root: str | None = None) -> CompositeSkillSource:
    """The configured repositories in order, or the default chain, and the embedded skills last."""
    home = places.home()
    roots = [project_root] if project_root else []
    chain = config.repositories or default_repositories(roots, home)
    named = [NamedSource(repo.name, _source(repo, home), required=repo.required) for repo in chain]
    return CompositeSkillSource([*named, NamedSource("embedded", EmbeddedSkillSource(), fallback=True)])


def _source(repository: SkillRepositoryConfig, home: str | None) -> SkillSource:
    if repository.type == "filesystem":
        scope = SkillScope.USER if repository.base == home else SkillScope.PROJECT
        configured = bool(repository.file)  # only what somebody wrote down must be there
        return FilesystemSkillSource(repository.path, scope, strict=repository.strict, required=configured)
    raise InvalidConfiguration(
        repository.file, f"repository '{repository.name}': {repository.type} is not supported yet"
    )

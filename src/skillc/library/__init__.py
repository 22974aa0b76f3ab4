"""Where skills come from: the stores of projects and the home, and repositories of every kind.

Gives folders, descriptions and texts; does not compile, show or run them.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.config import (
        SkillRepositoryConfig as SkillRepositoryConfig,
        SkillsConfig as SkillsConfig,
    )
    from skillc.library.copies import copy_path as copy_path
    from skillc.library.descriptors import (
        SkillCollection as SkillCollection,
        SkillDescriptor as SkillDescriptor,
        SkillDocument as SkillDocument,
        SkillFilter as SkillFilter,
        SkillScope as SkillScope,
        derive_collections as derive_collections,
        read_descriptions as read_descriptions,
    )
    from skillc.library.edit import (
        NewRepository as NewRepository,
        add_repository as add_repository,
        file_to_edit as file_to_edit,
        names_in as names_in,
        remove_repository as remove_repository,
    )
    from skillc.library.embedded import EmbeddedSkillSource as EmbeddedSkillSource
    from skillc.library.filesystem import FilesystemSkillSource as FilesystemSkillSource
    from skillc.library.find import find_skills as find_skills
    from skillc.library.git import (
        GitRef as GitRef,
        GitSkillConfig as GitSkillConfig,
        GitSkillSource as GitSkillSource,
        HttpsToken as HttpsToken,
        SshKey as SshKey,
    )
    from skillc.library.http import (
        BearerAuth as BearerAuth,
        HeaderAuth as HeaderAuth,
        HttpSkillSource as HttpSkillSource,
    )
    from skillc.library.library import (
        CompositeSkillSource as CompositeSkillSource,
        NamedSource as NamedSource,
    )
    from skillc.library.locate import locate_skill as locate_skill
    from skillc.library.mcp import McpSkillSource as McpSkillSource
    from skillc.library.memory import InMemorySkillSource as InMemorySkillSource
    from skillc.library.repositories import (
        Refresh as Refresh,
        refresh_repositories as refresh_repositories,
        repositories_in_force as repositories_in_force,
        resolve_repositories as resolve_repositories,
    )
    from skillc.library.snapshot import SourceSnapshot as SourceSnapshot, snapshot_of as snapshot_of
    from skillc.library.source import ALL as ALL, SkillSource as SkillSource, find_in_source as find_in_source
    from skillc.library.stores import (
        GLOBAL as GLOBAL,
        ORIGIN as ORIGIN,
        Skill as Skill,
        at_path as at_path,
        import_root as import_root,
        is_compiled as is_compiled,
        is_skill as is_skill,
        resolve as resolve,
        stored_skills as stored_skills,
    )
    from skillc.library.wrappers import (
        FilteredSkillSource as FilteredSkillSource,
        PrefixedSkillSource as PrefixedSkillSource,
        RenamedSkillSource as RenamedSkillSource,
    )
else:
    __getattr__ = front_door(
        __name__,
        {
            "stores": (  # first: what agents use most
                "GLOBAL ORIGIN Skill at_path import_root is_compiled is_skill resolve stored_skills"
            ),
            "find": "find_skills",
            "config": "SkillRepositoryConfig SkillsConfig",
            "copies": "copy_path",
            "locate": "locate_skill",
            "descriptors": (
                "SkillCollection SkillDescriptor SkillDocument SkillFilter SkillScope derive_collections "
                "read_descriptions"
            ),
            "edit": "NewRepository add_repository file_to_edit names_in remove_repository",
            "embedded": "EmbeddedSkillSource",
            "filesystem": "FilesystemSkillSource",
            "git": "GitRef GitSkillConfig GitSkillSource HttpsToken SshKey",
            "http": "BearerAuth HeaderAuth HttpSkillSource",
            "library": "CompositeSkillSource NamedSource",
            "mcp": "McpSkillSource",
            "memory": "InMemorySkillSource",
            "repositories": "Refresh refresh_repositories repositories_in_force resolve_repositories",
            "snapshot": "SourceSnapshot snapshot_of",
            "source": "ALL SkillSource find_in_source",
            "wrappers": "FilteredSkillSource PrefixedSkillSource RenamedSkillSource",
        },
    )

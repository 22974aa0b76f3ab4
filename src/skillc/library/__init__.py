"""Where skills come from: the stores of projects and the home, and repositories of every kind.

Gives folders, descriptions and texts; does not compile, show or run them.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.config import SkillsConfig as SkillsConfig
    from skillc.library.copies import copy_path as copy_path
    from skillc.library.edit import (
        NewRepository as NewRepository,
        add_repository as add_repository,
        file_to_edit as file_to_edit,
        names_in as names_in,
        remove_repository as remove_repository,
    )
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
    from skillc.library.repositories import (
        EmbeddedSkillSource as EmbeddedSkillSource,
        Refresh as Refresh,
        refresh_repositories as refresh_repositories,
        repositories_in_force as repositories_in_force,
        resolve_repositories as resolve_repositories,
    )
    from skillc.library.source import (
        ALL as ALL,
        InMemorySkillSource as InMemorySkillSource,
        SkillCollection as SkillCollection,
        SkillDescriptor as SkillDescriptor,
        SkillDocument as SkillDocument,
        SkillFilter as SkillFilter,
        SkillScope as SkillScope,
        SkillSource as SkillSource,
        derive_collections as derive_collections,
        find_in_source as find_in_source,
        read_descriptions as read_descriptions,
    )
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
        SourceSnapshot as SourceSnapshot,
        snapshot_of as snapshot_of,
    )
else:
    __getattr__ = front_door(
        __name__,
        {
            "stores": (  # first: what agents use most
                "GLOBAL ORIGIN Skill at_path import_root is_compiled is_skill resolve stored_skills"
            ),
            "find": "find_skills",
            "config": "SkillsConfig",
            "copies": "copy_path",
            "locate": "locate_skill",
            "edit": "NewRepository add_repository file_to_edit names_in remove_repository",
            "filesystem": "FilesystemSkillSource",
            "git": "GitRef GitSkillConfig GitSkillSource HttpsToken SshKey",
            "http": "BearerAuth HeaderAuth HttpSkillSource",
            "library": "CompositeSkillSource NamedSource",
            "mcp": "McpSkillSource",
            "repositories": (
                "EmbeddedSkillSource Refresh refresh_repositories repositories_in_force resolve_repositories"
            ),
            "source": (
                "ALL InMemorySkillSource SkillCollection SkillDescriptor SkillDocument SkillFilter "
                "SkillScope SkillSource derive_collections find_in_source read_descriptions"
            ),
            "wrappers": (
                "FilteredSkillSource PrefixedSkillSource RenamedSkillSource SourceSnapshot snapshot_of"
            ),
        },
    )

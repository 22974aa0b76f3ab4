"""Sources of skills: the stores of projects and the home, and repositories of every kind.

Gives folders, descriptions and texts; does not compile, show or run them.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.config import (
        SkillRepositoryConfig,
        SkillsConfig,
        find_skills_file,
        repositories_in_force,
    )
    from skillc.library.deployments import (
        LEFT_OUT,
        LISTED,
        ON_DEMAND,
        DeploymentRecord,
        check_deployments,
        deployments_by_source,
        find_deployment,
        find_record_damage,
        forget_deployments,
        is_path_target,
        lock_store,
        parse_record,
        read_deployments,
        record_deployments,
    )
    from skillc.library.edit import (
        NewRepository,
        RepositoryAddition,
        RepositoryRemoval,
        add_repository,
        remove_repository,
    )
    from skillc.library.filesystem import FilesystemSkillSource
    from skillc.library.find import describe_result, find_skills, format_results, list_folders
    from skillc.library.git import GitSkillSource
    from skillc.library.imports import (
        adopt_import,
        find_import,
        import_origin,
        read_import,
        record_imports,
        renew_import,
    )
    from skillc.library.library import CompositeSkillSource, NamedSource, SourceState
    from skillc.library.listing_record import (
        ALWAYS,
        AUTO,
        CHOICES,
        DEMAND,
        ListingRecord,
        change_listing_record,
        read_listing_record,
    )
    from skillc.library.locate import is_path, locate_installed, locate_skill, resolve_installed
    from skillc.library.mcp import McpSkillSource
    from skillc.library.memory import recall_skills
    from skillc.library.repositories import (
        EMBEDDED,
        EmbeddedSkillSource,
        Refresh,
        choose_repositories,
        refresh_repositories,
        resolve_repositories,
        source_of,
    )
    from skillc.library.rivals import Rank, Ranking, Rival
    from skillc.library.servers import ClawHubSkillSource, HttpSkillSource, WellKnownSkillSource
    from skillc.library.skill_cache import copy_path, list_copies
    from skillc.library.source import (
        ALL,
        InMemorySkillSource,
        SkillCollection,
        SkillDescriptor,
        SkillDocument,
        SkillFilter,
        SkillScope,
        SkillSource,
        SourceDiagnostic,
        derive_collections,
        find_in_source,
        read_descriptions,
        read_document,
        require_source,
    )
    from skillc.library.stores import (
        GLOBAL,
        PROJECT,
        Skill,
        at_path,
        import_root,
        is_compiled,
        is_skill,
        read_origin,
        resolve,
        roots,
        stored_skills,
    )
    from skillc.library.switches import Switch, change_switch, find_switch, parse_switch, read_switches
    from skillc.library.variables import (
        VariableUse,
        allow_variable,
        allow_variables,
        allowed_variables,
        forget_variable,
        variables_asked_for,
        variables_used,
    )
    from skillc.library.virtual import VirtualFolder
    from skillc.library.wrappers import (
        FilteredSkillSource,
        PrefixedSkillSource,
        RenamedSkillSource,
        SourceSnapshot,
        snapshot_of,
    )
else:
    __getattr__, __all__ = front_door(__name__)

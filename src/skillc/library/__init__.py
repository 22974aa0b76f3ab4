"""Sources of skills: the stores of projects and the home, and repositories of every kind.

Gives folders, descriptions and texts; does not compile, show or run them.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.addresses import LOOPBACK, guess_type, is_plain
    from skillc.library.archive import MAX_PACKED, find_root, unpack_archive, unpack_data, unwrap
    from skillc.library.clawhub import ClawHubSkillSource
    from skillc.library.clawhub.wire import (
        MAX_PAGES,
        HubSkill,
        api_base,
        check_moderation,
        discovery_addresses,
        fingerprint_of,
        list_address,
        read_base,
        read_page,
        read_summary,
        table_of,
        text_of,
        write_version,
    )
    from skillc.library.config import (
        RepositorySettings,
        SkillRepositoryConfig,
        SkillsConfig,
        repositories_in_force,
    )
    from skillc.library.credentials import (
        Credential,
        check_token,
        choose_registry,
        find_token,
        forget_credential,
        parse_registry,
        read_credentials,
        store_credential,
    )
    from skillc.library.deployments import (
        DeploymentRecord,
        check_deployments,
        find_record_damage,
        forget_deployments,
        is_path_target,
        lock_store,
        read_deployments,
        record_deployments,
    )
    from skillc.library.edit import NewRepository, add_repository, file_to_edit, names_in, remove_repository
    from skillc.library.filesystem import FilesystemSkillSource
    from skillc.library.find import describe_result, find_skills, format_results
    from skillc.library.git import GitRef, GitSkillConfig, GitSkillSource, HttpsToken, SshKey
    from skillc.library.git.config import FetchError, LoginRefused, RefNotFound, Remote, parse_address
    from skillc.library.git.login import ask_helpers, describe_variable, find_unused_tokens, with_token
    from skillc.library.git.remote_tree import RemoteTree, open_tree
    from skillc.library.hosts import Hosts, address_after, host_of, parse_host
    from skillc.library.http import BearerAuth, HeaderAuth, HttpSkillSource
    from skillc.library.http.api import (
        Answer,
        Identity,
        PublishedFile,
        PublishedSkill,
        PublishedVersion,
        RegistryApi,
    )
    from skillc.library.http.client import Response, fetch
    from skillc.library.http.jobs import advise_job, is_job, mint_token
    from skillc.library.http.wire import Failure
    from skillc.library.imports import (
        adopt_import,
        find_import,
        import_origin,
        read_import,
        record_import,
        record_imports,
    )
    from skillc.library.library import CompositeSkillSource, NamedSource
    from skillc.library.locate import locate_skill
    from skillc.library.mcp import McpSkillSource
    from skillc.library.memory import SkillMemory, recall_skills
    from skillc.library.repositories import (
        EmbeddedSkillSource,
        Refresh,
        refresh_repositories,
        resolve_repositories,
    )
    from skillc.library.secrets import hide_secrets, private_logs
    from skillc.library.site import WellKnownSkillSource
    from skillc.library.site.index import SiteIndex, index_addresses, index_beside, read_index, write_entry
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
    )
    from skillc.library.stores import (
        GLOBAL,
        ORIGIN,
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
    from skillc.library.switches import Switch, change_switch, find_switch, read_switches
    from skillc.library.traffic import describe_downloads
    from skillc.library.variables import (
        VariableUse,
        allow_variables,
        allowed_variables,
        forget_variables,
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
    __getattr__ = front_door(
        __name__,
        {
            "stores": (  # first: what agents use most
                "GLOBAL ORIGIN PROJECT Skill at_path import_root is_compiled is_skill read_origin resolve "
                "roots stored_skills"
            ),
            "find": "describe_result find_skills format_results",
            "addresses": "LOOPBACK guess_type is_plain",
            "clawhub": "ClawHubSkillSource",
            "clawhub.wire": (
                "MAX_PAGES HubSkill api_base check_moderation discovery_addresses fingerprint_of "
                "list_address read_base read_page read_summary table_of text_of write_version"
            ),
            "config": "RepositorySettings SkillRepositoryConfig SkillsConfig repositories_in_force",
            "skill_cache": "copy_path list_copies",
            "credentials": (
                "Credential check_token choose_registry find_token forget_credential parse_registry "
                "read_credentials store_credential"
            ),
            "deployments": (
                "DeploymentRecord check_deployments find_record_damage forget_deployments is_path_target"
                " lock_store read_deployments record_deployments"
            ),
            "imports": "adopt_import find_import import_origin read_import record_import record_imports",
            "locate": "locate_skill",
            "edit": "NewRepository add_repository file_to_edit names_in remove_repository",
            "filesystem": "FilesystemSkillSource",
            "git": "GitRef GitSkillConfig GitSkillSource HttpsToken SshKey",
            "git.config": "FetchError LoginRefused RefNotFound Remote parse_address",
            "git.login": "ask_helpers describe_variable find_unused_tokens with_token",
            "git.remote_tree": "RemoteTree open_tree",
            "archive": "MAX_PACKED find_root unpack_archive unpack_data unwrap",
            "hosts": "Hosts address_after host_of parse_host",
            "http": "BearerAuth HeaderAuth HttpSkillSource",
            "http.api": "Answer Identity PublishedFile PublishedSkill PublishedVersion RegistryApi",
            "http.client": "Response fetch",
            "http.jobs": "advise_job is_job mint_token",
            "http.wire": "Failure",
            "library": "CompositeSkillSource NamedSource",
            "mcp": "McpSkillSource",
            "memory": "SkillMemory recall_skills",
            "repositories": "EmbeddedSkillSource Refresh refresh_repositories resolve_repositories",
            "secrets": "hide_secrets private_logs",
            "site": "WellKnownSkillSource",
            "site.index": "SiteIndex index_addresses index_beside read_index write_entry",
            "source": (
                "ALL InMemorySkillSource SkillCollection SkillDescriptor SkillDocument SkillFilter "
                "SkillScope SkillSource SourceDiagnostic derive_collections find_in_source read_descriptions"
            ),
            "switches": "Switch change_switch find_switch read_switches",
            "traffic": "describe_downloads",
            "variables": (
                "VariableUse allow_variables allowed_variables forget_variables variables_asked_for "
                "variables_used"
            ),
            "virtual": "VirtualFolder",
            "wrappers": (
                "FilteredSkillSource PrefixedSkillSource RenamedSkillSource SourceSnapshot snapshot_of"
            ),
        },
    )

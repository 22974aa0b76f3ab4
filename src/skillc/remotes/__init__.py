"""Every other place that has skills: git, the Skills API, registries, sites, MCP servers, archives.

Lists and fetches; does not know what is done with a skill, nor which places a person configured.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.remotes.addresses import LOOPBACK, guess_type, is_plain, resolve_path, resolve_url
    from skillc.remotes.archive import MAX_PACKED, find_root, unpack_archive, unpack_data, unwrap
    from skillc.remotes.auth import BearerAuth, HeaderAuth, StoredAuth, is_valid_header, parse_base_url
    from skillc.remotes.clawhub import (
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
    from skillc.remotes.credentials import (
        Credential,
        check_token,
        choose_registry,
        find_token,
        forget_credential,
        parse_registry,
        read_credentials,
        store_credential,
    )
    from skillc.remotes.files import FileCache, evict
    from skillc.remotes.git.checkouts import Checkouts, State
    from skillc.remotes.git.config import (
        FetchError,
        GitAuth,
        GitRef,
        GitRemote,
        GitSkillConfig,
        HttpsToken,
        LoginRefused,
        RefNotFound,
        SshKey,
        parse_address,
    )
    from skillc.remotes.git.login import ask_helpers, describe_variable, find_unused_tokens, with_token
    from skillc.remotes.git.remote_tree import RemoteTree, open_tree
    from skillc.remotes.hosts import SETTING, Hosts, address_after, host_of, parse_host
    from skillc.remotes.http import FileEntry, FileListing, read_files
    from skillc.remotes.jobs import advise_job, is_job, mint_token
    from skillc.remotes.protocol import Failure, require_text, to_seconds
    from skillc.remotes.registry import (
        Answer,
        Identity,
        PublishedFile,
        PublishedSkill,
        PublishedVersion,
        RegistryApi,
        skill_path,
    )
    from skillc.remotes.secrets import hide_secrets, private_logs
    from skillc.remotes.session import Response, fetch, open_client
    from skillc.remotes.site import Entry, SiteIndex, index_addresses, index_beside, read_index, write_entry
    from skillc.remotes.traffic import describe_downloads
else:
    __getattr__ = front_door(
        __name__,
        {
            "protocol": "Failure require_text to_seconds",
            "addresses": "LOOPBACK guess_type is_plain resolve_path resolve_url",
            "archive": "MAX_PACKED find_root unpack_archive unpack_data unwrap",
            "auth": "BearerAuth HeaderAuth StoredAuth is_valid_header parse_base_url",
            "clawhub": (
                "MAX_PAGES HubSkill api_base check_moderation discovery_addresses fingerprint_of "
                "list_address read_base read_page read_summary table_of text_of write_version"
            ),
            "credentials": (
                "Credential check_token choose_registry find_token forget_credential parse_registry "
                "read_credentials store_credential"
            ),
            "files": "FileCache evict",
            "git.checkouts": "Checkouts State",
            "git.config": (
                "FetchError GitAuth GitRef GitRemote GitSkillConfig HttpsToken LoginRefused RefNotFound "
                "SshKey parse_address"
            ),
            "git.login": "ask_helpers describe_variable find_unused_tokens with_token",
            "git.remote_tree": "RemoteTree open_tree",
            "hosts": "SETTING Hosts address_after host_of parse_host",
            "http": "FileEntry FileListing read_files",
            "jobs": "advise_job is_job mint_token",
            "registry": (
                "Answer Identity PublishedFile PublishedSkill PublishedVersion RegistryApi skill_path"
            ),
            "secrets": "hide_secrets private_logs",
            "session": "Response fetch open_client",
            "site": "Entry SiteIndex index_addresses index_beside read_index write_entry",
            "traffic": "describe_downloads",
        },
    )

"""Every other place that has skills: git, the Skills API, registries, sites, MCP servers, archives.

Lists and fetches; does not know what is done with a skill, nor which places a person configured. Of git and
MCP the front doors are `skillc.remotes.git` and `skillc.remotes.mcp`.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.remotes.addresses import LOOPBACK, guess_type, is_plain, resolve_address
    from skillc.remotes.archive import MAX_PACKED, find_root, unpack_archive, unwrap
    from skillc.remotes.cache import Cache, DiskCopy
    from skillc.remotes.ci_tokens import advise_job, is_job, mint_token
    from skillc.remotes.clawhub import ClawHubRemote, fingerprint_of
    from skillc.remotes.credentials import (
        BearerAuth,
        Credential,
        HeaderAuth,
        StoredAuth,
        check_token,
        choose_registry,
        find_token,
        forget_credential,
        parse_registry,
        read_credentials,
        store_credential,
    )
    from skillc.remotes.folders import SkillFolders
    from skillc.remotes.hosts import Hosts, host_of, parse_host
    from skillc.remotes.protocol import (
        Absent,
        Answer,
        Failure,
        Listing,
        Remote,
        RemoteSkill,
        require_text,
        to_seconds,
    )
    from skillc.remotes.registry import RegistryApi
    from skillc.remotes.response import Response
    from skillc.remotes.secrets import hide_secrets
    from skillc.remotes.session import JSON, Session
    from skillc.remotes.site import SiteRemote, has_index_beside
    from skillc.remotes.skills_api import HttpRemote, RemoteDocument
    from skillc.remotes.traffic import describe_downloads
else:
    __getattr__, __all__ = front_door(__name__)

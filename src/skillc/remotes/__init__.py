"""Every other place that has skills: the Skills API, registries, sites, archives.

Lists and fetches; does not know what is done with a skill, nor which places a person configured. Three parts
have front doors of their own: `git`, `mcp`, and `http`, through which every request goes.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.remotes.archive import MAX_PACKED, find_root, unpack_archive, unwrap
    from skillc.remotes.cache import Cache, DiskCopy
    from skillc.remotes.clawhub import ClawHubRemote, fingerprint_of
    from skillc.remotes.folders import SkillFolders
    from skillc.remotes.login import advise_job, is_job, log_in, log_out, mint_token
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
    from skillc.remotes.site import SiteRemote, has_index_beside
    from skillc.remotes.skills_api import HttpRemote, RemoteDocument
else:
    __getattr__, __all__ = front_door(__name__)

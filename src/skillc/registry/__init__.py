"""What a team shares: skills with immutable versions, tags, roles, tokens and a log of every change.

Knows nothing of HTTP: a server turns requests into these operations. Audits are made elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillc.registry.access import (
    GROUP as GROUP,
    PUBLIC as PUBLIC,
    SYSTEM as SYSTEM,
    Caller as Caller,
    Identity as Identity,
    Job as Job,
    Permission as Permission,
    Person as Person,
    Session as Session,
    TrustedPublisher as TrustedPublisher,
)
from skillc.registry.accounts import NewToken as NewToken
from skillc.registry.blobs import open_blobs as open_blobs
from skillc.registry.collection_counts import Census as Census
from skillc.registry.config import (
    MirrorConfig as MirrorConfig,
    RegistryConfig as RegistryConfig,
    SettingsTable as SettingsTable,
    open_settings as open_settings,
)
from skillc.registry.finder import Finder as Finder
from skillc.registry.mirror import Mirror as Mirror
from skillc.registry.model import (
    APPROVED as APPROVED,
    Change as Change,
    Deletion as Deletion,
    Grant as Grant,
    Review as Review,
    Role as Role,
    Skill as Skill,
    StoredFile as StoredFile,
    Token as Token,
    Version as Version,
    is_below as is_below,
    is_name as is_name,
)
from skillc.registry.package import (
    MAX_BYTES as MAX_BYTES,
    MAX_FILES as MAX_FILES,
    Package as Package,
    make_archive as make_archive,
    make_package as make_package,
    read_package as read_package,
)
from skillc.registry.policies import (
    Policies as Policies,
    ReviewRules as ReviewRules,
)
from skillc.registry.publishers import Publication as Publication
from skillc.registry.registry import Registry as Registry, open_registry as open_registry
from skillc.registry.sessions import NewSession as NewSession, SignedIn as SignedIn
from skillc.registry.source import (
    CallerSource as CallerSource,
    RegistrySkillSource as RegistrySkillSource,
    VersionSource as VersionSource,
    describe_version as describe_version,
    read_document as read_document,
)
from skillc.registry.store import open_store as open_store, to_name as to_name
from skillc.registry.usage import (
    Batch as Batch,
    Count as Count,
    Miss as Miss,
    Receipt as Receipt,
    Statistics as Statistics,
)
from skillc.startup import front_door
from skillc.versions import (
    LATEST as LATEST,
    next_patch as next_patch,
    parse_tag as parse_tag,
    parse_version as parse_version,
    precedence as precedence,
    suggest_version as suggest_version,
)

if TYPE_CHECKING:
    from skillc.registry.upstream import GitUpstream as GitUpstream, RegistryUpstream as RegistryUpstream
else:  # mirrors need an HTTP client, which is slow to import
    __getattr__, __all__ = front_door(__name__)

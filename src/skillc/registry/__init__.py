"""What a team shares: skills with immutable versions, tags, roles, tokens and a log of every change.

Knows nothing of HTTP: a server turns requests into these operations. Audits are made elsewhere.
"""

from __future__ import annotations

from skillc.registry.access import (
    PUBLIC,
    SYSTEM,
    Caller,
    Identity,
    Job,
    Permission,
    Person,
    Session,
    TrustedPublisher,
    choose_groups,
)
from skillc.registry.accounts import NewToken
from skillc.registry.collection_counts import CollectionCounts
from skillc.registry.finder import Finder
from skillc.registry.mirror import Mirror, MirrorConfig, RegistryUpstream
from skillc.registry.model import (
    APPROVED,
    NO_FINDINGS,
    Change,
    Grant,
    Review,
    Role,
    Skill,
    StoredFile,
    Token,
    Version,
    is_below,
)
from skillc.registry.package import MAX_BYTES, MAX_FILES, Package, make_archive, make_package, read_package
from skillc.registry.policies import Policies, ReviewRules
from skillc.registry.registry import Registry, RegistryConfig, open_registry
from skillc.registry.sessions import NewSession, SignedIn
from skillc.registry.source import (
    CallerSource,
    RegistrySkillSource,
    VersionSource,
    describe_version,
    read_document,
)
from skillc.registry.store import to_name
from skillc.registry.trial import StoreTrial, try_blobs, try_folder, try_store
from skillc.registry.usage import Batch, Count, Receipt

"""What a team shares: skills with immutable versions, tags, roles, tokens and a log of every change.

Knows nothing of HTTP: a server turns requests into these operations. Audits are made elsewhere. The values
that it has are at a front door of their own, `registry.model`; those that every program needs which opens a
registry are here, too.
"""

from __future__ import annotations

from skillc.registry.accounts import NewToken
from skillc.registry.addresses import (
    StoreTrial,
    default_store,
    open_registry,
    try_blobs,
    try_folder,
    try_store,
)
from skillc.registry.collection_counts import CollectionCounts
from skillc.registry.finder import Finder
from skillc.registry.mirror import Mirror, MirrorConfig, RegistryUpstream
from skillc.registry.model import PUBLIC, SYSTEM, Role
from skillc.registry.package import MAX_BYTES, MAX_FILES, Package, make_archive, make_package, read_package
from skillc.registry.policies import Policies, ReviewRules
from skillc.registry.registry import Registry, RegistryConfig
from skillc.registry.sessions import NewSession, SignedIn
from skillc.registry.source import (
    CallerSource,
    RegistrySkillSource,
    VersionSource,
    describe_version,
    read_document,
)
from skillc.registry.store import to_name
from skillc.registry.usage import Batch, Count, DayUse, Receipt, Statistics

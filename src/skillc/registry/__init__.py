"""What a team shares: skills with immutable versions, tags, roles, tokens and a log of every change.

Knows nothing of HTTP: a server turns requests into these operations. Audits are made elsewhere.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.registry.access import (
        GROUP,
        PUBLIC,
        SYSTEM,
        Caller,
        Identity,
        Job,
        Permission,
        Person,
        Session,
        TrustedPublisher,
    )
    from skillc.registry.accounts import Accounts, NewToken
    from skillc.registry.blobs import Blobs, open_blobs
    from skillc.registry.collection_counts import Census
    from skillc.registry.config import MirrorConfig, Policies, RegistryConfig
    from skillc.registry.enforcement import PolicyRegistry
    from skillc.registry.feed import Feed
    from skillc.registry.finder import Finder
    from skillc.registry.mirror import Mirror, MirrorState
    from skillc.registry.model import (
        APPROVED,
        LATEST,
        Change,
        Deletion,
        Grant,
        Review,
        Role,
        Skill,
        StoredFile,
        Token,
        Version,
        is_below,
        is_name,
        next_patch,
        parse_tag,
        parse_version,
        precedence,
        suggest_version,
    )
    from skillc.registry.package import MAX_BYTES, MAX_FILES, Package, make_package, read_package
    from skillc.registry.policies import Allowed, Audited, MinimumAge, Policy
    from skillc.registry.publishers import Publication, Publishers
    from skillc.registry.reader import CallerSource
    from skillc.registry.registry import Collected, Registry, open_registry
    from skillc.registry.reviews import ReviewRules
    from skillc.registry.sessions import NewSession, Sessions, SignedIn
    from skillc.registry.source import RegistrySkillSource, VersionSource, describe_version, read_document
    from skillc.registry.store import open_store, to_name
    from skillc.registry.upstream import GitUpstream, RegistryUpstream, Upstream
    from skillc.registry.usage import Batch, Count, Miss, Receipt, Statistics, Usage
else:
    __getattr__ = front_door(
        __name__,
        {
            "access": "GROUP PUBLIC SYSTEM Caller Identity Job Permission Person Session TrustedPublisher",
            "accounts": "Accounts NewToken",
            "blobs": "Blobs open_blobs",
            "collection_counts": "Census",
            "config": "MirrorConfig Policies RegistryConfig",
            "usage": "Batch Count Miss Receipt Statistics Usage",
            "enforcement": "PolicyRegistry",
            "feed": "Feed",
            "finder": "Finder",
            "mirror": "Mirror MirrorState",
            "model": (
                "APPROVED LATEST Change Deletion Grant Review Role Skill StoredFile Token Version "
                "is_below is_name next_patch parse_tag parse_version precedence suggest_version"
            ),
            "package": "MAX_BYTES MAX_FILES Package make_package read_package",
            "policies": "Allowed Audited MinimumAge Policy",
            "publishers": "Publication Publishers",
            "reader": "CallerSource",
            "registry": "Collected Registry open_registry",
            "reviews": "ReviewRules",
            "sessions": "NewSession Sessions SignedIn",
            "source": "RegistrySkillSource VersionSource describe_version read_document",
            "store": "open_store to_name",
            "upstream": "GitUpstream RegistryUpstream Upstream",
        },
    )

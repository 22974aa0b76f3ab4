"""What a registry has, as values: skills, versions, reviews; callers, roles, tokens, and what they may do."""

from __future__ import annotations

from skillc.registry.model.access import (
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
from skillc.registry.model.model import (
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

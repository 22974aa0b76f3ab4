"""Who made a skill, what it needs, and what is in it: signatures, dependencies, lists of parts.

Reads folders, keys and what was fetched; it asks no network, and knows nothing of stores and locks.

    trust = read_trust()
    combine(check_signatures("skills/pdf", "pdf", trust)).line()
"""

from __future__ import annotations

from skillc.startup import front_door  # pages of help import this door, and no keys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.origins.check import NO_EVIDENCE, Evidence, check_signatures, check_skill, drop_evidence
    from skillc.origins.parts import Part, find_licence, make_document
    from skillc.origins.policy import (
        OPTION,
        Trust,
        describe_change,
        parse_trust,
        read_trust,
        require_same,
        require_signer,
    )
    from skillc.origins.requirements import (
        Installed,
        RequiredSkill,
        Requirements,
        find_cycle,
        find_requirers,
        find_unmet,
        read_outer,
        read_requirements,
    )
    from skillc.origins.sign import find_digest, sign_skill
    from skillc.origins.signature import (
        BROKEN,
        NONE,
        NOT_SAFE,
        UNCHECKED,
        UNSIGNED,
        BrokenSignature,
        Signature,
        combine,
        read_pin,
    )
    from skillc.origins.ssh_and_git import is_signed
    from skillc.origins.statements import Attester, check_attestation
else:
    __getattr__, __all__ = front_door(__name__)

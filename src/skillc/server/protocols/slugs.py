"""Turn IDs into what ClawHub's clients know, and back: slugs and the handles of owners.

A slug is an ID with dots for slashes; the handle of its owner is all but its last segment. As no segment of
an ID has a dot, each leads back to one ID. An owner and a last segment mean the same: `@payments/refunds`.

>>> slug_of(SkillId("payments/eu/refunds")), owner_of(SkillId("payments/eu/refunds"))
('payments.eu.refunds', 'payments.eu')
>>> parse_slug("payments.refunds"), parse_slug("refunds", "@payments"), parse_slug("refunds", "-")
('payments/refunds', 'payments/refunds', 'refunds')
"""

from __future__ import annotations

from skillc.errors import InvalidSkillId
from skillc.registry import Caller, Role
from skillc.skills import SkillId, to_segment

ROOT = "-"  # the owner of skills without a slash: clients can't leave the owner out when they publish


def slug_of(skill_id: SkillId) -> str:
    return skill_id.replace("/", ".")


def owner_of(skill_id: SkillId) -> str:
    return skill_id.collection.replace("/", ".") or ROOT


def parse_slug(slug: str, owner: str = "") -> SkillId:
    """Return the ID for a slug; an owner counts where the slug has one segment. Raises InvalidSkillId."""
    if "/" in slug or "/" in owner:
        raise InvalidSkillId(slug)
    words = slug.split(".")
    owner = owner.lstrip("@").lower()
    if len(words) == 1 and owner not in ("", ROOT):
        words = [*owner.split("."), *words]
    return SkillId("/".join(words))


def handle_of(caller: Caller) -> str:
    """Return the handle under which a caller publishes if it names no owner.

    That is the prefix in which it may publish, where there is one; otherwise its own name.
    """
    prefixes = {each.prefix for each in caller.permissions if each.role >= Role.PUBLISHER}
    return (
        prefixes.pop().replace("/", ".")
        if len(prefixes) == 1 and prefixes != {""}
        else to_segment(caller.subject)
    )

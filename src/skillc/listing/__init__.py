"""What agents see: what each puts of skills into its prompt, and how all of it fits.

Reads agents' folders and what was measured of the agents; runs none of them.
"""

from __future__ import annotations

from skillc.listing.budget import ABSENT, CUT, NAME, ON_DEMAND, WHOLE
from skillc.listing.listing import AgentListing, ListedSkill, Listings, list_agents
from skillc.listing.rules import CHARACTERS, read_rules

__all__ = [
    "ABSENT",
    "CHARACTERS",
    "CUT",
    "NAME",
    "ON_DEMAND",
    "WHOLE",
    "AgentListing",
    "ListedSkill",
    "Listings",
    "list_agents",
    "read_rules",
]

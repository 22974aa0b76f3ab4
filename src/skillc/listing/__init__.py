"""What agents see: what each puts of skills into its prompt, and how all of it fits.

Reads agents' folders and what was measured of the agents; runs none of them. Has skills deployed, listed
or on demand, and writes one of its own: the way to those on demand.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.listing.budget import ABSENT, CUT, NAME, ON_DEMAND, WHOLE
    from skillc.listing.choices import ListingChoice, choose_listing, has_fitted, reset_listings
    from skillc.listing.fit import AgentFit, Fitting, fit_listings
    from skillc.listing.folders import describe_targets, join_targets
    from skillc.listing.hook import answer_prompt, start_update
    from skillc.listing.listing import AgentListing, ListedSkill, Listings, list_agents
    from skillc.listing.more_skills import is_more_skills
    from skillc.listing.offer_update import update_offers
    from skillc.listing.permission import answer_permission
    from skillc.listing.renewal import renew_listings
    from skillc.listing.rules import CHARACTERS, read_rules
else:
    __getattr__, __all__ = front_door(__name__)

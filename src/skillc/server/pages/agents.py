"""Show what the agents of this machine see of one's skills, with the commands that change it."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from skillc.library import stored_skills
from skillc.listing import ABSENT, CHARACTERS, CUT, NAME, ON_DEMAND, WHOLE, AgentListing
from skillc.server.pages.local_catalog import LocalSite
from skillc.server.pages.visit import Visit

MAX_SKILLS = 300  # of an agent's table; the others are counted
# What an agent shows of a skill, in the order of how much, with the level of its mark.
STATES = {
    WHOLE: ("whole", "good"),
    CUT: ("cut", "warn"),
    NAME: ("name alone", "warn"),
    ON_DEMAND: ("on demand", ""),
    ABSENT: ("not shown", "block"),
}


def show_agents(visit: Visit) -> Response:
    """Show each agent that is here: how many of its skills the model sees whole, and each skill's state."""
    assert isinstance(visit.site, LocalSite)
    listings = visit.site.workspace.listing()
    return visit.page("agents.html", agents=[_describe(each) for each in listings.agents], states=STATES)


def list_overflows(visit: Visit) -> list[AgentListing]:
    """Return the agents of this machine whose listings are too full to be shown whole."""
    assert isinstance(visit.site, LocalSite)
    return [listing for listing in visit.site.workspace.listing().agents if listing.overflows]


def describe_views(visit: Visit, skill_id: str) -> dict[str, Any]:
    """Return what each agent sees of a skill, and whether it is in a store: only there it can be changed."""
    assert isinstance(visit.site, LocalSite)
    workspace = visit.site.workspace
    views = [
        (listing.display, skill)
        for listing in workspace.listing().agents
        for skill in listing.skills
        if skill.skill == skill_id
    ]
    is_stored = any(skill.name == skill_id for skill in stored_skills(workspace.cwd))
    return {"views": views, "states": STATES, "is_stored": is_stored}


def _describe(listing: AgentListing) -> dict[str, Any]:
    counts = {state: sum(skill.state == state for skill in listing.skills) for state in STATES}
    order = {state: number for number, state in enumerate((ABSENT, NAME, CUT, WHOLE, ON_DEMAND))}
    skills = sorted(listing.skills, key=lambda skill: (order.get(skill.state or "", 9), skill.id))
    return {
        "listing": listing,
        "counts": {state: count for state, count in counts.items() if count},
        "tokens": listing.used // CHARACTERS,
        "skills": skills[:MAX_SKILLS],
        "more": max(0, len(skills) - MAX_SKILLS),
    }

"""From a folder to an artifact: stub, manifest, index, and deployment to agents.

Writes runtime directories and agents' directories. Reading an index is `compiler.index`, which
the gateway uses too.
"""

from __future__ import annotations

from skillc import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.compiler.agents import Agent, Target, known_agents, targets
    from skillc.compiler.build import Built, build_skill
    from skillc.compiler.deploy import Deployment, deploy_skill
    from skillc.compiler.importer import import_skill
    from skillc.compiler.listing import Listed, Listing, list_skills
    from skillc.compiler.publish import Published, Publisher
    from skillc.compiler.scaffold import new_skill, new_store
    from skillc.compiler.upkeep import keep_indexed

__all__ = [
    "Agent",
    "Built",
    "Deployment",
    "Listed",
    "Listing",
    "Published",
    "Publisher",
    "Target",
    "build_skill",
    "deploy_skill",
    "import_skill",
    "keep_indexed",
    "known_agents",
    "list_skills",
    "new_skill",
    "new_store",
    "targets",
]

__getattr__ = front_door(
    __name__,
    {
        "agents": ("Agent", "Target", "known_agents", "targets"),
        "build": ("Built", "build_skill"),
        "deploy": ("Deployment", "deploy_skill"),
        "importer": ("import_skill",),
        "publish": ("Published", "Publisher"),
        "scaffold": ("new_skill", "new_store"),
        "listing": ("Listed", "Listing", "list_skills"),
        "upkeep": ("keep_indexed",),
    },
)

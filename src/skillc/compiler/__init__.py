"""From a folder to an artifact: stub, manifest, index, and deployment to agents.

Writes runtime directories and agents' directories. Reading an index is `compiler.index`, which
the gateway uses too.
"""

from __future__ import annotations

from skillc import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.compiler.agents import Agent, Target, known_agents, targets
    from skillc.compiler.building import Built, build
    from skillc.compiler.deployment import Deployment, deploy
    from skillc.compiler.importing import import_skill
    from skillc.compiler.publishing import Published, Publisher
    from skillc.compiler.scaffold import new_skill, new_store
    from skillc.compiler.status import Listed, Listing, list_skills
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
    "build",
    "deploy",
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
        "building": ("Built", "build"),
        "deployment": ("Deployment", "deploy"),
        "importing": ("import_skill",),
        "publishing": ("Published", "Publisher"),
        "scaffold": ("new_skill", "new_store"),
        "status": ("Listed", "Listing", "list_skills"),
        "upkeep": ("keep_indexed",),
    },
)

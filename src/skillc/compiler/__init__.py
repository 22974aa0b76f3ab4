"""From a folder to an artifact: stub, manifest, index, and deployment to agents.

Writes runtime directories and agents' directories. Reading an index is `compiler.index`, which
the gateway uses too.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.compiler.agents import (
        Agent as Agent,
        Target as Target,
        known_agents as known_agents,
        targets as targets,
    )
    from skillc.compiler.build import Built as Built, build_skill as build_skill
    from skillc.compiler.deploy import Deployment as Deployment, deploy_skill as deploy_skill
    from skillc.compiler.importer import import_skill as import_skill
    from skillc.compiler.listing import Listed as Listed, Listing as Listing, list_skills as list_skills
    from skillc.compiler.publish import Published as Published, Publisher as Publisher
    from skillc.compiler.scaffold import new_skill as new_skill, new_store as new_store
    from skillc.compiler.upkeep import keep_indexed as keep_indexed

__getattr__ = front_door(
    __name__,
    {
        "agents": "Agent Target known_agents targets",
        "build": "Built build_skill",
        "deploy": "Deployment deploy_skill",
        "importer": "import_skill",
        "publish": "Published Publisher",
        "scaffold": "new_skill new_store",
        "listing": "Listed Listing list_skills",
        "upkeep": "keep_indexed",
    },
)

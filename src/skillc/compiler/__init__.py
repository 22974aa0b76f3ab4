"""From a folder to an artifact: import, build, deploy; and new skills and the list of skills.

Writes stores, runtime directories and agents' directories. Reading a skill is the gateway's job.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.compiler.agents import find_targets as find_targets, read_agents as read_agents
    from skillc.compiler.build import build_skill as build_skill, keep_index_current as keep_index_current
    from skillc.compiler.listing import Listing as Listing, list_skills as list_skills
    from skillc.compiler.publish import (
        Publication as Publication,
        PublishOptions as PublishOptions,
        publish_skill as publish_skill,
    )
    from skillc.compiler.scaffold import create_skill as create_skill, create_store as create_store
else:
    __getattr__ = front_door(
        __name__,
        {
            "agents": "find_targets read_agents",
            "build": "build_skill keep_index_current",
            "listing": "Listing list_skills",
            "publish": "Publication PublishOptions publish_skill",
            "scaffold": "create_skill create_store",
        },
    )

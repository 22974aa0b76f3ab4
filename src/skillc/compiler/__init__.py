"""From a folder to an artifact: import, build, deploy, withdraw; and new skills and the list of skills.

Writes stores, runtime directories and agents' directories. Reading a skill is the gateway's job.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.compiler.agents import Agent, Target, detect_targets, find_targets, read_agents
    from skillc.compiler.build import build_skill, keep_index_current
    from skillc.compiler.build_all import Builds, build_skills
    from skillc.compiler.deploy import digest_folder, is_link
    from skillc.compiler.pipeline import Publication, PublishOptions, publish_skill
    from skillc.compiler.scaffold import create_skill, create_store, describe_creation
    from skillc.compiler.status import LIST_HEADER, Listing, SkillStatus, find_damaged_stubs, list_skills
    from skillc.compiler.undeploy import Withdrawal, find_deployments, remove_runtime, withdraw
else:
    __getattr__ = front_door(
        __name__,
        {
            "agents": "Agent Target detect_targets find_targets read_agents",
            "build": "build_skill keep_index_current",
            "build_all": "Builds build_skills",
            "deploy": "digest_folder is_link",
            "pipeline": "Publication PublishOptions publish_skill",
            "scaffold": "create_skill create_store describe_creation",
            "status": "LIST_HEADER Listing SkillStatus find_damaged_stubs list_skills",
            "undeploy": "Withdrawal find_deployments remove_runtime withdraw",
        },
    )

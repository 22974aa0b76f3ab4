"""From a folder to an artifact: import, build, deploy, withdraw; and new skills and the list of skills.

Writes stores, runtime directories and agents' directories. Reading a skill is the gateway's job.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.compiler.agents import (
        SHARED,
        Agent,
        Target,
        agents_by_name,
        agents_here,
        check_deploy_folder,
        default_targets,
        detect_targets,
        existing_directories,
        find_targets,
        name_target,
        read_agents,
        unknown_agent,
    )
    from skillc.compiler.build import keep_index_current
    from skillc.compiler.build_all import Builds, build_skills
    from skillc.compiler.pipeline import (
        Publication,
        PublishOptions,
        change_states,
        deploy_folder,
        publish_skill,
        record_publications,
        renewal,
    )
    from skillc.compiler.scaffold import check_store, create_skill, create_store
    from skillc.compiler.status import (
        NOT_BUILT,
        OBSOLETE,
        find_build,
        find_damage,
        find_edited_builds,
        find_problem,
    )
    from skillc.compiler.undeploy import (
        DeploymentState,
        find_deployments,
        find_orphaned_builds,
        inspect_deployment,
        remember,
        remove_runtime,
        withdraw,
    )
else:
    __getattr__, __all__ = front_door(__name__)

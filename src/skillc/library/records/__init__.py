"""What is on record about skills, in files of the home where no project can write.

Deployments, what a person disabled, and what a person chose to have listed. Acts on none of it.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.records.deployments import (
        LEFT_OUT,
        LISTED,
        ON_DEMAND,
        DeploymentRecord,
        check_deployments,
        deployments_by_source,
        find_deployment,
        find_record_damage,
        forget_deployments,
        is_path_target,
        lock_store,
        parse_record,
        read_deployments,
        record_deployments,
        source_of_folder,
        source_of_name,
    )
    from skillc.library.records.listing import (
        ALWAYS,
        AUTO,
        DEMAND,
        ListingRecord,
        change_listing_record,
        read_listing_record,
    )
    from skillc.library.records.switches import (
        Switch,
        change_switch,
        find_switch,
        parse_switch,
        read_switches,
    )
else:
    __getattr__, __all__ = front_door(__name__)

"""In and out: bring skills in, keep them current, take them out again.

Stands above the operations, because it puts them together: a skill is downloaded, audited, put into a store,
built and deployed. Commands for reading skills never load it.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.install.disable import Disablement, Enablement, disable_skill, enable_skill
    from skillc.install.download import open_download
    from skillc.install.entry import LockEntry, make_entry, without_credentials
    from skillc.install.hash import compute_hash
    from skillc.install.intake import Intake, bring_in, preview
    from skillc.install.lock import change_lock, lock_file, read_lock
    from skillc.install.origin import Candidate, Download, Origin, parse_origin, recall_origin
    from skillc.install.removal import Ghost, Removal, find_removable, preview_removal, remove_skill
    from skillc.install.survey import Plan, count_agent_skills, plan_import
else:
    __getattr__ = front_door(
        __name__,
        {
            "entry": "LockEntry make_entry without_credentials",
            "hash": "compute_hash",
            "lock": "change_lock lock_file read_lock",
            "download": "open_download",
            "origin": "Candidate Download Origin parse_origin recall_origin",
            "disable": "Disablement Enablement disable_skill enable_skill",
            "intake": "Intake bring_in preview",
            "removal": "Ghost Removal find_removable preview_removal remove_skill",
            "survey": "Plan count_agent_skills plan_import",
        },
    )

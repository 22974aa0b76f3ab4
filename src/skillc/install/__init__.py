"""In and out: bring skills in, keep them current, take them out again.

Stands above the operations, because it puts them together: a skill is downloaded, audited, put into a store,
built and deployed. Commands for reading skills never load it.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.install.add import Addition, Offer, add_skill, check_offers, choose_store, make_offers
    from skillc.install.clean import find_waste
    from skillc.install.clients import ClientChange, client_names, plan_addition, plan_removal
    from skillc.install.disable import Disablement, Enablement, disable_skill, enable_skill
    from skillc.install.doctor import Examination, examine, mend_all
    from skillc.install.download import open_download
    from skillc.install.entry import LockEntry, make_entry, without_credentials
    from skillc.install.hash import FolderHashes, compute_hash, hash_folder
    from skillc.install.install import apply_plan, install_locked
    from skillc.install.intake import Intake, bring_in, preview
    from skillc.install.latest import Latest, parse_age
    from skillc.install.lock import change_lock, find_root, lock_file, read_lock, set_pins
    from skillc.install.marketplace import Marketplace, find_marketplace, keep_skills
    from skillc.install.origin import Candidate, Download, Origin, parse_origin, recall_origin
    from skillc.install.pins import Pin, find_locks, is_of_home, read_pins
    from skillc.install.plan import InstallPlan, InstallResult, make_plan
    from skillc.install.plugins import Plugin
    from skillc.install.publish import (
        Release,
        Upload,
        check_skill,
        plan_upload,
        require_publisher,
        send_upload,
    )
    from skillc.install.removal import (
        Ghost,
        Removal,
        find_removable,
        preview_removal,
        remove_skill,
        restore_item,
    )
    from skillc.install.survey import Plan, Store, advise_first_skill, count_agent_skills, plan_import
    from skillc.install.tally import Tally, count_usage, send_tally
    from skillc.install.transfer import bring_in_pins, preview_pins
    from skillc.install.update import Update, Updates, list_latest, update_locked
    from skillc.install.verify import LockProblem, check_lock, verify_store
    from skillc.install.versions import find_version, installed_versions
    from skillc.install.waste import Disposal, Waste, measure_size, remove_waste
else:
    __getattr__ = front_door(
        __name__,
        {
            "clean": "find_waste",
            "clients": "ClientChange client_names plan_addition plan_removal",
            "doctor": "Examination examine mend_all",
            "waste": "Disposal Waste measure_size remove_waste",
            "entry": "LockEntry make_entry without_credentials",
            "hash": "FolderHashes compute_hash hash_folder",
            "install": "apply_plan install_locked",
            "latest": "Latest parse_age",
            "update": "Update Updates list_latest update_locked",
            "verify": "LockProblem check_lock verify_store",
            "versions": "find_version installed_versions",
            "lock": "change_lock find_root lock_file read_lock set_pins",
            "download": "open_download",
            "marketplace": "Marketplace find_marketplace keep_skills",
            "plan": "InstallPlan InstallResult make_plan",
            "plugins": "Plugin",
            "origin": "Candidate Download Origin parse_origin recall_origin",
            "add": "Addition Offer add_skill check_offers choose_store make_offers",
            "disable": "Disablement Enablement disable_skill enable_skill",
            "intake": "Intake bring_in preview",
            "removal": "Ghost Removal find_removable preview_removal remove_skill restore_item",
            "publish": "Release Upload check_skill plan_upload require_publisher send_upload",
            "pins": "Pin find_locks is_of_home read_pins",
            "survey": "Plan Store advise_first_skill count_agent_skills plan_import",
            "tally": "Tally count_usage send_tally",
            "transfer": "bring_in_pins preview_pins",
        },
    )

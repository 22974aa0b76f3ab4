"""In and out: bring skills in, keep them current, take them out again.

Stands above the operations, because it puts them together: a skill is downloaded, audited, put into a store,
built and deployed. Commands for reading skills never load it.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.install.add import Addition, Offer, add_skill, check_offers, make_offers
    from skillc.install.blocks import accepted_rules
    from skillc.install.clean import Disposal, find_waste, remove_waste
    from skillc.install.clients import (
        ClientChange,
        client_names,
        find_registrations,
        plan_addition,
        plan_removal,
    )
    from skillc.install.dangling import (
        DeploymentState,
        Waste,
        agent_directories,
        find_ghost_deployments,
        find_leftovers,
        find_orphans,
        inspect_deployment,
        list_names,
        measure_size,
    )
    from skillc.install.download import open_download
    from skillc.install.entry import (
        FolderHashes,
        LockEntry,
        compute_hash,
        hash_folder,
        make_entry,
        without_credentials,
    )
    from skillc.install.foreign_locks import (
        Pin,
        bring_in_pins,
        find_locks,
        is_of_home,
        preview_pins,
        read_pins,
    )
    from skillc.install.import_plan import Plan, advise_first_skill, count_agent_skills, plan_import
    from skillc.install.import_skills import Intake, bring_in, preview
    from skillc.install.install import apply_plan, install_locked
    from skillc.install.lock import (
        DAMAGED,
        accept_entry,
        change_lock,
        find_root,
        is_home,
        lock_file,
        read_lock,
        set_pins,
    )
    from skillc.install.marketplace import Marketplace, find_marketplace, keep_skills
    from skillc.install.origin import Candidate, Download, Origin, parse_origin, recall_origin
    from skillc.install.outdated import Latest, Outdated, list_latest, parse_age
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
    from skillc.install.remove import (
        Disablement,
        Enablement,
        Ghost,
        Removal,
        disable_skill,
        enable_skill,
        find_removable,
        preview_removal,
        remove_skill,
        restore_item,
    )
    from skillc.install.shared import find_shared
    from skillc.install.store import Store, choose_store
    from skillc.install.update import Update, Updates, update_locked
    from skillc.install.verify import FIXES, LockProblem, check_lock, verify_store
    from skillc.install.versions import find_version, installed_versions
else:
    __getattr__ = front_door(
        __name__,
        {
            "add": "Addition Offer add_skill check_offers make_offers",
            "blocks": "accepted_rules",
            "clean": "Disposal find_waste remove_waste",
            "clients": "ClientChange client_names find_registrations plan_addition plan_removal",
            "dangling": "DeploymentState Waste agent_directories find_ghost_deployments"
            " find_leftovers find_orphans inspect_deployment list_names measure_size",
            "download": "open_download",
            "entry": "FolderHashes LockEntry compute_hash hash_folder make_entry without_credentials",
            "foreign_locks": "Pin bring_in_pins find_locks is_of_home preview_pins read_pins",
            "import_plan": "Plan advise_first_skill count_agent_skills plan_import",
            "import_skills": "Intake bring_in preview",
            "install": "apply_plan install_locked",
            "lock": "DAMAGED accept_entry change_lock find_root is_home lock_file read_lock set_pins",
            "marketplace": "Marketplace find_marketplace keep_skills",
            "origin": "Candidate Download Origin parse_origin recall_origin",
            "outdated": "Latest Outdated list_latest parse_age",
            "plan": "InstallPlan InstallResult make_plan",
            "plugins": "Plugin",
            "publish": "Release Upload check_skill plan_upload require_publisher send_upload",
            "remove": "Disablement Enablement Ghost Removal disable_skill"
            " enable_skill find_removable preview_removal remove_skill restore_item",
            "shared": "find_shared",
            "store": "Store choose_store",
            "update": "Update Updates update_locked",
            "verify": "FIXES LockProblem check_lock verify_store",
            "versions": "find_version installed_versions",
        },
    )

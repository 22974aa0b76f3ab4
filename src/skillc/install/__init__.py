"""In and out: bring skills in, keep them current, take them out again.

Stands above the operations, because it puts them together: a skill is downloaded, audited, put into a store,
built and deployed. Commands for reading skills never load it.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.install.accepted_blocks import accepted_rules
    from skillc.install.add import Additions, add_skills
    from skillc.install.audit import Audits, audit_skills
    from skillc.install.candidate import Candidate, Download
    from skillc.install.clean import Cleaning, clean_up, remove_waste
    from skillc.install.clients import (
        ClientChange,
        client_names,
        find_registrations,
        plan_addition,
        plan_removal,
    )
    from skillc.install.dangling import (
        KEPT,
        TRASHED,
        Waste,
        find_ghost_deployments,
        find_leftovers,
        find_orphans,
        list_names,
        measure_size,
    )
    from skillc.install.download import open_download
    from skillc.install.foreign import ForeignSkill, advise_first_skill, find_foreign
    from skillc.install.foreign_locks import import_locks
    from skillc.install.hooks import find_hooks, is_ignored
    from skillc.install.import_plan import Skip, Step
    from skillc.install.import_skills import ImportResult, import_folders
    from skillc.install.install import apply_plan
    from skillc.install.lock import (
        DAMAGED,
        LockedSkills,
        Pins,
        accept_entry,
        find_root,
        is_home,
        list_locked,
        lock_file,
        read_lock,
        set_pins,
    )
    from skillc.install.marketplace import find_marketplace
    from skillc.install.notes import read_notes, write_notes
    from skillc.install.origin import Origin, parse_origin, recall_origin
    from skillc.install.outdated import Outdated, list_latest, parse_age
    from skillc.install.plan import InstallResult, make_plan
    from skillc.install.program import MINIMAL_PATH, find_script, read_login_path
    from skillc.install.publish import Publishing, publish_version
    from skillc.install.registry_skills import find_shared
    from skillc.install.remove import (
        Disablement,
        Removals,
        disable_skill,
        enable_skill,
        remove_skills,
    )
    from skillc.install.restore import (
        EmptiedTrash,
        Restoration,
        TrashContents,
        empty_trash,
        list_trash,
        restore_item,
    )
    from skillc.install.setup import SetupOptions, Setups, set_up
    from skillc.install.skill_info import (
        AgentSkill,
        InstalledSkills,
        SkillInfo,
        describe_skill,
        list_installed,
    )
    from skillc.install.skill_views import (
        HEADER,
        advise,
        list_commands,
        list_facts,
        row_of,
        total_line,
    )
    from skillc.install.store import Store
    from skillc.install.update import Update, Updates, update_locked
    from skillc.install.verify import DIFFERENT, FIXES, STUB, LockProblems, verify_store
else:
    __getattr__, __all__ = front_door(__name__)

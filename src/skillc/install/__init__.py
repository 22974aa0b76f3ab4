"""In and out: bring skills in, keep them current, take them out again.

Stands above the operations, because it puts them together: a skill is downloaded, audited, put into a store,
built and deployed. Commands for reading skills never load it.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.install.add import add_skills
    from skillc.install.audit import accepted_rules, audit_skills
    from skillc.install.clean import clean_up, find_waste
    from skillc.install.dangling import Waste
    from skillc.install.import_plan import ImportResult
    from skillc.install.import_skills import import_into_store
    from skillc.install.install import install_locked, list_locked, set_pins
    from skillc.install.installed import describe_skill, list_installed
    from skillc.install.lock import read_locked
    from skillc.install.needs import export_parts, find_reasons, read_installed
    from skillc.install.publish import publish_version
    from skillc.install.remove import disable_skill, enable_skill, remove_skills
    from skillc.install.restore import empty_trash, list_trash, restore_item
    from skillc.install.skill_info import InstalledSkills, SkillInfo, advise_foreign
    from skillc.install.update import update_locked
    from skillc.install.verify import verify_all, verify_locked
    from skillc.install.versions import fetch_old, find_shared, list_latest, parse_age
else:
    __getattr__, __all__ = front_door(__name__)

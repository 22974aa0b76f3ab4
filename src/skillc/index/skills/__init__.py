"""The skill index: every skill of every folder, for listing and for finding.

It is one SQLite file that can always be rebuilt from the folders.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.index.skills.explain import FoundSkill as FoundSkill, format_results as format_results
    from skillc.index.skills.find import (
        Searchable as Searchable,
        SkillIndex as SkillIndex,
        skill_index as skill_index,
    )
    from skillc.index.skills.folder import Folder as Folder, MemoryFolder as MemoryFolder
    from skillc.index.skills.scan import MAX_SKILL_FILE as MAX_SKILL_FILE, id_prefix as id_prefix
    from skillc.index.skills.snapshot import Entry as Entry, Snapshot as Snapshot, stored_path as stored_path
else:
    __getattr__ = front_door(
        __name__,
        {
            "find": "Searchable SkillIndex skill_index",
            "folder": "Folder MemoryFolder",
            "explain": "FoundSkill format_results",
            "scan": "MAX_SKILL_FILE id_prefix",
            "snapshot": "Entry Snapshot stored_path",
        },
    )

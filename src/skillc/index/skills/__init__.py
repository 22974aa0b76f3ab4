"""The skill index: every skill of every folder, for listing and for finding.

It is one SQLite file that can always be rebuilt from the folders.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.index.skills.batch import read_tags
    from skillc.index.skills.database import read_note, write_note
    from skillc.index.skills.documents import DocumentFolder
    from skillc.index.skills.explain import FoundSkill, FoundSkills, format_results
    from skillc.index.skills.find import EVERYTHING, Scope, Searchable, SkillIndex, skill_index
    from skillc.index.skills.folder import Folder, MemoryFolder
    from skillc.index.skills.query import read_all_tags
    from skillc.index.skills.scan import MAX_SKILL_FILE, id_prefix
    from skillc.index.skills.snapshot import Entry, Snapshot, stored_path
else:
    __getattr__ = front_door(
        __name__,
        {
            "batch": "read_tags",
            "database": "read_note write_note",
            "documents": "DocumentFolder",
            "find": "EVERYTHING Scope Searchable SkillIndex skill_index",
            "folder": "Folder MemoryFolder",
            "explain": "FoundSkill FoundSkills format_results",
            "query": "read_all_tags",
            "scan": "MAX_SKILL_FILE id_prefix",
            "snapshot": "Entry Snapshot stored_path",
        },
    )

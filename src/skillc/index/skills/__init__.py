"""The skill index: every skill of every folder, for listing and for finding.

It is one SQLite file that can always be rebuilt from the folders.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.index.skills.batch import Statistics, read_batch, read_tags
    from skillc.index.skills.database import Database, checksum, read_note, select_in, verify, write_note
    from skillc.index.skills.explain import FoundSkill, FoundSkills, format_results
    from skillc.index.skills.find import EVERYTHING, Scope, Searchable, SkillIndex, skill_index
    from skillc.index.skills.folder import Folder, MemoryFolder, VirtualFolder
    from skillc.index.skills.recall import recall_folder
    from skillc.index.skills.scan import MAX_SKILL_FILE, SkillFile, id_prefix
    from skillc.index.skills.snapshot import Entry, Snapshot, stored_path
    from skillc.index.skills.writer import write_change
else:
    __getattr__ = front_door(
        __name__,
        {
            "batch": "Statistics read_batch read_tags",
            "database": "Database checksum read_note select_in verify write_note",
            "find": "EVERYTHING Scope Searchable SkillIndex skill_index",
            "folder": "Folder MemoryFolder VirtualFolder",
            "explain": "FoundSkill FoundSkills format_results",
            "recall": "recall_folder",
            "scan": "MAX_SKILL_FILE SkillFile id_prefix",
            "snapshot": "Entry Snapshot stored_path",
            "writer": "write_change",
        },
    )

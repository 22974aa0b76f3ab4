"""The skill index: every skill of every folder, for listing and for finding.

It is one SQLite file that can always be rebuilt from the folders.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.index.skills.batch import MemorySkill, invert_texts, read_batch
    from skillc.index.skills.confidence import OFFER_CONFIDENCE
    from skillc.index.skills.database import (
        IN_MEMORY,
        Database,
        checksum,
        library_file,
        read_note,
        select_in,
        verify,
        write_note,
    )
    from skillc.index.skills.explain import FoundSkill, FoundSkills
    from skillc.index.skills.find import (
        EVERYTHING,
        RecalledIndex,
        Scope,
        Searchable,
        SkillIndex,
        skill_index,
    )
    from skillc.index.skills.folder import Folder
    from skillc.index.skills.query import read_all_tags
    from skillc.index.skills.recall import Memory, recall_folder
    from skillc.index.skills.scan import SkillFile, Walk
    from skillc.index.skills.snapshot import Entry, Snapshot, find_folder, stored_path
    from skillc.index.skills.writer import write_change
else:
    __getattr__, __all__ = front_door(__name__)

"""Where skills are: the stores of projects and the home, copies, and finding a skill in all of them.

Gives folders and names; does not compile, show or run them. Three parts have front doors of their own:
`sources` (what lists and loads skills), `repositories` (those that skills.toml names) and `records` (what
is on record in the home).
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.find import describe_result, find_skills, format_results, list_folders, part_unlikely
    from skillc.library.imports import (
        adopt_import,
        find_import,
        import_origin,
        read_import,
        record_imports,
        renew_import,
    )
    from skillc.library.locate import is_path, locate_installed, locate_skill, resolve_installed
    from skillc.library.memory import recall_skills
    from skillc.library.rivals import Rank, Ranking, Rival
    from skillc.library.skill_cache import copy_path, list_copies
    from skillc.library.stores import (
        GLOBAL,
        PROJECT,
        Skill,
        at_path,
        import_root,
        is_compiled,
        is_skill,
        read_origin,
        resolve,
        roots,
        stored_skills,
    )
else:
    __getattr__, __all__ = front_door(__name__)

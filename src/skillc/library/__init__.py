"""Where skills come from: the stores of projects and the home, and repositories of every kind.

Gives folders, descriptions and texts; does not compile, show or run them.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.stores import (
        Skill as Skill,
        at_path as at_path,
        import_root as import_root,
        is_compiled as is_compiled,
        is_skill as is_skill,
        locate_skill as locate_skill,
        resolve as resolve,
        stored_skills as stored_skills,
    )
else:
    __getattr__ = front_door(
        __name__,
        {
            "stores": "Skill at_path import_root is_compiled is_skill locate_skill resolve stored_skills",
        },
    )

"""Where skills come from: the stores of projects and the home, and repositories of every kind.

Gives folders, descriptions and texts; does not compile, show or run them.
"""

from __future__ import annotations

from skillc import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.stores import (
        Skill,
        at_path,
        import_root,
        is_compiled,
        locate_skill,
        resolve,
        stored_skills,
    )

__all__ = ["Skill", "at_path", "import_root", "is_compiled", "locate_skill", "resolve", "stored_skills"]

__getattr__ = front_door(
    __name__,
    {
        "stores": (
            "Skill",
            "at_path",
            "import_root",
            "is_compiled",
            "locate_skill",
            "resolve",
            "stored_skills",
        ),
    },
)

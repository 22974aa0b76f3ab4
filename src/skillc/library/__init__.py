"""Where skills come from: the source stores of projects and the home.

Gives folders and their places; does not read what is in them.
"""

from __future__ import annotations

from skillc.lazy import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.stores import Skill, at_path, import_root, is_compiled, resolve, stored_skills

__all__ = ["Skill", "at_path", "import_root", "is_compiled", "resolve", "stored_skills"]

__getattr__ = front_door(
    __name__, {"stores": ("Skill", "at_path", "import_root", "is_compiled", "resolve", "stored_skills")}
)

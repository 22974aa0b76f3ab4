"""What an agent reads of a skill: its outline, a section, a file, the list of files, what a search finds.

Works on the source folder, through the compiler's index; never on the stub. Returns values;
printing them is a surface's job.
"""

from __future__ import annotations

from skillc import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.gateway.freshness import changed_files
    from skillc.gateway.open import Opened, more_lines, open_file
    from skillc.gateway.outline import Entry, outline, outline_lines
    from skillc.gateway.search import Found, Result, hint, search
    from skillc.gateway.show import Shown, show
    from skillc.gateway.sources import Node, Tree, sources

__all__ = [
    "Entry",
    "Found",
    "Node",
    "Opened",
    "Result",
    "Shown",
    "Tree",
    "changed_files",
    "hint",
    "more_lines",
    "open_file",
    "outline",
    "outline_lines",
    "search",
    "show",
    "sources",
]

__getattr__ = front_door(
    __name__,
    {
        "open": ("Opened", "more_lines", "open_file"),
        "freshness": ("changed_files",),
        "search": ("Found", "Result", "hint", "search"),
        "outline": ("Entry", "outline", "outline_lines"),
        "show": ("Shown", "show"),
        "sources": ("Node", "Tree", "sources"),
    },
)

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
    from skillc.gateway.outline import Entry, outline_lines, read_outline
    from skillc.gateway.search import Found, Result, hint, search_sections
    from skillc.gateway.show import Shown, show_section
    from skillc.gateway.sources import Node, Tree, list_sources

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
    "list_sources",
    "more_lines",
    "open_file",
    "outline_lines",
    "read_outline",
    "search_sections",
    "show_section",
]

__getattr__ = front_door(
    __name__,
    {
        "open": ("Opened", "more_lines", "open_file"),
        "freshness": ("changed_files",),
        "search": ("Found", "Result", "hint", "search_sections"),
        "outline": ("Entry", "read_outline", "outline_lines"),
        "show": ("Shown", "show_section"),
        "sources": ("Node", "Tree", "list_sources"),
    },
)

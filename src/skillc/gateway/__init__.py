"""What an agent reads of a skill: its outline, a section, what a search finds.

Works on the source folder, through the compiler's index; never on the stub. Returns values;
printing them is a surface's job.
"""

from __future__ import annotations

from skillc.lazy import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.gateway.fulltext import Result, search
    from skillc.gateway.headings import Entry, outline
    from skillc.gateway.sections import Shown, show

__all__ = ["Entry", "Result", "Shown", "outline", "search", "show"]

__getattr__ = front_door(
    __name__,
    {"headings": ("Entry", "outline"), "fulltext": ("Result", "search"), "sections": ("Shown", "show")},
)

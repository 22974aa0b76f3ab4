"""What an agent reads of a skill: its outline, a section, a file, the list of files, what a search finds.

Works on the source folder, through the compiler's index; never on the stub. Returns values;
printing them is a surface's job.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.gateway.freshness import changed_files as changed_files
    from skillc.gateway.open import Opened as Opened, more_lines as more_lines, open_file as open_file
    from skillc.gateway.outline import (
        Entry as Entry,
        outline_lines as outline_lines,
        read_outline as read_outline,
    )
    from skillc.gateway.search import (
        Found as Found,
        Result as Result,
        hint as hint,
        search_sections as search_sections,
    )
    from skillc.gateway.show import Shown as Shown, show_section as show_section
    from skillc.gateway.sources import (
        LINES as LINES,
        Node as Node,
        Tree as Tree,
        list_sources as list_sources,
    )

__getattr__ = front_door(
    __name__,
    {
        "open": "Opened more_lines open_file",
        "freshness": "changed_files",
        "search": "Found Result hint search_sections",
        "outline": "Entry read_outline outline_lines",
        "show": "Shown show_section",
        "sources": "LINES Node Tree list_sources",
    },
)

"""What an agent reads of a skill: its outline, a section, a file, the list of files, search results.

Works on the source folder through the section index, never on the stub. Returns values; printing them
is a surface's job.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.gateway.freshness import Heading as Heading, has_changes as has_changes
    from skillc.gateway.open import (
        OpenFile as OpenFile,
        open_file as open_file,
        render_more_lines as render_more_lines,
    )
    from skillc.gateway.outline import read_outline as read_outline, render_outline as render_outline
    from skillc.gateway.search import (
        SearchResults as SearchResults,
        explain_no_results as explain_no_results,
        search_sections as search_sections,
    )
    from skillc.gateway.show import Section as Section, show_section as show_section
    from skillc.gateway.sources import (
        TREE_MARKS as TREE_MARKS,
        SourceTree as SourceTree,
        list_sources as list_sources,
    )
else:
    __getattr__ = front_door(
        __name__,
        {
            "open": "OpenFile open_file render_more_lines",
            "freshness": "Heading has_changes",
            "search": "SearchResults explain_no_results search_sections",
            "outline": "read_outline render_outline",
            "show": "Section show_section",
            "sources": "TREE_MARKS SourceTree list_sources",
        },
    )

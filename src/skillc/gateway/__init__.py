"""Reading a skill: its outline, a section, a file, the list of files, search results.

Works on the source folder through the section index, never on the stub. Returns values; printing them
is a surface's job.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.gateway.freshness import Heading, has_changes
    from skillc.gateway.hints import explain_no_results
    from skillc.gateway.open import OpenFile, open_file, render_more_lines
    from skillc.gateway.outline import read_outline, read_outline_text, render_outline
    from skillc.gateway.search import SearchResults, search_sections
    from skillc.gateway.show import Section, show_section
    from skillc.gateway.sources import TREE_MARKS, SourceTree, list_sources
else:
    __getattr__, __all__ = front_door(__name__)

"""The section index: one skill's sections, headings and files in an FTS5 database."""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.index.sections.outline import outline_lines
    from skillc.index.sections.reader import (
        DatabaseError,
        SectionIndex,
        UnreadableIndex,
        choose_tokenizer,
        connect,
        is_of_build,
        is_replaced,
        open_index,
        open_stale_index,
        parse_manifest,
        read_index_meta,
        read_manifest,
        read_meta,
        render_manifest,
        segment,
        unsegment,
    )
    from skillc.index.sections.writer import (
        FileState,
        SectionWriter,
        index_metadata,
        is_reusable,
        probe_index,
        read_diagnostics,
        read_file_states,
    )
else:
    __getattr__, __all__ = front_door(__name__)

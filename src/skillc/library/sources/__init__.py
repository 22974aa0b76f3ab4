"""Sources: objects that list and load skills, from folders, git, servers and MCP, and wrappers around them.

Knows neither which of them a person configured nor what is done with a skill.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.library.sources.composite import (
        TIME_OUT,
        CompositeSkillSource,
        CompositeSnapshot,
        NamedSource,
        SourceState,
    )
    from skillc.library.sources.embedded import EMBEDDED, EmbeddedSkillSource
    from skillc.library.sources.filesystem import FilesystemSkillSource
    from skillc.library.sources.git import GitSkillSource
    from skillc.library.sources.mcp import McpSkillSource
    from skillc.library.sources.servers import ClawHubSkillSource, HttpSkillSource, WellKnownSkillSource
    from skillc.library.sources.source import (
        ALL,
        InMemorySkillSource,
        SkillCollection,
        SkillDescriptor,
        SkillDocument,
        SkillFilter,
        SkillScope,
        SkillSource,
        SourceDiagnostic,
        derive_collections,
        find_in_source,
        read_descriptions,
        read_document,
        require_source,
    )
    from skillc.library.sources.virtual import MemoryFolder, VirtualFolder
    from skillc.library.sources.wrappers import (
        FilteredSkillSource,
        PrefixedSkillSource,
        RenamedSkillSource,
        SourceSnapshot,
        snapshot_of,
    )
else:
    __getattr__, __all__ = front_door(__name__)

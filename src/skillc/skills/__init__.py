"""What a skill is: SKILL.md, frontmatter, headings, links, files and their hash, IDs, tools.

Reads folders and bytes; knows nothing of where skills come from or what is done with them.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.skills.document import (
        Document as Document,
        Metadata as Metadata,
        main_file as main_file,
        metadata as metadata,
        parse as parse,
    )
    from skillc.skills.files import (
        SourceFile as SourceFile,
        list_files as list_files,
        resolve_inside as resolve_inside,
        source_hash as source_hash,
    )
    from skillc.skills.ids import SkillId as SkillId, is_name as is_name, to_segment as to_segment
    from skillc.skills.links import Link as Link, find_links as find_links, local_target as local_target
    from skillc.skills.markdown import Heading as Heading, headings as headings
    from skillc.skills.tools.definition import (
        SkillDefinition as SkillDefinition,
        ToolDefinition as ToolDefinition,
        read_definition as read_definition,
    )
    from skillc.skills.tools.parameters import ParameterDefinition as ParameterDefinition
    from skillc.text import utf8_text as utf8_text

__getattr__ = front_door(
    __name__,
    {
        "document": "Document Metadata main_file metadata parse",
        "files": "SourceFile list_files resolve_inside source_hash",
        "ids": "SkillId is_name to_segment",
        "links": "Link find_links local_target",
        "markdown": "Heading headings",
        "tools.definition": "SkillDefinition ToolDefinition read_definition",
        "tools.parameters": "ParameterDefinition",
    },
)

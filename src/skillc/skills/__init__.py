"""What a skill is: SKILL.md, frontmatter, headings, links, files and their hash, IDs, tools.

Reads folders and bytes; knows nothing of where skills come from or what is done with them.
"""

from __future__ import annotations

from skillc import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.skills.document import Document, Metadata, main_file, metadata, parse
    from skillc.skills.files import SourceFile, display_name, list_files, resolve_inside, source_hash
    from skillc.skills.ids import SkillId, is_name, to_segment
    from skillc.skills.links import Link, find_links, local_target
    from skillc.skills.markdown import Heading, headings
    from skillc.skills.tools.definition import SkillDefinition, ToolDefinition, read_definition
    from skillc.skills.tools.parameters import ParameterDefinition

__all__ = [
    "Document",
    "Heading",
    "Link",
    "Metadata",
    "ParameterDefinition",
    "SkillDefinition",
    "SkillId",
    "SourceFile",
    "ToolDefinition",
    "display_name",
    "find_links",
    "headings",
    "is_name",
    "list_files",
    "local_target",
    "main_file",
    "metadata",
    "parse",
    "read_definition",
    "resolve_inside",
    "source_hash",
    "to_segment",
]

__getattr__ = front_door(
    __name__,
    {
        "document": ("Document", "Metadata", "main_file", "metadata", "parse"),
        "files": ("SourceFile", "display_name", "list_files", "resolve_inside", "source_hash"),
        "ids": ("SkillId", "is_name", "to_segment"),
        "links": ("Link", "find_links", "local_target"),
        "markdown": ("Heading", "headings"),
        "tools.definition": ("SkillDefinition", "ToolDefinition", "read_definition"),
        "tools.parameters": ("ParameterDefinition",),
    },
)

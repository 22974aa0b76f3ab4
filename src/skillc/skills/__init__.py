"""What a skill is: SKILL.md, frontmatter, headings, files and their hash, IDs, the format, tools.

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
        parse as parse,
        read_metadata as read_metadata,
    )
    from skillc.skills.files import (
        MAX_FILES as MAX_FILES,
        SourceFile as SourceFile,
        hash_source as hash_source,
        list_files as list_files,
        make_folder as make_folder,
        resolve_inside as resolve_inside,
    )
    from skillc.skills.format import (
        KNOWN_FIELDS as KNOWN_FIELDS,
        LIMITS as LIMITS,
        find_violations as find_violations,
    )
    from skillc.skills.frontmatter import Frontmatter as Frontmatter
    from skillc.skills.ids import (
        NAME_CHARACTERS as NAME_CHARACTERS,
        SkillId as SkillId,
        is_name as is_name,
        is_segment as is_segment,
        to_segment as to_segment,
    )
    from skillc.skills.markdown import (
        Heading as Heading,
        find_headings as find_headings,
        line_count as line_count,
        newlines as newlines,
        walk as walk,
    )
    from skillc.skills.tools.blocks import ToolBlock as ToolBlock, find_blocks as find_blocks
    from skillc.skills.tools.definition import (
        MODES as MODES,
        SkillDefinition as SkillDefinition,
        ToolDefinition as ToolDefinition,
        read_definition as read_definition,
        read_header as read_header,
        read_tool as read_tool,
    )
    from skillc.skills.tools.parameters import (
        MAX_INTEGER as MAX_INTEGER,
        InvalidDefinition as InvalidDefinition,
        NotOfType as NotOfType,
        ParameterDefinition as ParameterDefinition,
        Value as Value,
        join_names as join_names,
        parse_value as parse_value,
    )
    from skillc.skills.tools.template import (
        CommandTemplate as CommandTemplate,
        InvalidTemplate as InvalidTemplate,
        Variable as Variable,
        fill_arguments as fill_arguments,
        parse_template as parse_template,
    )
    from skillc.skills.yaml import (
        NotYaml as NotYaml,
        load_yaml as load_yaml,
        parse_yaml_events as parse_yaml_events,
    )
else:
    __getattr__ = front_door(
        __name__,
        {
            "document": "Document Metadata main_file parse read_metadata",
            "files": "MAX_FILES SourceFile hash_source list_files make_folder resolve_inside",
            "format": "KNOWN_FIELDS LIMITS find_violations",
            "frontmatter": "Frontmatter",
            "ids": "NAME_CHARACTERS SkillId is_name is_segment to_segment",
            "markdown": "Heading find_headings line_count newlines walk",
            "tools.blocks": "ToolBlock find_blocks",
            "tools.definition": "MODES SkillDefinition ToolDefinition read_definition read_header read_tool",
            "tools.parameters": "InvalidDefinition MAX_INTEGER NotOfType ParameterDefinition Value join_names"
            " parse_value",
            "tools.template": "CommandTemplate InvalidTemplate Variable fill_arguments parse_template",
            "yaml": "NotYaml load_yaml parse_yaml_events",
        },
    )

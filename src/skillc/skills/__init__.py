"""The parts of a skill: SKILL.md, frontmatter, headings, files and their hash, IDs, the format, tools.

Reads folders and bytes; knows nothing of where skills come from or what is done with them.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.skills.case_files import has_cases, read_cases
    from skillc.skills.cases import (
        ANSWER,
        CASES_FOLDER,
        CONTAINS,
        EXACT,
        FILE_EXISTS,
        FILES,
        JSON_PATH,
        REGEX,
        SCRIPT,
        SENTENCE,
        TOOL_ORDER,
        TOOL_USED,
        TRACE,
        Case,
        Grader,
        ToolPattern,
    )
    from skillc.skills.digest import EXECUTABLE, SkillDigest, digest_skill
    from skillc.skills.document import Document, Metadata, main_file, parse, read_main_file, read_metadata
    from skillc.skills.files import (
        MAX_FILES,
        SourceFile,
        has_uncounted,
        is_left_out,
        list_file_names,
        list_files,
        list_tree,
        open_inside,
        resolve_inside,
    )
    from skillc.skills.folders import (
        MAX_FILE_NAME,
        MAX_PATH,
        digest_files,
        find_collision,
        hash_source,
        is_portable,
        make_folder,
        to_spelling,
        write_files,
    )
    from skillc.skills.format import (
        KNOWN_FIELDS,
        LIMITS,
        TO_DO,
        find_violations,
        read_tags,
        read_texts,
        read_words,
        require_description,
    )
    from skillc.skills.frontmatter import MAX_FRONTMATTER, Frontmatter
    from skillc.skills.ids import (
        MAX_SEGMENT,
        NAME_CHARACTERS,
        SkillId,
        id_prefix,
        is_name,
        is_segment,
        to_segment,
    )
    from skillc.skills.markdown import (
        Heading,
        find_headings,
        guess_body,
        line_count,
        newlines,
        parser_text,
        title_to_show,
        walk,
    )
    from skillc.skills.tools.blocks import ToolBlock, find_blocks
    from skillc.skills.tools.definition import (
        MODES,
        SkillDefinition,
        ToolDefinition,
        read_definition,
        read_header,
        read_tool,
    )
    from skillc.skills.tools.parameters import (
        MAX_DIGITS,
        InvalidDefinition,
        NotOfType,
        ParameterDefinition,
        Value,
        join_names,
        parse_value,
    )
    from skillc.skills.tools.template import (
        CommandTemplate,
        InvalidTemplate,
        Variable,
        fill_arguments,
        parse_template,
    )
    from skillc.skills.yaml import NotYaml, load_yaml, parse_yaml_events
else:
    __getattr__, __all__ = front_door(__name__)

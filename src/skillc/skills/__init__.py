"""The parts of a skill: its files and their hash, its headings, its ID.

Reads folders and bytes; knows nothing of where skills come from or what is done with them. Three parts have
front doors of their own: `document` (SKILL.md and its frontmatter), `cases` (how it is tried) and `tools`
(what it declares to run).
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.skills.digest import SIGNATURES, SkillDigest, digest_contents, digest_skill
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
        write_file,
        write_files,
    )
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
else:
    __getattr__, __all__ = front_door(__name__)

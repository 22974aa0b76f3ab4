"""SKILL.md: its frontmatter, the YAML in it, the fields of the format, and the text below."""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.skills.document.document import (
        Document,
        Metadata,
        main_file,
        parse,
        read_main_file,
        read_metadata,
    )
    from skillc.skills.document.format import (
        KNOWN_FIELDS,
        LIMITS,
        NAME_RULE,
        TO_DO,
        find_violations,
        read_tags,
        read_texts,
        read_words,
        require_description,
    )
    from skillc.skills.document.frontmatter import MAX_FRONTMATTER, Frontmatter
    from skillc.skills.document.yaml import NotYaml, load_yaml, parse_yaml_events
else:
    __getattr__, __all__ = front_door(__name__)

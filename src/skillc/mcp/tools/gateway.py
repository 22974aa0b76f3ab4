"""The tools that read a skill piece by piece: outline, show, open, sources, search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skillc.errors import InvalidOption, warning
from skillc.gateway import (
    explain_no_results,
    has_changes,
    list_sources,
    open_file,
    read_outline,
    render_outline,
    search_sections,
    show_section,
)
from skillc.mcp.tools import schemas
from skillc.mcp.tools.definition import Answer, Call, Parameter, ToolDefinition, lines
from skillc.text import one_line

if TYPE_CHECKING:
    from skillc.gateway import OpenFile, SearchResults
    from skillc.library import Skill
    from skillc.mcp.workplace import Workplace

MAX_OPEN = 16 << 20  # bytes of a file that is sent as a whole
MAX_CUT = 256 << 20  # bytes of a file whose first lines are sent

SKILL = Parameter(
    "skill",
    "Name of the skill as skc_list shows it, the ID that browse_skills shows, or the path of its folder.",
    required=True,
)
MAX_LINES = Parameter("max_lines", "Return at most so many lines.", "count")


def _outline(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    level = given["level"]
    entries, noticed = place.access(
        "outline", given["skill"], {"level": level}, lambda skill: read_outline(skill, level)
    )
    value = {"result": [entry.as_json() for entry in entries]}
    return Answer(value, "\n".join(render_outline(entries)), lines(noticed))


def _show(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    settings = place.settings()
    section, file, limit = given["section"], given["file"], given["max_lines"]
    shown, noticed = place.access(
        "show",
        given["skill"],
        {"section": section, "file": file},
        lambda skill: show_section(skill, section, file=file, max_lines=limit, tokenizer=settings.tokenizer),
        lambda shown: {"section": shown.heading, "file": shown.file},
    )
    value = shown.as_json()
    told = lines(settings.diagnostics, noticed)
    if shown.ambiguous:
        told += (f'warning: multiple matches for "{one_line(section)}"; showing first',)
    return Answer(value, value["content"], told)


def _open(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    path, limit = given["path"], given["max_lines"]

    def read(skill: Skill) -> dict[str, Any]:
        opened = open_file(skill, path, limit)
        _check_size(opened)
        return opened.as_json()

    value, noticed = place.access("open", given["skill"], {"path": path}, read)
    text = value["content"]
    if value["encoding"] == "base64":
        text = f"{one_line(path)}: {value['size']} bytes that are not text; its content is in base64"
    return Answer(value, text, lines(noticed))


def _check_size(opened: OpenFile) -> None:
    """A chat is no place for more; the file is closed."""
    limit = MAX_OPEN if opened.max_lines is None else MAX_CUT
    if opened.size > limit:
        for _ in opened.pieces():
            break
        hint = '; give "max_lines"' if opened.size <= MAX_CUT else ""
        raise InvalidOption(f"'{opened.path}' is over {limit >> 20} MiB{hint}")


def _sources(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    depth, directory, pattern = given["depth"], given["dir"], given["pattern"]
    tree, noticed = place.access(
        "sources",
        given["skill"],
        {"dir": directory, "depth": depth, "pattern": pattern},
        lambda skill: list_sources(
            skill, depth=depth, directory=directory, limit=given["limit"], pattern=pattern
        ),
    )
    return Answer(tree.as_json(), "\n".join(tree.lines()), lines(noticed))


def _search(place: Workplace, given: Mapping[str, Any], call: Call) -> Answer:
    settings = place.settings()
    query, setting = given["query"], settings.tokenizer

    def find(skill: Skill) -> tuple[Skill, SearchResults]:
        return skill, search_sections(
            skill, query, limit=given["limit"], mode=given["mode"], tokenizer=setting
        )

    (skill, found), noticed = place.access(
        "search",
        given["skill"],
        {"query": query, "result_count": 0},
        find,
        lambda pair: {"result_count": len(pair[1].results)},
    )
    told = lines(settings.diagnostics, noticed)
    if has_changes(skill, setting):
        told += (warning("W004", skill.name, skill.name).line(),)
    if given["mode"] == "all" and not found.results:
        told += tuple(filter(None, [explain_no_results(skill, query, 'mode "any"', setting)]))
    return Answer(found.as_json(), "\n".join(found.lines()), told)


READING = (
    ToolDefinition(
        "skc_outline",
        "Outline of a skill",
        "gateway",
        "List the headings of all Markdown files of a skill, so that you can fetch just the sections you"
        " need with skc_show. Start here when a skill is large or new to you.",
        (SKILL, Parameter("level", "Only headings down to this level, 1 to 6.", "count", maximum=6)),
        schemas.OUTLINE,
        _outline,
    ),
    ToolDefinition(
        "skc_show",
        "Show a section of a skill",
        "gateway",
        "Return one section of a skill, its subsections included. The heading is matched in any case, as"
        " skc_outline or skc_search show it; where none matches, headings like it are suggested.",
        (
            SKILL,
            Parameter("section", "The section's heading, such as 'Filling forms'.", required=True),
            Parameter("file", "Only look in this file, such as references/api.md."),
            MAX_LINES,
        ),
        schemas.SHOW,
        _show,
    ),
    ToolDefinition(
        "skc_open",
        "Open a file of a skill",
        "gateway",
        "Return a file of a skill as it is: a script, a template, a reference. Prefer skc_show for a part"
        " of a long Markdown file.",
        (
            SKILL,
            Parameter("path", "The file, relative to the skill, as skc_sources lists it.", required=True),
            MAX_LINES,
        ),
        schemas.OPEN,
        _open,
    ),
    ToolDefinition(
        "skc_sources",
        "Files of a skill",
        "gateway",
        "List the files of a skill as a tree.",
        (
            SKILL,
            Parameter("depth", "How many levels of directories to open.", "count"),
            Parameter("dir", "Only what is below this directory."),
            Parameter("limit", "At most so many entries.", "count", default=100),
            Parameter("pattern", "Only files that match this glob, by name or, with a slash, by path."),
        ),
        schemas.SOURCES,
        _sources,
    ),
    ToolDefinition(
        "skc_search",
        "Search a skill",
        "gateway",
        "Find the sections of one skill that hold some words, best first, with a snippet of each. Read a"
        " hit with skc_show. To learn which skill fits a task, use skc_find instead.",
        (
            SKILL,
            Parameter("query", "Words to look for.", required=True),
            Parameter("limit", "At most so many results.", "count", default=10),
            Parameter(
                "mode",
                "all: sections that hold every word; any: ranked by how many they hold; phrase: the words as"
                " they stand; raw: SQLite FTS5's own query language.",
                default="all",
                choices=("all", "any", "phrase", "raw"),
            ),
        ),
        schemas.SEARCH,
        _search,
    ),
)

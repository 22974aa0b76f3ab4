"""The tools that read a skill piece by piece: outline, show, open, sources, search."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from skillc.errors import InvalidOption
from skillc.gateway import OpenFile, render_outline
from skillc.mcp.tools.definition import Answer, Call, Count, SkillName, tool, whole_number
from skillc.mcp.tools.results import FileResult, OutlineResult, SearchResult, SectionResult, SourcesResult
from skillc.text import one_line

MAX_OPEN = 16 << 20  # bytes of a file that is sent as a whole
MAX_CUT = 256 << 20  # bytes of a file whose first lines are sent

Level = Annotated[int, Field(ge=1, le=6), BeforeValidator(whole_number)]
MaxLines = Annotated[Count | None, Field(description="Maximum number of lines to return.")]


@tool("Outline of a skill", "gateway", OutlineResult)
def skc_outline(
    call: Call,
    skill: SkillName,
    level: Annotated[Level | None, Field(description="Only headings down to this level, 1 to 6.")] = None,
) -> Answer:
    """List the headings of all Markdown files of a skill, so that you can fetch just the sections you need
    with skc_show. Start here when a skill is large or new to you."""
    entries = call.workspace.outline(skill, level)
    return Answer({"headings": [entry.as_json() for entry in entries]}, "\n".join(render_outline(entries)))


@tool("Show a section of a skill", "gateway", SectionResult)
def skc_show(
    call: Call,
    skill: SkillName,
    section: Annotated[str, Field(description="The section's heading, such as 'Filling forms'.")],
    file: Annotated[
        str | None, Field(description="Only look in this file, such as references/api.md.")
    ] = None,
    max_lines: MaxLines = None,
) -> Answer:
    """Return one section of a skill, its subsections included. The heading is matched in any case, as
    skc_outline or skc_search show it; where none matches, headings like it are suggested."""
    value = call.workspace.show(skill, section, file=file, max_lines=max_lines).as_json()
    return Answer(value, value["content"])


@tool("Open a file of a skill", "gateway", FileResult)
def skc_open(
    call: Call,
    skill: SkillName,
    path: Annotated[str, Field(description="The file, relative to the skill, as skc_sources lists it.")],
    max_lines: MaxLines = None,
) -> Answer:
    """Return a file of a skill as it is: a script, a template, a reference. Prefer skc_show for a part of a
    long Markdown file."""
    value = call.workspace.open(skill, path, max_lines, _check_size).as_json()
    text = value["content"]
    if value["encoding"] == "base64":
        text = f"{one_line(path)}: {value['size']} bytes that are not text; its content is in base64"
    return Answer(value, text)


def _check_size(file: OpenFile) -> None:
    """Refuse a file that is too large for a conversation, and close it."""
    limit = MAX_OPEN if file.max_lines is None else MAX_CUT
    if file.size > limit:
        for _ in file.pieces():
            break
        hint = '; give "max_lines"' if file.size <= MAX_CUT else ""
        raise InvalidOption(f"'{file.path}' is over {limit >> 20} MiB{hint}")


@tool("Files of a skill", "gateway", SourcesResult)
def skc_sources(
    call: Call,
    skill: SkillName,
    depth: Annotated[Count | None, Field(description="How many levels of directories to open.")] = None,
    dir: Annotated[str | None, Field(description="Only what is below this directory.")] = None,
    limit: Annotated[Count, Field(description="Maximum number of entries.")] = 100,
    pattern: Annotated[
        str | None, Field(description="Only files that match this glob, by name or, with a slash, by path.")
    ] = None,
) -> Answer:
    """List the files of a skill as a tree."""
    tree = call.workspace.sources(skill, depth=depth, directory=dir, limit=limit, pattern=pattern)
    return Answer(tree.as_json(), "\n".join(tree.lines()))


@tool("Search a skill", "gateway", SearchResult)
def skc_search(
    call: Call,
    skill: SkillName,
    query: Annotated[str, Field(description="Words to look for.")],
    limit: Annotated[Count, Field(description="Maximum number of results.")] = 10,
    mode: Annotated[
        Literal["all", "any", "phrase", "raw"],
        Field(
            description="all: sections that hold every word; any: ranked by how many they hold; phrase: the"
            " words as they stand; raw: SQLite FTS5's own query language."
        ),
    ] = "all",
) -> Answer:
    """Find the sections of one skill that hold some words, best first, with a snippet of each. Read a hit
    with skc_show. To learn which skill fits a task, use skc_find instead."""
    results = call.workspace.search(skill, query, limit=limit, mode=mode, any_option='mode "any"')
    return Answer(results.as_json(), "\n".join(results.lines()))


GATEWAY_TOOLS = (skc_outline, skc_show, skc_open, skc_sources, skc_search)

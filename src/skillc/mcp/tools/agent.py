"""The tools for agents: read a skill piece by piece, find and load skills, run what one declares."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from skillc.engine import TOOLS, render_browse
from skillc.errors import ApprovalRequired, InvalidOption
from skillc.gateway import OpenFile, render_outline
from skillc.index.skills import Scope
from skillc.library import format_results
from skillc.mcp.approval import NeedsApproval
from skillc.mcp.tools.definition import Answer, Call, Count, SkillName, tool, whole_number
from skillc.text import one_line
from skillc.tools import Answer as Approval, ApprovalRequest, approval_advice

MAX_OPEN = 16 << 20  # bytes of a file that is sent as a whole
MAX_CUT = 256 << 20  # bytes of a file whose first lines are sent
MAX_RESULTS = 1000  # as the command has it

Level = Annotated[int, Field(ge=1, le=6), BeforeValidator(whole_number)]
MaxLines = Annotated[Count | None, Field(description="Maximum number of lines to return.")]
_DEFINITIONS = {definition.name: definition for definition in TOOLS}


@tool("Outline of a skill", "gateway", "outline --format object")
def skc_outline(
    call: Call,
    skill: SkillName,
    level: Annotated[Level | None, Field(description="Only headings down to this level, 1 to 6.")] = None,
) -> Answer:
    """List the headings of all Markdown files of a skill. Fetch just the sections you need with skc_show.
    Start here when a skill is large or new to you."""
    entries = call.workspace.outline(skill, level)
    return Answer({"headings": entries}, "\n".join(render_outline(entries)))


@tool("Show a section of a skill", "gateway", "show")
def skc_show(
    call: Call,
    skill: SkillName,
    section: Annotated[str, Field(description="The section's heading, such as 'Filling forms'.")],
    file: Annotated[
        str | None, Field(description="Only look in this file, such as references/api.md.")
    ] = None,
    max_lines: MaxLines = None,
) -> Answer:
    """Return one section of a skill, its subsections included. The heading is matched in any case; where none
    matches, headings like it are suggested. skc_outline and skc_search name headings."""
    value = call.workspace.show(skill, section, file=file, max_lines=max_lines).as_json()
    return Answer(value, value["content"])


@tool("Open a file of a skill", "gateway", "open")
def skc_open(
    call: Call,
    skill: SkillName,
    path: Annotated[str, Field(description="The file, relative to the skill.")],
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


@tool("Files of a skill", "gateway", "sources")
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
    return Answer(tree, "\n".join(tree.lines()))


@tool("Search a skill", "gateway", "search")
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
    return Answer(results, "\n".join(results.lines()))


GATEWAY_TOOLS = (skc_outline, skc_show, skc_open, skc_sources, skc_search)


def _description(tool: str, parameter: str) -> Any:
    """Return a parameter's description in the engine's words, which agents in Python see, too."""
    return Field(description=_DEFINITIONS[tool].parameters["properties"][parameter]["description"])


@tool("Find skills for a task", "library", "find", open_world=True)
def skc_find(
    call: Call,
    task: Annotated[str, Field(description="What is to be done, in words or pages; any word may match.")],
    limit: Annotated[
        int,
        Field(ge=1, le=MAX_RESULTS, description="Maximum number of skills."),
        BeforeValidator(whole_number),
    ] = 10,
    repository: Annotated[str, Field(description="Only skills of this repository.")] = "",
    collection: Annotated[str, Field(description="Only skills of this collection and below.")] = "",
    capability: Annotated[str, Field(description="Only skills that need this capability.")] = "",
    tag: Annotated[str, Field(description="Only skills with this tag.")] = "",
    all: Annotated[bool, Field(description="Show copies of a skill as results of their own.")] = False,
) -> Answer:
    """Find the skills that fit a task, over all repositories, best first, each with the reasons and the
    section to read first. Copies of a skill are one result. Start here when there are many skills.
    Then call load_skill."""
    call.workspace.tell_owners()
    scope = Scope(repository, collection, capability, tag, all)
    skills = call.workspace.find(task, limit, scope)
    return Answer(skills.as_json(task), "\n".join(format_results(skills)))


async def browse_skills(
    call: Call,
    path: Annotated[str, _description("browse_skills", "path")] = "",
    query: Annotated[str | None, _description("browse_skills", "query")] = None,
    cursor: Annotated[str | None, _description("browse_skills", "cursor")] = None,
) -> Answer:
    here = call.workspace
    here.tell_owners()
    value = await here.engine().browse(path, query, cursor)
    here.tell(here.library().warnings())
    return Answer(value, "\n".join(render_browse(value)))


async def load_skill(call: Call, id: Annotated[str, _description("load_skill", "id")]) -> Answer:
    (skill,) = await call.workspace.engine().resolve_and_render([id])
    return Answer(skill, skill.rendered_body)


for _function in (browse_skills, load_skill):
    _function.__doc__ = _DEFINITIONS[_function.__name__].description

LIBRARY_TOOLS = (
    skc_find,
    tool("Browse skills", "library", "browse", open_world=True)(browse_skills),
    tool("Load a skill", "library", "load", open_world=True)(load_skill),
)


@tool(
    "Run a tool of a skill",
    "run",
    "run",
    slow=True,
    writes=True,
    destructive=True,
    idempotent=False,
    open_world=True,
)
def run_tool(
    call: Call,
    skill: Annotated[str, Field(description="Name or ID of the skill.")],
    tool: Annotated[str, Field(description="Name of the tool, as the skill's heading has it.")],
    parameters: Annotated[
        dict[str, Any] | None, Field(description="Values for the tool's parameters, by name.")
    ] = None,
    mode: Annotated[Literal["Global", "Dev", "Meeting"], Field(description="The mode to run in.")] = "Global",
) -> Answer:
    """Run a command that a skill declares as a tool (an H3 heading with a Command in its SKILL.md; load the
    skill first). It runs without a shell, in a sandbox, and the person is asked for approval first unless it
    was given before. Returns the output and the exit code."""
    here = call.workspace

    def approve(request: ApprovalRequest) -> Approval:
        if call.approval == request.subject:
            return Approval.ONCE
        refusal = ApprovalRequired(skill, approval_advice(skill))
        raise NeedsApproval(request.subject, f"{request.text()}\n\nRun it, this once?", refusal)

    run = here.run(skill, tool, parameters or {}, mode=mode, approve=approve, cancel=call.cancel)
    envelope = run.envelope
    assert envelope is not None
    if envelope.interruption is not None:
        here.report(envelope.interruption.text())
    elif not envelope.success:  # a model that reads the text alone has to know, too
        here.report(envelope.error or f"exit code: {envelope.exit_code}")
    # Some models refuse an empty text.
    return Answer(envelope, envelope.output or "(no output)", failed=not envelope.success)


RUN_TOOLS = (run_tool,)

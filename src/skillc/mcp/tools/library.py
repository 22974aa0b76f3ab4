"""The tools over all repositories: which skills there are, and one as it enters a conversation."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from skillc.engine import TOOLS, render_browse
from skillc.index.skills import Scope, format_results
from skillc.mcp.tools.definition import Answer, Call, tool, whole_number
from skillc.mcp.tools.results import BrowseResult, FindResult, LoadResult

MAX_RESULTS = 1000  # as the command has it

_DEFINITIONS = {definition.name: definition for definition in TOOLS}


def _description(tool: str, parameter: str) -> Any:
    """Return a parameter's description in the engine's words, which agents in Python see, too."""
    return Field(description=_DEFINITIONS[tool].parameters["properties"][parameter]["description"])


@tool("Find skills for a task", "library", FindResult, open_world=True)
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
    section to read first. Copies of a skill are one result. Start here when there are many skills; then
    load_skill."""
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
    return Answer(skill.as_json(), skill.rendered_body)


for _function in (browse_skills, load_skill):
    _function.__doc__ = _DEFINITIONS[_function.__name__].description

LIBRARY_TOOLS = (
    skc_find,
    tool("Browse skills", "library", BrowseResult, open_world=True)(browse_skills),
    tool("Load a skill", "library", LoadResult, open_world=True)(load_skill),
)

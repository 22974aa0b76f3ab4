"""The tools that an agent gets: their definitions for a model, and what calling one does.

An agent can also be given tools from elsewhere. The engine knows no runner and no sandbox: whatever fits
the protocol `Toolset` has tools for skills, such as `skillc.SkillToolset`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from skillc.engine.engine import DefaultSkillEngine, ResolvedSkill, SkillEngine
from skillc.engine.inventory import MAX_DESCRIPTION
from skillc.engine.turn import Observer, SkillsResolved
from skillc.errors import SkillNotFound, unexpected
from skillc.index.skills import FoundSkill
from skillc.schema import check_arguments, object_schema, property_schema
from skillc.text import cut

MAX_LISTED = 500  # files of a skill; beyond that only their number
FOUND = 5  # skills that a search returns unless the model says how many
MAX_FOUND = 50
MAX_MATCHED = 8  # words that say why a skill fits
MAX_COPIES = 5  # of a skill that are named


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as a model sees it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call, for the model."""

    text: str
    is_error: bool = False


def _text(description: str) -> dict[str, Any]:
    return property_schema("string", description)


TOOLS = (
    ToolDefinition(
        "browse_skills",
        "Browse available skill collections or list skills in a collection. With a query, search the names"
        " and descriptions of all skills instead.",
        object_schema(
            path=_text(
                "Collection path to browse, such as extraction or extraction/medical; empty for the root."
            ),
            query=_text("Words to search for in all collections; the path is then ignored."),
            cursor=_text("The next_cursor of the last answer, to get what follows it."),
        ),
    ),
    ToolDefinition(
        "load_skill",
        "Load a skill's full instructions into the conversation. Use it before following a skill.",
        object_schema(("id",), id=_text("Canonical skill ID, such as extraction/email-extractor.")),
    ),
    ToolDefinition(
        "find_skills",
        "Find the skills that fit a task, best first, by their whole text in all collections. Each comes with"
        " the words of the task that it has, and the section of its instructions to read first; copies of it"
        " are named with it. Start here"
        " when there are many skills; then use load_skill.",
        object_schema(
            ("task",),
            task=_text("What is to be done, in words or whole paragraphs; any word may match."),
            limit=property_schema(
                "integer", f"At most so many skills; {FOUND} without it.", minimum=1, maximum=MAX_FOUND
            ),
            repository=_text("Only skills of this repository."),
            collection=_text("Only skills of this collection and below."),
            capability=_text("Only skills that need this capability."),
            tag=_text("Only skills with this tag."),
        ),
    ),
    ToolDefinition(
        "list_skill_files",
        "List the files of a skill: references, scripts and templates that its instructions mention.",
        object_schema(("id",), id=_text("Canonical skill ID.")),
    ),
    ToolDefinition(
        "read_skill_file",
        "Read one file of a skill.",
        object_schema(
            ("id", "path"),
            id=_text("Canonical skill ID."),
            path=_text("Path of the file, relative to the skill."),
        ),
    ),
)

# The method of an engine that each tool calls.
_NEEDS = {
    "browse_skills": "browse",
    "load_skill": "resolve_and_render",
    "find_skills": "find",
    "list_skill_files": "files",
    "read_skill_file": "read_file",
}
RESERVED = tuple(tool.name for tool in TOOLS)  # names that no other tool can have [D47]


class SkillTools:
    """The tools bound to an engine. A failure is a result for the model, never an exception.

    `names` are those of all tools that the agent has, for the answer to an unknown name.
    """

    definitions = TOOLS

    def __init__(
        self, engine: SkillEngine, observer: Observer | None = None, names: Sequence[str] = RESERVED
    ) -> None:
        self._engine: Any = engine  # with the methods of _NEEDS that it has
        self._observer = observer
        self._names = names
        self._calls: dict[str, Callable[..., Awaitable[str]]] = {
            tool.name: getattr(self, f"_{tool.name}") for tool in TOOLS
        }

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Call a tool by name with a model's arguments."""
        if not isinstance(arguments, Mapping | None):
            return ToolResult(f"the arguments of {name} must be an object", is_error=True)
        values = {key: value for key, value in (arguments or {}).items() if value is not None}
        usable = (tool for tool in TOOLS if hasattr(self._engine, _NEEDS[tool.name]))
        tool = next((tool for tool in usable if tool.name == name), None)
        if tool is None:
            return ToolResult(f"unknown tool '{name}'; there are {', '.join(self._names)}", is_error=True)
        problem = check_arguments(name, tool.parameters, values)
        if problem:
            return ToolResult(problem, is_error=True)
        try:
            return ToolResult(await self._calls[name](**values))
        except SkillNotFound as error:
            return ToolResult(_not_found(error), is_error=True)
        except Exception as error:  # of any source
            return ToolResult(unexpected(error).message, is_error=True)

    async def _browse_skills(self, path: str = "", query: str = "", cursor: str | None = None) -> str:
        return json.dumps(await self._engine.browse(path, query or None, cursor), ensure_ascii=False)

    async def _load_skill(self, id: str) -> str:
        skill: ResolvedSkill = (await self._engine.resolve_and_render([id]))[0]
        if self._observer:
            self._observer(SkillsResolved((skill.id,), skill.byte_size))
        return skill.rendered_body

    async def _find_skills(self, task: str, limit: int = FOUND, **scope: str) -> str:
        results = await self._engine.find(task, limit, **scope)
        answer: dict[str, Any] = {"skills": await asyncio.to_thread(_reasons, results)}
        if getattr(results, "corrections", None):  # an engine of another kind may return any list
            answer["corrections"] = results.corrections
        if not results:
            limits = [f"{name} '{value}'" for name, value in scope.items() if value]
            where = f" of {' and '.join(limits)}" if limits else ""
            answer["note"] = f"no skill{where} has any of these words; browse_skills lists what there is"
        return json.dumps(answer, ensure_ascii=False, separators=(",", ":"))

    async def _list_skill_files(self, id: str) -> str:
        files = await self._engine.files(id)
        answer: dict[str, Any] = {"id": id, "files": files[:MAX_LISTED]}
        if len(files) > MAX_LISTED:
            answer["more"] = len(files) - MAX_LISTED
        return json.dumps(answer, ensure_ascii=False)

    async def _read_skill_file(self, id: str, path: str) -> str:
        text: str = await self._engine.read_file(id, path)
        return text


def _reasons(results: Sequence[FoundSkill]) -> list[dict[str, Any]]:
    """Return skills with why each fits, which is read from its file."""
    skills = []
    for skill in results:
        words = [word for word, _ in skill.matched[:MAX_MATCHED]]
        about = cut(skill.description, MAX_DESCRIPTION)
        fields: dict[str, Any] = {"id": skill.id, "description": about, "matched": words}
        if skill.section:
            fields["section"] = skill.section
        if skill.file:
            fields["file"] = skill.file
        if skill.copies:
            fields["copies"] = [{"id": i, "source_name": name} for name, i in skill.copies[:MAX_COPIES]]
        skills.append(fields)
    return skills


def _not_found(error: SkillNotFound) -> str:
    """Return the message for an unknown ID, with what a model can do about it."""
    if error.reason:
        return error.message
    if error.nearest:
        return f"{error.message}; did you mean {' or '.join(error.nearest)}?"
    return f"{error.message}; find_skills and browse_skills show what there is"


class OfferedTool(Protocol):
    """A tool from elsewhere as a model sees it."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...


class Outcome(Protocol):
    """The result of a call of such a tool, for the model."""

    @property
    def text(self) -> str: ...
    @property
    def is_error(self) -> bool: ...


class OfferedTools(Protocol):
    """The tools from elsewhere that one agent was given."""

    @property
    def definitions(self) -> Sequence[OfferedTool]: ...

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Call one of `definitions`; a failure is an outcome, too."""
        ...


class Toolset(Protocol):
    """Something that has tools for the skills of an agent."""

    async def offer(self, skills: DefaultSkillEngine, reserved: Collection[str]) -> OfferedTools:
        """Return the tools for an agent's skills, under names that are not `reserved`."""
        ...

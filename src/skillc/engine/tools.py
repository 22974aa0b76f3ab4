"""The tools that an agent gets: their definitions for a model, and what calling one does."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc.engine.events import SkillsResolved
from skillc.errors import unexpected

if TYPE_CHECKING:
    from skillc.engine.skill_engine import DefaultSkillEngine
    from skillc.engine.turns import Observer


MAX_LISTED = 500  # files of a skill; of more, their number is told


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as a model sees it; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call returns to the model."""

    text: str
    is_error: bool = False


def _object(required: tuple[str, ...] = (), **properties: str) -> dict[str, Any]:
    """A JSON schema of text properties."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": words} for name, words in properties.items()},
        "required": list(required),
        "additionalProperties": False,
    }


TOOLS = (
    ToolDefinition(
        "browse_skills",
        "Browse available skill collections or list skills in a collection. With a query, search the names"
        " and descriptions of all skills instead.",
        _object(
            path="Collection path to browse, such as extraction or extraction/medical; empty for the root.",
            query="Words to search for in all collections; the path is then ignored.",
        ),
    ),
    ToolDefinition(
        "load_skill",
        "Load a skill's full instructions into the conversation. Use it before following a skill.",
        _object(("id",), id="Canonical skill ID, such as extraction/email-extractor."),
    ),
    ToolDefinition(
        "list_skill_files",
        "List the files of a skill: references, scripts and templates that its instructions mention.",
        _object(("id",), id="Canonical skill ID."),
    ),
    ToolDefinition(
        "read_skill_file",
        "Read one file of a skill.",
        _object(("id", "path"), id="Canonical skill ID.", path="Path of the file, relative to the skill."),
    ),
)


RESERVED = tuple(tool.name for tool in TOOLS)  # names that no other tool can have [D47]


class SkillTools:
    """The tools bound to an engine. A failure is a result for the model, never an exception.

    `known` are the names of all tools that the agent has, for whoever asks for one that is none.
    """

    definitions = TOOLS

    def __init__(
        self, engine: DefaultSkillEngine, observer: Observer | None = None, known: Sequence[str] = RESERVED
    ) -> None:
        self._engine = engine
        self._observer = observer
        self._known = known
        self._calls: dict[str, Callable[..., Awaitable[str]]] = {
            "browse_skills": self._browse,
            "load_skill": self._load,
            "list_skill_files": self._list_files,
            "read_skill_file": self._read_file,
        }

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Call a tool by name with the arguments that a model gave."""
        if not isinstance(arguments, Mapping | None):
            return ToolResult(f"the arguments of {name} must be an object", is_error=True)
        given = {key: value for key, value in (arguments or {}).items() if value is not None}
        problem = _problem(name, given, self._known)
        if problem:
            return ToolResult(problem, is_error=True)
        try:
            return ToolResult(await self._calls[name](**given))
        except Exception as error:  # also of sources that are not ours
            return ToolResult(unexpected(error).message, is_error=True)

    async def _browse(self, path: str = "", query: str = "") -> str:
        return json.dumps(await self._engine.browse(path, query or None), ensure_ascii=False)

    async def _load(self, id: str) -> str:
        skill = (await self._engine.resolve_and_render([id]))[0]
        if self._observer:
            self._observer(SkillsResolved((skill.id,), skill.byte_size))
        return skill.rendered_body

    async def _list_files(self, id: str) -> str:
        files = await self._engine.files(id)
        answer: dict[str, Any] = {"id": id, "files": files[:MAX_LISTED]}
        if len(files) > MAX_LISTED:
            answer["more"] = len(files) - MAX_LISTED
        return json.dumps(answer, ensure_ascii=False)

    async def _read_file(self, id: str, path: str) -> str:
        return await self._engine.read_file(id, path)


# The types of JSON schema, as Python has them, and their names in a sentence.
_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "string": (str, "text"),
    "integer": (int, "an integer"),
    "number": ((int, float), "a number"),
    "boolean": (bool, "true or false"),
    "array": (list, "a list"),
}


def _problem(name: str, arguments: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """What is wrong with a call, in words that a model can act on."""
    tool = next((tool for tool in TOOLS if tool.name == name), None)
    if tool is None:
        return f"unknown tool '{name}'; there are {', '.join(names)}"
    known = tool.parameters["properties"]
    for key, value in arguments.items():
        if key not in known:
            return f"unknown argument '{key}'; {name} takes {', '.join(known)}"
        kind, words = _KINDS[known[key]["type"]]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            return f"argument '{key}' must be {words}"
    missing = [key for key in tool.parameters["required"] if key not in arguments]
    return f"argument '{missing[0]}' is missing" if missing else None

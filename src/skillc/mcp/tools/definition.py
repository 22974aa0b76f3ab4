"""Define a tool from a Python function: its signature is the input schema, its docstring the description.

    @tool("Show a section of a skill", "gateway", "show")
    def skc_show(call: Call, skill: SkillName, section: Annotated[str, Field(description="…")]) -> Answer:
        '''Return one section of a skill, …'''

pydantic, which the SDK loads anyway, makes the schemas and checks the arguments of a call.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc, signature
from typing import Annotated, Any, get_type_hints

import anyio.from_thread
import pydantic
from mcp.server.context import ServerRequestContext as Context
from mcp_types import CallToolResult, ContentBlock, TextContent, Tool, ToolAnnotations

from skillc import results
from skillc.contract import encode
from skillc.errors import InvalidOption, SkillcError
from skillc.text import utf8_text
from skillc.tools import Envelope
from skillc.workspace import Workspace

Function = Callable[..., "Answer | Awaitable[Answer]"]
MAX_COUNT = 10**9 - 1
REPORT_INTERVAL = 0.1  # seconds between two reports of progress


def whole_number(value: Any) -> Any:
    """Return 3 for 3.0: JSON has one kind of number."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _bounded(value: int) -> int:
    if value > MAX_COUNT:
        raise ValueError
    return value


Count = Annotated[
    int, pydantic.Field(ge=1), pydantic.BeforeValidator(whole_number), pydantic.AfterValidator(_bounded)
]

# An error, as commands print it [D62].
_TEXT = {"type": "string"}
_ERROR: dict[str, Any] = {
    "type": "object",
    "description": "instead of all else, if the call failed",
    "properties": {"code": _TEXT, "message": _TEXT, "hint": {"type": ["string", "null"]}},
    "required": ["code", "message", "hint"],
}

# What to know of some keys of results.
_ABOUT = {
    "also": "other repositories that have its ID",
    "copies": "where copies and near-copies of it are",
    "corrections": "words that no skill has, with those that were searched for instead",
    "data": "its form depends on group_by",
    "disabled": "where agents do without it",
    "encoding": "utf-8 or base64",
    "filtered": "before the limit",
    "headings": "every heading in order; pass one as `section` to skc_show",
    "matched": "the words of the task that it has, strongest first",
    "more": "how many entries follow, which a limit left out",
    "more_lines": "how many lines max_lines left out",
    "output": "its first and last 2048 bytes",
    "parsed": "stdout, where it is JSON",
    "read": "the command that shows it",
    "sandbox": "bubblewrap, landlock or none",
    "section": "a heading to read with skc_show",
    "status": "of a skill normal, not-built or obsolete; of a build built, updated or unchanged",
    "tokens": "an estimate of what it costs a context",
    "total": "before any filter",
}

# The types of JSON in the words of a message.
_TYPES = {"string": "text", "integer": "a positive integer", "boolean": "true or false"}
_TYPES |= {"array": "a list of texts", "object": "an object"}


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a tool: `value`, whose JSON is that of the command line, and `text` for reading."""

    value: Any
    text: str
    failed: bool = False


class Request:
    """One call of a tool: the lines it reports, its progress, and its end with the client.

    `approval` is the subject of an `approval.NeedsApproval` that a person agreed to.
    """

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.lines: list[str] = []
        self.approval: str | None = None
        self.cancel = threading.Event()
        self._last = 0.0

    def progress(self, count: int, total: int, message: str) -> None:
        """Report progress to the client; raises SkillcError when the call was cancelled."""
        if self.cancel.is_set():
            raise SkillcError("cancelled")
        now = time.monotonic()
        if count == total or now - self._last >= REPORT_INTERVAL:
            self._last = now
            anyio.from_thread.run(self.ctx.session.report_progress, count, total, message)


class Call(Request):
    """One call of a tool over a workspace."""

    def __init__(self, workspace: Workspace, ctx: Context) -> None:
        super().__init__(ctx)
        self.workspace = workspace.with_reporter(self.lines.append)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool. `run` is called in a thread, unless it is `async`; `slow` ones share no thread."""

    name: str
    group: str
    run: Function
    arguments: type[pydantic.BaseModel]
    declaration: Tool
    slow: bool = False

    def check(self, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the arguments of a call, with defaults for those that are missing; raises InvalidOption."""
        values = {key: value for key, value in (arguments or {}).items() if value is not None}
        try:
            model = self.arguments.model_validate(values)
        except pydantic.ValidationError as error:
            raise InvalidOption(self._complaint(error)) from None
        return {name: getattr(model, name) for name in self.arguments.model_fields}

    def fail(self, error: SkillcError, lines: Sequence[str]) -> CallToolResult:
        """Return a coded error as a result, for the model to act on [D62]; of a run its envelope [D55]."""
        remarks = (*lines, *(diagnostic.line() for diagnostic in error.diagnostics))
        envelope = Envelope.of_error(error) if self.group == "run" else None
        content: list[ContentBlock] = [TextContent(text=utf8_text(text)) for text in (error.text(), *remarks)]
        return CallToolResult(content=content, structured_content=encode(envelope or error), is_error=True)

    def _complaint(self, error: pydantic.ValidationError) -> str:
        """Say what is wrong with the arguments: unknown ones first, then missing ones, then wrong ones."""
        order = {"extra_forbidden": 0, "missing": 1}
        problem = min(error.errors(), key=lambda one: order.get(one["type"], 2))
        name, kind, value = str(problem["loc"][0]), problem["type"], problem["input"]
        if kind == "extra_forbidden":
            names = ", ".join(self.declaration.input_schema["properties"])
            return f"unknown argument '{name}'; {self.name} takes {names}"
        if kind == "missing":
            return f"argument '{name}' is missing"
        schema = self.declaration.input_schema["properties"][name]
        if kind == "literal_error" and isinstance(value, str):
            return f"'{name}' must be one of {', '.join(schema['enum'])}, not '{value}'"
        words = _TYPES[schema["type"]]
        if kind in ("greater_than_equal", "less_than_equal", "value_error"):
            limit = f" from 1 to {schema['maximum']}" if "maximum" in schema else ""
            return f"'{name}' must be {words}{limit}, not {value}"
        return f"'{name}' must be {words}"


def tool(
    title: str,
    group: str,
    result: str,
    *,
    slow: bool = False,
    writes: bool = False,
    destructive: bool = False,
    idempotent: bool = True,
    open_world: bool = False,
) -> Callable[[Function], ToolDefinition]:
    """Make a tool of a function that takes a `Call` and the tool's arguments.

    `result` is the name of a command whose JSON it returns.
    """
    hints = ToolAnnotations(
        title=title,
        read_only_hint=not writes,
        destructive_hint=destructive,
        idempotent_hint=idempotent,
        open_world_hint=open_world,
    )

    def define(function: Function) -> ToolDefinition:
        name = function.__name__
        model = _arguments_model(function)
        declaration = Tool(
            name=name,
            title=title,
            description=" ".join(cleandoc(function.__doc__ or "").split()),
            input_schema={"required": []} | _plain_schema(model.model_json_schema()),
            output_schema=_with_error(_schema_of(results.RESULTS[result])),
            annotations=hints,
        )
        return ToolDefinition(name, group, function, model, declaration, slow)

    return define


def _arguments_model(function: Function) -> type[pydantic.BaseModel]:
    """Return a model with the function's parameters after the first, which is the call."""
    types = get_type_hints(function, include_extras=True)
    parameters = list(signature(function).parameters.values())[1:]
    fields: dict[str, Any] = {
        one.name: (types[one.name], ... if one.default is one.empty else one.default) for one in parameters
    }
    return pydantic.create_model(
        function.__name__, __config__=pydantic.ConfigDict(extra="forbid", strict=True), **fields
    )


def _plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema for simple clients: no titles, no references, no null for what may be left out."""
    definitions = schema.pop("$defs", {})

    def plain(value: Any) -> Any:
        if isinstance(value, list):
            return [plain(item) for item in value]
        if not isinstance(value, dict):
            return value
        if "$ref" in value:
            rest = {key: item for key, item in value.items() if key != "$ref"}
            return plain(definitions[value["$ref"].rpartition("/")[2]] | rest)
        if "default" in value and value["default"] is None:
            inner = next(one for one in value["anyOf"] if one != {"type": "null"})
            rest = {key: item for key, item in value.items() if key not in ("anyOf", "default")}
            return plain(inner | rest)
        properties = {name: plain(item) for name, item in value.get("properties", {}).items()}
        others = {key: plain(item) for key, item in value.items() if key not in ("title", "properties")}
        return others | ({"properties": properties} if "properties" in value else {})

    result: dict[str, Any] = plain(schema)
    return result


def _schema_of(shape: results.Shape) -> dict[str, Any]:
    """Return the JSON schema of a result."""
    members = results.members_of(shape)
    if members is not None:
        properties = {key: _schema_of(part) for key, (part, _) in members.items()}
        for key in properties.keys() & _ABOUT:
            properties[key] |= {"description": _ABOUT[key]}
        required = [key for key, (_, may_be_missing) in members.items() if not may_be_missing]
        return {"type": "object", "properties": properties, "required": required}
    if (item := results.item_of(shape)) is not None:
        return {"type": "array", "items": _schema_of(item)}
    if (value := results.value_of(shape)) is not None:
        return {"type": "object", "additionalProperties": _schema_of(value)}
    choices = results.choices_of(shape)
    if len(choices) > 1:
        return {"anyOf": [_schema_of(choice) for choice in choices]}
    kinds = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
    kind = str if isinstance(shape, type) and issubclass(shape, str) else shape
    return {"type": kinds[kind]} if kind in kinds else {}


def _with_error(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a result or an error: clients check the structured content of both."""
    properties = dict(schema["properties"])
    properties["error"] = {"anyOf": [properties["error"], _ERROR]} if "error" in properties else _ERROR
    either = [{"required": schema["required"]}, {"required": ["error"]}]
    rest = {key: value for key, value in schema.items() if key != "required"}
    return rest | {"properties": properties, "anyOf": either}


def result_of(answer: Answer, lines: Sequence[str]) -> CallToolResult:
    """Return an answer as MCP has it: the text first, then a line for each remark."""
    content: list[ContentBlock] = [TextContent(text=utf8_text(text)) for text in (answer.text, *lines)]
    return CallToolResult(content=content, structured_content=encode(answer.value), is_error=answer.failed)


SkillName = Annotated[
    str,
    pydantic.Field(description="The skill's name or ID, or the path of its folder."),
]

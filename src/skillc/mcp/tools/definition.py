"""What a tool is: its words for a model, its parameters, what it returns, and what it does when called."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcp_types import CallToolResult, ContentBlock, TextContent, Tool, ToolAnnotations

from skillc.errors import Diagnostic, InvalidOption, SkillcError
from skillc.text import utf8_text

if TYPE_CHECKING:
    from skillc.mcp.workplace import Workplace

GROUPS = ("gateway", "library", "run")

_TYPES: dict[str, tuple[type, str, str]] = {
    "text": (str, "string", "text"),
    "count": (int, "integer", "a positive integer"),
    "flag": (bool, "boolean", "true or false"),
    "texts": (list, "array", "a list of texts"),
    "object": (dict, "object", "an object"),
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a tool; `kind` is `text`, `count` (a positive integer), `flag`, `texts` or `object`."""

    name: str
    description: str
    kind: str = "text"
    required: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    maximum: int | None = None

    def schema(self) -> dict[str, Any]:
        told: dict[str, Any] = {"type": _TYPES[self.kind][1], "description": self.description}
        if self.kind == "texts":
            told["items"] = {"type": "string"}
        if self.kind == "count":
            told["minimum"] = 1
        if self.maximum is not None:
            told["maximum"] = self.maximum
        if self.choices:
            told["enum"] = list(self.choices)
        if self.default is not None:
            told["default"] = self.default
        return told

    def check(self, value: Any) -> Any:
        """The value; raises InvalidOption for one that the parameter does not take."""
        wanted, _, words = _TYPES[self.kind]
        if self.kind == "count" and isinstance(value, float) and value.is_integer():
            value = int(value)  # JSON knows one kind of number
        whole = type(value) is wanted
        if not whole or (self.kind == "texts" and not all(type(item) is str for item in value)):
            raise InvalidOption(f'"{self.name}" must be {words}')
        if self.choices and value not in self.choices:
            raise InvalidOption(f'"{self.name}" must be one of {", ".join(self.choices)}, not "{value}"')
        if self.kind == "count" and not 1 <= value <= (self.maximum or 10**9 - 1):
            limit = f" from 1 to {self.maximum}" if self.maximum else ""
            raise InvalidOption(f'"{self.name}" must be {words}{limit}, not {value}')
        return value


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call brings: `value` as the command line's JSON, `text` for reading, and what was noticed."""

    value: dict[str, Any]
    text: str
    noticed: tuple[str, ...] = ()
    failed: bool = False


class Call:
    """One call: who is called tells it how far it is, and learns from it that nobody waits any longer.

    `approved` is the subject of an `asking.NeedsApproval` that a person has agreed to.
    """

    approved: str | None = None

    def __init__(self) -> None:
        self.cancelled = threading.Event()

    def progress(self, done: int, total: int, message: str = "") -> None:
        """Tell whoever asked how far it is; raises SkillcError when it was cancelled."""


Runner = Callable[["Workplace", Mapping[str, Any], Call], "Answer | Awaitable[Answer]"]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool. `run` is called in a thread of its own, unless it is `async`; `slow` ones share no thread."""

    name: str
    title: str
    group: str
    description: str
    parameters: tuple[Parameter, ...]
    output: Mapping[str, Any]
    run: Runner
    slow: bool = False
    writes: bool = False
    annotations: Mapping[str, bool] = field(default_factory=dict)

    def declaration(self) -> Tool:
        """As it is listed."""
        schema = {
            "type": "object",
            "properties": {parameter.name: parameter.schema() for parameter in self.parameters},
            "required": [parameter.name for parameter in self.parameters if parameter.required],
            "additionalProperties": False,
        }
        hints = ToolAnnotations(
            title=self.title,
            read_only_hint=not self.writes,
            destructive_hint=self.annotations.get("destructive", False),
            idempotent_hint=self.annotations.get("idempotent", True),
            open_world_hint=self.annotations.get("open_world", False),
        )
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=schema,
            output_schema=dict(self.output),
            annotations=hints,
        )

    def arguments(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """The arguments, with defaults for those that are missing; raises InvalidOption."""
        values = {key: value for key, value in (given or {}).items() if value is not None}
        known = {parameter.name: parameter for parameter in self.parameters}
        unknown = next((key for key in values if key not in known), None)
        if unknown is not None:
            raise InvalidOption(f'unknown argument "{unknown}"; {self.name} takes {", ".join(known)}')
        missing = next((p.name for p in self.parameters if p.required and p.name not in values), None)
        if missing is not None:
            raise InvalidOption(f'argument "{missing}" is missing')
        return {
            name: parameter.check(values[name]) if name in values else parameter.default
            for name, parameter in known.items()
        }


def result(answer: Answer) -> CallToolResult:
    """An answer as MCP has it: the text first, then one line for each thing that was noticed."""
    content: list[ContentBlock] = [TextContent(text=utf8_text(answer.text))]
    content += [TextContent(text=utf8_text(line)) for line in answer.noticed]
    value = answer.value
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        value = _writable_value(value)
    return CallToolResult(content=content, structured_content=value, is_error=answer.failed)


def failure(error: SkillcError) -> CallToolResult:
    """A coded error as a result, for the model to act on."""
    lines = [diagnostic.line() for diagnostic in error.diagnostics]
    return CallToolResult(
        content=[TextContent(text=utf8_text(text)) for text in (error.text(), *lines)], is_error=True
    )


def lines(*noticed: Iterable[Diagnostic]) -> tuple[str, ...]:
    """Diagnostics in the words that the command line has for them."""
    return tuple(diagnostic.line() for group in noticed for diagnostic in group)


def _writable_value(value: Any) -> Any:
    if isinstance(value, str):
        return utf8_text(value)
    if isinstance(value, Mapping):
        return {key: _writable_value(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_writable_value(item) for item in value]
    return value

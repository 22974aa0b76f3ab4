"""Tools as other systems want them: JSON schemas for OpenAI, Anthropic and MCP.

>>> from skillc.skills import ParameterDefinition
>>> schema([ParameterDefinition("n", "integer", True, "How many")])["properties"]
{'n': {'type': 'integer', 'description': 'How many'}}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from skillc.skills import ParameterDefinition, Value, Variable
from skillc.startup.digest import sha256_hex
from skillc.tools.skill import Tool

FORMATS = ("json", "openai", "anthropic", "mcp")
MAX_NAME = 64  # OpenAI's and Anthropic's
MAX_MCP_NAME = 128
MAX_DESCRIPTION = 1024  # OpenAI refuses longer ones


def as_format(tools: Sequence[Tool], form: str) -> list[dict[str, Any]]:
    """Tools in the form of one of FORMATS."""
    if form == "mcp":
        return [_mcp(tool) for tool in tools]
    if form == "json":
        return [_plain(tool) for tool in tools]
    names = function_names(tools)
    if form == "anthropic":
        return [
            {
                "name": names[tool.qualified],
                "description": tool_words(tool),
                "input_schema": tool_schema(tool),
            }
            for tool in tools
        ]
    return [
        {
            "type": "function",
            "function": {
                "name": names[tool.qualified],
                "description": tool_words(tool),
                "parameters": tool_schema(tool),
            },
        }
        for tool in tools
    ]


def _mcp(tool: Tool) -> dict[str, Any]:
    name = tool.qualified
    return {
        "name": name if len(name) <= MAX_MCP_NAME else _hashed(name, name, set()),
        "description": tool_words(tool),
        "inputSchema": tool_schema(tool),
        "annotations": {"readOnlyHint": tool.skill.read_only, "openWorldHint": tool.skill.network},
    }


def _plain(tool: Tool) -> dict[str, Any]:
    skill = tool.skill
    return {
        "name": tool.qualified,
        "description": tool_words(tool),
        "parameters": tool_schema(tool),
        "source": {"skill": tool.skill_id},
        "modes": list(skill.modes),
        "read_only": skill.read_only,
        "always_ask": skill.always_ask,
        "network": skill.network,
        "timeout": skill.timeout,
    }


def tool_words(tool: Tool) -> str:
    """What a model is told of a tool; the skill's description stands in for one that is missing."""
    text = tool.description or tool.skill.description
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - 1] + "…"


def tool_schema(tool: Tool) -> dict[str, Any]:
    """The schema of a tool's arguments, with the defaults that its template has."""
    defaults = {
        piece.parameter.name: piece.default
        for token in tool.template.arguments
        for piece in token
        if isinstance(piece, Variable) and piece.default is not None
    }
    return schema(tool.parameters, defaults)


def schema(
    parameters: Sequence[ParameterDefinition], defaults: Mapping[str, Value] | None = None
) -> dict[str, Any]:
    """A JSON schema for an object with these parameters and no others."""
    told = defaults or {}
    return {
        "type": "object",
        "properties": {p.name: _property(p, told.get(p.name, p.default)) for p in parameters},
        "required": [parameter.name for parameter in parameters if parameter.required],
        "additionalProperties": False,
    }


def _property(parameter: ParameterDefinition, default: Value | None) -> dict[str, Any]:
    found: dict[str, Any] = {"type": parameter.type}
    if parameter.type == "array":
        found["items"] = {"type": "string"}
    if parameter.description:
        found["description"] = parameter.description[:MAX_DESCRIPTION]
    if default is not None and not parameter.required:
        found["default"] = list(default) if isinstance(default, tuple) else default
    return found


def function_names(tools: Iterable[Tool], reserved: Collection[str] = ()) -> dict[str, str]:
    """Names without a dot, at most MAX_NAME long, by qualified name: `skill__tool`.

    One that is too long, that another tool would have as well, or that is `reserved` ends in a hash
    of the qualified name instead: nobody can take another's name by choosing their own [D47].
    """
    plain = {tool.qualified: f"{tool.skill_id.replace('/', '__')}__{tool.name}" for tool in tools}
    count = Counter(plain.values())
    free = {q: n for q, n in plain.items() if len(n) <= MAX_NAME and count[n] == 1 and n not in reserved}
    taken = {*free.values(), *reserved}
    return {
        qualified: free.get(qualified) or _hashed(qualified, plain[qualified], taken) for qualified in plain
    }


def _hashed(qualified: str, name: str, taken: set[str]) -> str:
    """The start of a name and a hash of the whole; a longer hash where somebody has that name."""
    digest = sha256_hex(qualified.encode())
    for length in range(8, MAX_NAME - 1):
        found = f"{name[: MAX_NAME - 1 - length]}_{digest[:length]}"
        if found not in taken:
            taken.add(found)
            return found
    raise AssertionError("unreachable: no two hashes are equal")

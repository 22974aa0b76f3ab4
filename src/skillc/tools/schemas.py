"""Tools as models and other systems take them: JSON schemas, names, and the list for a prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from skillc.schema import object_schema, property_schema
from skillc.skills.tools import Variable
from skillc.startup import sha256_hex
from skillc.text import one_line
from skillc.tools.skill import Tool

MAX_NAME = 64  # OpenAI's and Anthropic's
MAX_MCP_NAME = 128
MAX_DESCRIPTION = 1024  # OpenAI refuses longer ones
PROMPT_HEADER = "You are a model that can do function calling with the following functions:"


def format_tools(tools: Sequence[Tool], form: str) -> list[dict[str, Any]]:
    """Return tools as `json`, `openai`, `anthropic` or `mcp` has them."""
    if form == "mcp":
        return [_format_mcp(tool) for tool in tools]
    if form == "json":
        return [_format_json(tool) for tool in tools]
    key = "input_schema" if form == "anthropic" else "parameters"
    names = function_names(tools)
    functions = [
        {"name": names[tool.qualified], "description": describe_tool(tool), key: tool_schema(tool)}
        for tool in tools
    ]
    if form == "anthropic":
        return functions
    return [{"type": "function", "function": function} for function in functions]


def _format_mcp(tool: Tool) -> dict[str, Any]:
    name = tool.qualified
    return {
        "name": name if len(name) <= MAX_MCP_NAME else _hash_name(name, name, set()),
        "description": describe_tool(tool),
        "inputSchema": tool_schema(tool),
        "annotations": {"readOnlyHint": tool.skill.read_only, "openWorldHint": tool.skill.network},
    }


def _format_json(tool: Tool) -> dict[str, Any]:
    """Return a tool with its policy: what it may do, and the skill it comes from."""
    skill = tool.skill
    return {
        "name": tool.qualified,
        "description": describe_tool(tool),
        "parameters": tool_schema(tool),
        "source": {"skill": tool.skill_id},
        "modes": list(skill.modes),
        **{name: getattr(skill, name) for name in ("read_only", "always_ask", "network", "timeout")},
    }


def describe_tool(tool: Tool) -> str:
    """Return a tool's description for a model; a tool without one gets the skill's."""
    text = tool.description or tool.skill.description
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - 1] + "…"


def tool_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON schema of a tool's arguments, with the defaults of its template, and of no others."""
    variables = [piece for token in tool.template.arguments for piece in token if isinstance(piece, Variable)]
    defaults = {piece.parameter.name: piece.default for piece in variables if piece.default is not None}
    properties = {}
    for parameter in tool.parameters:
        schema = property_schema(parameter.type, parameter.description[:MAX_DESCRIPTION])
        default = defaults.get(parameter.name, parameter.default)
        if default is not None and not parameter.required:
            schema["default"] = list(default) if isinstance(default, tuple) else default
        properties[parameter.name] = schema
    names = [parameter.name for parameter in tool.parameters if parameter.required]
    return object_schema(names, **properties)


def function_names(tools: Iterable[Tool], reserved_names: Collection[str] = ()) -> dict[str, str]:
    """Return names without a dot, at most MAX_NAME long, by qualified name: `skill__tool`.

    A name that is too long, that two tools would share, or that is in `reserved_names` ends in a hash
    of the qualified name instead: no skill can take another's name by choosing its own [D47].
    """
    plain = {tool.qualified: f"{tool.skill_id.replace('/', '__')}__{tool.name}" for tool in tools}
    count = Counter(plain.values())
    free = {
        q: n for q, n in plain.items() if len(n) <= MAX_NAME and count[n] == 1 and n not in reserved_names
    }
    others = {*free.values(), *reserved_names}
    return {q: free.get(q) or _hash_name(q, name, others) for q, name in plain.items()}


def _hash_name(full_name: str, name: str, others: set[str]) -> str:
    """Return the start of a name and a hash of the whole, added to `others`; no other has that name."""
    digest = sha256_hex(full_name.encode())
    for length in range(8, MAX_NAME - 1):
        candidate = f"{name[: MAX_NAME - 1 - length]}_{digest[:length]}"
        if candidate not in others:
            others.add(candidate)
            return candidate
    raise AssertionError("unreachable: no two hashes are equal")


def manifest(tools: Sequence[Tool], native: Mapping[str, str] | None = None, mode: str = "Global") -> str:
    """Return the functions for a model's prompt: native tools with their descriptions, then the skills'.

    Every tool is one line, so that no description can pose as another tool or as a heading, and a
    native tool's name is never a skill's.
    """
    native = native or {}
    offers = {tool.qualified: describe_tool(tool) for tool in tools if tool.skill.offered_in(mode)}
    skills = {name: text for name, text in offers.items() if name not in native}
    sections = [PROMPT_HEADER]
    for title, entries in (("Native Tools", native), ("Skills", skills)):
        if entries:
            lines = [f"- {name}: {one_line(' '.join(text.split()))}" for name, text in entries.items()]
            sections.append("\n".join([f"[{title}]", *lines]))
    return "\n\n".join(sections)

"""What is offered to a model and under which conditions: modes, policies, the manifest for a prompt.

You are a model that can do function calling with the following functions:

[Native Tools]
- web_search: Search the web

[Skills]
- git.status: Show what is changed
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillc.text import one_line
from skillc.tools.schemas import tool_words
from skillc.tools.skill import Tool

HEADER = "You are a model that can do function calling with the following functions:"


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """The conditions of one tool. `source` is the skill it comes from, None for a native tool."""

    name: str
    read_only: bool
    always_ask: bool
    source: str | None = None

    def as_json(self) -> dict[str, Any]:
        source = "native" if self.source is None else {"skill": self.source}
        return {
            "name": self.name,
            "read_only": self.read_only,
            "always_ask": self.always_ask,
            "source": source,
        }


def policy(tool: Tool) -> ToolPolicy:
    return ToolPolicy(tool.qualified, tool.skill.read_only, tool.skill.always_ask, tool.skill_id)


def policies(tools: Iterable[Tool], native: Iterable[ToolPolicy] = ()) -> dict[str, ToolPolicy]:
    """The policy of every tool by name; whoever has a name first keeps it, native tools above all [D47]."""
    found: dict[str, ToolPolicy] = {}
    for entry in (*native, *map(policy, tools)):
        found.setdefault(entry.name, entry)
    return found


def in_mode(tools: Iterable[Tool], mode: str) -> list[Tool]:
    """The tools that are offered in a mode [D48]."""
    return [tool for tool in tools if tool.skill.offered_in(mode)]


def manifest(tools: Sequence[Tool], native: Mapping[str, str] | None = None, mode: str = "Global") -> str:
    """The functions for a model's prompt: native tools with their descriptions, then those of skills.

    Every tool is one line, so that no description can pose as another tool or as a heading.
    """
    sections = [HEADER]
    listed = dict(native or {})
    own = {tool.qualified: tool_words(tool) for tool in in_mode(tools, mode) if tool.qualified not in listed}
    for title, entries in (("Native Tools", listed), ("Skills", own)):
        if entries:
            lines = [f"- {name}: {one_line(' '.join(text.split()))}" for name, text in entries.items()]
            sections.append("\n".join([f"[{title}]", *lines]))
    return "\n\n".join(sections)

"""What an executable skill declares: its frontmatter, its tools and their parameters [D34, D35].

A skill is executable when an H3 of its SKILL.md has a `#### Command` with a fenced block. Reading is
strict then: what will run is not guessed at, and every fault is InvalidTool (E060).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from skillc.errors import Diagnostic, InvalidTool, warning
from skillc.paths import SKILL_FILE
from skillc.skills.document import Document, main_file, parse
from skillc.skills.format import FIELDS
from skillc.skills.ids import is_name
from skillc.skills.tools.blocks import ToolBlock, find_blocks
from skillc.skills.tools.parameters import ParameterDefinition, read_parameters
from skillc.startup.digest import sha256_hex

MODES = ("Global", "Dev", "Meeting")
MAX_DESCRIPTION = 256
MAX_FILE = 1 << 20  # bytes of a SKILL.md with tools
DEFAULT_TIMEOUT = 30
MAX_TIMEOUT = 300

_OWN_FIELDS = ("version", "author", "modes", "read_only", "always_ask", "timeout", "network")
_KNOWN_FIELDS = frozenset((*FIELDS, *_OWN_FIELDS, "requires_capabilities"))
# What the lenient reader repaired or could not read: no such guess may decide what runs.
_BAD_YAML = frozenset(("W011", "W012", "W013", "W016", "W017", "W019"))
_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z.-]+)?",
    re.ASCII,
)
_TOOL_NAME = re.compile(r"[a-z0-9_]{1,32}")

Refuse = Callable[[str], InvalidTool]


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool; `command` is its template as it is written."""

    name: str
    description: str
    parameters: tuple[ParameterDefinition, ...]
    command: str


@dataclass(frozen=True, slots=True)
class SkillDefinition:
    """An executable skill. `timeout` is in seconds; `digest` is the hex SHA-256 of the SKILL.md it was
    read from. A skill without tools is an ordinary one, and has neither version nor digest.
    """

    name: str
    version: str
    description: str
    author: str | None = None
    modes: tuple[str, ...] = ("Global",)
    read_only: bool = False
    always_ask: bool = False
    timeout: int = DEFAULT_TIMEOUT
    network: bool = False
    tools: tuple[ToolDefinition, ...] = ()
    directory: str = ""
    digest: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()

    def offered_in(self, mode: str) -> bool:
        """Whether the skill is there in a mode; one for Global is there in every one [D48]."""
        return mode in self.modes or "Global" in self.modes


def read_definition(directory: str, name: str = "") -> SkillDefinition:
    """The definition of the skill in a folder; raises InvalidTool (E060) for an executable one with a fault.

    A skill without tools is an ordinary one: its definition has none, and nothing of it is checked.
    `name` is what the skill goes by, the folder's name unless it is given.
    """
    name = name or os.path.basename(os.path.realpath(directory))
    with open(os.path.join(directory, main_file(directory)), "rb") as file:
        raw = file.read(MAX_FILE + 1)
    if len(raw) > MAX_FILE:
        raise InvalidTool(name, f"SKILL.md is over {MAX_FILE >> 20} MiB")
    return parse_definition(raw, name, directory)


def parse_definition(raw: bytes, name: str, directory: str = "") -> SkillDefinition:
    """The same from the bytes of a SKILL.md; `name` is the skill's directory's."""
    document = parse(raw)
    blocks = find_blocks(document.data, document.body)
    noticed = [warning("W065", block.title) for block in blocks if not block.fences]
    blocks = [block for block in blocks if block.fences]
    if not blocks:
        return _ordinary(document, name, directory, noticed)
    whole = read_whole(document, name)
    tools = tuple(_tools(blocks, lambda message: InvalidTool(name, message), noticed))
    told = (*whole.diagnostics, *(diagnostic.at(SKILL_FILE) for diagnostic in noticed))
    return replace(whole, tools=tools, directory=directory, digest=sha256_hex(raw), diagnostics=told)


def read_whole(document: Document, name: str) -> SkillDefinition:
    """What the frontmatter of an executable skill says of all tools; raises InvalidTool for a fault."""

    def refuse(message: str) -> InvalidTool:
        return InvalidTool(name, message)

    fields = _fields(document, name, refuse)
    noticed = [*document.diagnostics, *_warnings(fields, name)]
    author = fields.get("author")
    return SkillDefinition(
        name=name,
        version=str(fields["version"]),
        description=str(fields["description"]).strip()[:MAX_DESCRIPTION],
        author=None if author is None else str(author),
        modes=_modes(fields.get("modes"), refuse),
        read_only=_switch(fields, "read_only", refuse),
        always_ask=_switch(fields, "always_ask", refuse),
        timeout=_timeout(fields.get("timeout", DEFAULT_TIMEOUT), refuse),
        network=_switch(fields, "network", refuse),
        diagnostics=tuple(diagnostic.at(SKILL_FILE) for diagnostic in noticed),
    )


def _ordinary(document: Document, name: str, directory: str, noticed: list[Diagnostic]) -> SkillDefinition:
    told = tuple(diagnostic.at(SKILL_FILE) for diagnostic in noticed)
    return SkillDefinition(name, "", document.description or "", directory=directory, diagnostics=told)


def _fields(document: Document, name: str, refuse: Refuse) -> Mapping[str, Any]:
    """The frontmatter, with what is required; nothing that had to be repaired is taken."""
    for diagnostic in document.diagnostics:
        if diagnostic.code in _BAD_YAML:
            raise refuse(f"invalid YAML in the frontmatter: {diagnostic.message}")
    if document.frontmatter is None:
        raise refuse("missing frontmatter field 'name': there is no frontmatter that can be read")
    fields = document.frontmatter.fields
    for field in ("name", "version", "description"):
        text = document.frontmatter.text(field)
        if text is None or not text.strip():
            raise refuse(f"missing frontmatter field '{field}'")
    if not is_name(str(fields["name"])):
        raise refuse(f"name '{fields['name']}' is not 1 to 64 of a-z, 0-9 and single hyphens between them")
    if not isinstance(fields["description"], str):
        raise refuse("description is not text")
    return {**fields, "version": document.frontmatter.text("version")}


def _warnings(fields: Mapping[str, Any], name: str) -> Iterator[Diagnostic]:
    if fields["name"] != name:
        yield warning("W021", fields["name"], name)
    for field in fields:
        if field not in _KNOWN_FIELDS:
            yield warning("W060", field)
    if len(str(fields["description"]).strip()) > MAX_DESCRIPTION:
        yield warning("W062", MAX_DESCRIPTION)
    if not _SEMVER.fullmatch(fields["version"]):
        yield warning("W063", fields["version"])


def _modes(value: Any, refuse: Refuse) -> tuple[str, ...]:
    if value is None:
        return ("Global",)
    if not isinstance(value, list) or not value or not all(mode in MODES for mode in value):
        raise refuse(f"modes must be a list of {', '.join(MODES)}")
    return tuple(dict.fromkeys(value))


def _switch(fields: Mapping[str, Any], field: str, refuse: Refuse) -> bool:
    value = fields.get(field, False)
    if not isinstance(value, bool):
        raise refuse(f"{field} must be true or false")
    return value


def _timeout(value: Any, refuse: Refuse) -> int:
    if type(value) is not int or not 1 <= value <= MAX_TIMEOUT:
        raise refuse(f"timeout must be a whole number of seconds from 1 to {MAX_TIMEOUT}")
    return value


def _tools(blocks: list[ToolBlock], refuse: Refuse, noticed: list[Diagnostic]) -> Iterator[ToolDefinition]:
    seen: set[str] = set()
    for block in blocks:
        yield read_tool(block, seen, _at(f"tool '{block.title}' (line {block.line})", refuse), noticed)


def read_tool(block: ToolBlock, seen: set[str], refuse: Refuse, noticed: list[Diagnostic]) -> ToolDefinition:
    """One tool; `seen` are the names of those before it. Raises what `refuse` makes of a fault."""
    if not _TOOL_NAME.fullmatch(block.title):
        raise refuse("a tool's name is 1 to 32 of a-z, 0-9 and _")
    if block.title in seen:
        raise refuse("duplicate tool name")
    seen.add(block.title)
    if block.commands > 1 or len(block.fences) > 1:
        raise refuse("more than one fenced block under Command; put the steps into a script")
    parameters, told = read_parameters(block, refuse)
    noticed += told
    return ToolDefinition(block.title, block.description, parameters, block.fences[0])


def _at(where: str, refuse: Refuse) -> Refuse:
    """The same refusal with the place in front."""
    return lambda message: refuse(f"{where}: {message}")

"""Read what an executable skill declares: its frontmatter, its tools and their parameters [D34, D35].

A skill is executable when an H3 of its SKILL.md has a `#### Command` with a fenced block. Reading is
strict then, because a guess must not decide what runs: every fault is InvalidTool (E060).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from skillc.errors import Diagnostic, InvalidTool, warning
from skillc.paths import SKILL_FILE
from skillc.skills.document import KNOWN_FIELDS, NAME_RULE, Document, parse, read_main_file
from skillc.skills.ids import is_name
from skillc.skills.tools.blocks import ToolBlock, find_blocks
from skillc.skills.tools.parameters import InvalidDefinition, ParameterDefinition, read_parameters
from skillc.startup import sha256_hex

MODES = ("Global", "Dev", "Meeting")
_SWITCHES = ("read_only", "always_ask", "network")
MAX_DESCRIPTION = 256
DEFAULT_TIMEOUT = 30
MAX_TIMEOUT = 300

# Diagnostics of the lenient reader for YAML that it repaired or could not read.
_BAD_YAML = frozenset(("W011", "W012", "W013", "W016", "W017", "W019"))
_SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z.-]+)?",
    re.ASCII,
)
_TOOL_NAME = re.compile(r"[a-z0-9_]{1,32}")


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool that a skill declares; `command` is the text of its template."""

    name: str
    description: str
    parameters: tuple[ParameterDefinition, ...]
    command: str


@dataclass(frozen=True, slots=True)
class SkillDefinition:
    """An executable skill, or an ordinary one, which has no tools, version and digest.

    `timeout` is in seconds; `digest` is the hex SHA-256 of its SKILL.md.
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
        """Return whether a mode offers the skill; every mode offers those for Global [D48]."""
        return mode in self.modes or "Global" in self.modes


def read_definition(directory: str, name: str = "") -> SkillDefinition:
    """Read the definition of the skill in a folder; raises InvalidTool (E060) if it has tools and a fault.

    `name` is the skill's, by default the folder's. A skill without tools is an ordinary one: nothing of it
    is checked.
    """
    name = name or os.path.basename(os.path.realpath(directory))
    return parse_definition(read_main_file(directory), name, directory)


def parse_definition(raw: bytes, name: str, directory: str = "") -> SkillDefinition:
    """Read the definition from the bytes of a SKILL.md; raises InvalidTool (E060)."""
    document = parse(raw)
    blocks = find_blocks(document.data, document.body)
    diagnostics = [warning("W065", block.title) for block in blocks if not block.fences]
    blocks = [block for block in blocks if block.fences]
    if not blocks:
        skill = SkillDefinition(name, "", document.description or "", directory=directory)
        return replace(skill, diagnostics=_in_skill_file(diagnostics))
    tools: list[ToolDefinition] = []
    names: set[str] = set()
    place = ""
    try:
        header = read_header(document, name)
        for block in blocks:
            place = f"tool '{block.title}' (line {block.line}): "
            tool, warnings = read_tool(block, names)
            tools.append(tool)
            diagnostics += warnings
    except InvalidDefinition as error:
        raise InvalidTool(name, f"{place}{error}") from None
    return replace(
        header,
        tools=tuple(tools),
        directory=directory,
        digest=sha256_hex(raw),
        diagnostics=header.diagnostics + _in_skill_file(diagnostics),
    )


def _in_skill_file(diagnostics: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(diagnostic.at(SKILL_FILE) for diagnostic in diagnostics)


def read_header(document: Document, name: str) -> SkillDefinition:
    """Return what the frontmatter of an executable skill says, without tools; raises InvalidDefinition."""
    fields = _require_fields(document)
    _check_settings(fields)
    author = fields.get("author")
    return SkillDefinition(
        name=name,
        version=str(fields["version"]),
        description=str(fields["description"]).strip()[:MAX_DESCRIPTION],
        author=None if author is None else str(author),
        modes=tuple(dict.fromkeys(fields.get("modes") or ("Global",))),
        timeout=fields.get("timeout", DEFAULT_TIMEOUT),
        diagnostics=_in_skill_file([*document.diagnostics, *_find_oddities(fields, name)]),
        **{field: fields.get(field, False) for field in _SWITCHES},
    )


def _require_fields(document: Document) -> Mapping[str, Any]:
    """Return the frontmatter if it is valid YAML and has the required fields."""
    for diagnostic in document.diagnostics:
        if diagnostic.code in _BAD_YAML:
            raise InvalidDefinition(f"invalid YAML in the frontmatter: {diagnostic.message}")
    if document.frontmatter is None:
        raise InvalidDefinition("missing frontmatter field 'name': there is no frontmatter that can be read")
    fields = document.frontmatter.fields
    for field in ("name", "version", "description"):
        text = document.frontmatter.text(field)
        if text is None or not text.strip():
            raise InvalidDefinition(f"missing frontmatter field '{field}'")
    if not is_name(str(fields["name"])):
        raise InvalidDefinition(f"name '{fields['name']}' is not {NAME_RULE}")
    if not isinstance(fields["description"], str):
        raise InvalidDefinition("description is not text")
    return {**fields, "version": document.frontmatter.text("version")}


def _find_oddities(fields: Mapping[str, Any], name: str) -> Iterator[Diagnostic]:
    if fields["name"] != name:
        yield warning("W021", fields["name"], name)
    for field in fields:
        if field not in KNOWN_FIELDS:
            yield warning("W060", field)
    if len(str(fields["description"]).strip()) > MAX_DESCRIPTION:
        yield warning("W062", MAX_DESCRIPTION)
    if not _SEMVER.fullmatch(fields["version"]):
        yield warning("W063", fields["version"])


def _check_settings(fields: Mapping[str, Any]) -> None:
    modes = fields.get("modes")
    if modes is not None and not (isinstance(modes, list) and modes and all(mode in MODES for mode in modes)):
        raise InvalidDefinition(f"modes must be a list of {', '.join(MODES)}")
    for field in _SWITCHES:
        if not isinstance(fields.get(field, False), bool):
            raise InvalidDefinition(f"{field} must be true or false")
    timeout = fields.get("timeout", DEFAULT_TIMEOUT)
    if type(timeout) is not int or not 1 <= timeout <= MAX_TIMEOUT:
        raise InvalidDefinition(f"timeout must be a whole number of seconds from 1 to {MAX_TIMEOUT}")


def read_tool(block: ToolBlock, names: set[str]) -> tuple[ToolDefinition, list[Diagnostic]]:
    """Return a tool and diagnostics, and add its name to `names`; raises InvalidDefinition."""
    if not _TOOL_NAME.fullmatch(block.title):
        raise InvalidDefinition("a tool's name is 1 to 32 of a-z, 0-9 and _")
    if block.title in names:
        raise InvalidDefinition("duplicate tool name")
    names.add(block.title)
    if block.commands > 1 or len(block.fences) > 1:
        raise InvalidDefinition("more than one fenced block under Command; put the steps into a script")
    parameters, diagnostics = read_parameters(block)
    return ToolDefinition(block.title, block.description, parameters, block.fences[0]), diagnostics

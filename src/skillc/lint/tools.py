"""Rules about tools, SKL501 to SKL507: what `skc tools` refuses or warns of, each tool by itself.

An H3 with a `#### Command` is a tool [D34]. A skill that has one and no version may only document commands:
then that is said, and nothing else.
"""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING

from skillc.errors import Diagnostic, InvalidTool
from skillc.lint.report import Problem
from skillc.skills.tools.blocks import ToolBlock, find_blocks
from skillc.skills.tools.definition import read_tool, read_whole
from skillc.skills.tools.template import CommandTemplate, InvalidTemplate, parse_template

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.lint.page import Folder, Page

# Diagnostics by what they are about. The reader's own, and W021 and W060, are rules of the frontmatter.
_OF_SKILL = {"W062": ("SKL506", "description"), "W063": ("SKL506", "version")}
_OF_TOOL = {"W061": "SKL504", "W064": "SKL504"}
# Faults that have an error of their own among the rules of the frontmatter.
_SAID = (
    "invalid YAML",
    "missing frontmatter field 'name'",
    "missing frontmatter field 'description'",
    "name '",
    "description is not text",
)
_NO_VERSION = "missing frontmatter field 'version'"


def check(folder: Folder, page: Page, directory: str) -> Iterator[Problem]:
    """What is wrong with the tools of a SKILL.md; `directory` is the name that the skill's folder has."""
    blocks = find_blocks(page.document.data, page.document.body)
    tools = [block for block in blocks if block.fences]
    fault = _of_skill(page, directory) if blocks else []
    if fault == _NO_VERSION:
        if tools:
            reads = f"'### {tools[0].title}' reads as a tool, and the frontmatter has no version"
            yield Problem("SKL502", f"{reads}; 'skc tools' refuses it", page.name, tools[0].line)
        return
    if not isinstance(fault, str):
        yield from fault
    elif tools and not fault.startswith(_SAID):
        yield Problem("SKL501", fault, page.name, _line_of(page, fault.partition(" ")[0]))
    for block in blocks:
        if not block.fences:
            message = f"'### {block.title}' has a '#### Command' without a fenced block, and is no tool"
            yield Problem("SKL503", message, page.name, block.line)
    seen: set[str] = set()
    for block in tools:
        yield from _of_tool(folder, page, block, seen)


def _of_skill(page: Page, directory: str) -> str | list[Problem]:
    """The first fault of the frontmatter as that of an executable skill, or what it warns of."""
    try:
        definition = read_whole(page.document, directory)
    except InvalidTool as error:
        return error.reason
    return [
        Problem(_OF_SKILL[told.code][0], told.message, page.name, _line_of(page, _OF_SKILL[told.code][1]))
        for told in definition.diagnostics
        if told.code in _OF_SKILL
    ]


def _of_tool(folder: Folder, page: Page, block: ToolBlock, seen: set[str]) -> Iterator[Problem]:
    noticed: list[Diagnostic] = []
    try:
        tool = read_tool(block, seen, lambda message: InvalidTool("", message), noticed)
        template = parse_template(tool.command, tool.parameters)
    except (InvalidTool, InvalidTemplate) as error:
        reason = error.reason if isinstance(error, InvalidTool) else str(error)
        yield Problem("SKL501", f"tool '{block.title}': {reason}", page.name, block.line)
        return
    for told in noticed:
        if told.code in _OF_TOOL:
            yield Problem(_OF_TOOL[told.code], told.message, page.name, block.line)
    for odd in template.oddities:
        message = f"tool '{tool.name}': '{odd}' is an argument like any other; commands run without a shell"
        yield Problem("SKL505", message, page.name, block.line)
    problem = _of_program(folder, template)
    if problem:
        yield Problem("SKL507", f"tool '{tool.name}': {problem}", page.name, block.line)


def _of_program(folder: Folder, template: CommandTemplate) -> str:
    """What is wrong with a program that is a file of the skill [D41]; nothing is said of those in PATH."""
    program = template.program
    if "/" not in program:
        return ""
    name = posixpath.normpath(program)
    if name not in folder.names:
        return f"its program '{program}' is no file of the skill"
    if os.name == "posix" and not os.access(os.path.join(folder.root, *name.split("/")), os.X_OK):
        return f"its program '{program}' is not executable; run 'chmod +x' on it"
    return ""


def _line_of(page: Page, field: str) -> int:
    return page.block.line_of(field) if page.block else 1

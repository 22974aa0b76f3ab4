"""Check tools, SKL501 to SKL507: what `skc tools` refuses or warns of, each tool by itself.

An H3 with a `#### Command` is a tool [D34]. A skill that has one and no version may just document
commands: then SKL502 is the only problem.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator

from skillc.lint.page import Folder, Page
from skillc.lint.report import Problem
from skillc.skills.tools import (
    InvalidDefinition,
    InvalidTemplate,
    ToolBlock,
    find_blocks,
    parse_template,
    read_header,
    read_tool,
)

# The reader's own warnings, and W021 and W060, are covered by rules of the frontmatter.
_HEADER_FIELDS = {"W062": "description", "W063": "version"}  # SKL506, and the field it is about
_PARAMETER_WARNINGS = ("W061", "W064")  # SKL504
# Faults that rules of the frontmatter report.
_FRONTMATTER_FAULTS = (
    *("invalid YAML", "missing frontmatter field 'name'", "missing frontmatter field 'description'"),
    *("name '", "description is not text"),
)
_NO_VERSION = "missing frontmatter field 'version'"


def check(folder: Folder, page: Page, directory: str) -> Iterator[Problem]:
    """Yield the problems of the tools of a SKILL.md; `directory` is the name of the skill's folder."""
    blocks = find_blocks(page.document.data, page.document.body)
    tools = [block for block in blocks if block.fences]
    fault = _check_header(page, directory) if blocks else []
    if fault == _NO_VERSION:
        if tools:
            reads = f"'### {tools[0].title}' reads as a tool, and the frontmatter has no version"
            yield Problem("SKL502", f"{reads}; 'skc tools' refuses it", page.name, tools[0].line)
        return
    if not isinstance(fault, str):
        yield from fault
    elif tools and not fault.startswith(_FRONTMATTER_FAULTS):
        yield page.field_problem("SKL501", fault, fault.partition(" ")[0])
    for block in blocks:
        if not block.fences:
            message = f"'### {block.title}' has a '#### Command' without a fenced block, and is no tool"
            yield Problem("SKL503", message, page.name, block.line)
    names: set[str] = set()
    for block in tools:
        yield from _check_tool(folder, page, block, names)


def _check_header(page: Page, directory: str) -> str | list[Problem]:
    """Return the first fault of the frontmatter as that of an executable skill, or its problems."""
    try:
        header = read_header(page.document, directory)
    except InvalidDefinition as error:
        return str(error)
    return [
        page.field_problem("SKL506", diagnostic.message, _HEADER_FIELDS[diagnostic.code])
        for diagnostic in header.diagnostics
        if diagnostic.code in _HEADER_FIELDS
    ]


def _check_tool(folder: Folder, page: Page, block: ToolBlock, names: set[str]) -> Iterator[Problem]:
    try:
        tool, diagnostics = read_tool(block, names)
        template = parse_template(tool.command, tool.parameters)
    except (InvalidDefinition, InvalidTemplate) as error:
        yield Problem("SKL501", f"tool '{block.title}': {error}", page.name, block.line)
        return
    for diagnostic in diagnostics:
        if diagnostic.code in _PARAMETER_WARNINGS:
            yield Problem("SKL504", diagnostic.message, page.name, block.line)
    for odd in template.oddities:
        message = f"tool '{tool.name}': '{odd}' is an argument like any other; commands run without a shell"
        yield Problem("SKL505", message, page.name, block.line)
    problem = _check_program(folder, template.program)
    if problem:
        yield Problem("SKL507", f"tool '{tool.name}': {problem}", page.name, block.line)


def _check_program(folder: Folder, program: str) -> str:
    """Say what is wrong with a program that is a file of the skill [D41]; empty for one in PATH."""
    if "/" not in program:
        return ""
    name = posixpath.normpath(program)
    if name not in folder.names:
        return f"its program '{program}' is no file of the skill"
    if os.name == "posix" and not os.access(os.path.join(folder.root, *name.split("/")), os.X_OK):
        return f"its program '{program}' is not executable; run 'chmod +x' on it"
    return ""

"""`skc tools`: what a skill declares to run, as text or as the schemas that other systems take."""

from __future__ import annotations

from collections.abc import Iterator

from skillc import tools
from skillc.cli import print_lines, show, workspace
from skillc.cli.syntax import SKILL, Arguments, Command
from skillc.text import one_line

COMMAND = Command(f"""
skc tools

Most skills declare no tools. docs/tools.md explains how to declare them.

json is a list with each tool's policy, object the same as {{"tools": [...]}}; openai, anthropic and mcp are
lists as those take them; manifest is text for the prompt of a model.

{SKILL}
--format text|json|object|openai|anthropic|mcp|manifest =text  Output format.

$ skc tools git
$ skc tools git --format openai
""")


def run(arguments: Arguments) -> int:
    here = workspace()
    location = tools.find_skill(arguments.text("skill"), here.cwd)
    here.tell(location.diagnostics)
    form = arguments.text("format")
    skill = here.operate(
        "tools",
        location.library_skill(),
        {"format": form},
        lambda _: tools.load_executable(location.directory, location.skill_id),
    )
    here.tell(skill.diagnostics)
    if form == "manifest":
        print_lines(tools.manifest(skill.tools).splitlines())
        return 0
    schemas = tools.format_tools(skill.tools, "json" if form in ("object", "text") else form)
    return show(arguments, {"tools": schemas} if form == "object" else schemas, _lines(skill))


def _lines(skill: tools.ExecutableSkill) -> Iterator[str]:
    if not skill.tools:
        yield one_line(f"'{skill.definition.name}' declares no tools.")
    for tool in skill.tools:
        yield one_line(f"{tool.qualified}: {' '.join(tools.describe_tool(tool).split())}")
        for parameter in tool.parameters:
            need = "required" if parameter.required else "optional"
            line = f"  {parameter.name:<16} {parameter.type}, {need}. {parameter.description}"
            yield one_line(line.rstrip())

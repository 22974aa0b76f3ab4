"""`skc tools`: what a skill declares to run, as text or as the schemas that other systems take."""

from __future__ import annotations

from skillc.cli import workspace
from skillc.cli.output import print_json
from skillc.cli.syntax import Argument, Arguments, Command, Option
from skillc.text import one_line
from skillc.tools import ExecutableSkill, describe_tool, find_skill, format_tools, load_executable

COMMAND = Command(
    "tools",
    arguments=(
        Argument("skill", "A skill's name, its ID in a repository, or a folder.", completes="skills"),
    ),
    options=(
        Option(
            "--format",
            "Output format.",
            choices=("text", "json", "openai", "anthropic", "mcp"),
            default="text",
        ),
    ),
    description="Most skills declare no tools. docs/tools.md explains how to declare them.",
    examples=("skc tools git", "skc tools git --format openai"),
)


def run(arguments: Arguments) -> int:
    here = workspace()
    location = find_skill(arguments.text("skill"), here.cwd)
    here.tell(location.diagnostics)
    form = arguments.text("format")
    skill = here.operate_on(
        location.library_skill(),
        "tools",
        {"format": form},
        lambda _: load_executable(location.directory, location.skill_id),
    )
    here.tell(skill.diagnostics)
    if form == "text":
        _print(skill)
    else:
        print_json(format_tools(skill.tools, form))
    return 0


def _print(skill: ExecutableSkill) -> None:
    if not skill.tools:
        print(one_line(f"'{skill.definition.name}' declares no tools."))
    for tool in skill.tools:
        print(one_line(f"{tool.qualified}: {' '.join(describe_tool(tool).split())}"))
        for parameter in tool.parameters:
            need = "required" if parameter.required else "optional"
            line = f"  {parameter.name:<16} {parameter.type}, {need}. {parameter.description}"
            print(one_line(line.rstrip()))

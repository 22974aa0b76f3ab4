"""`skc tools`: what a skill declares to run, as text or as the schemas that other systems take."""

from __future__ import annotations

from skillc.cli.syntax import Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.tools import ExecutableSkill, Tool

COMMAND = Command(
    "tools",
    "List the tools that a skill declares, with their JSON schemas.",
    arguments=(
        Argument("skill", "A skill's name, its ID in a repository, or a folder.", completes="skills"),
    ),
    options=(
        Option(
            "--format",
            "How to print them.",
            choices=("text", "json", "openai", "anthropic", "mcp"),
            default="text",
        ),
    ),
    description="The list of an ordinary skill is empty. docs/tools.md explains the format.",
    examples=("skc tools git", "skc tools git --format openai"),
)


def run(arguments: Arguments) -> int:
    from skillc.cli.output import print_json, warn
    from skillc.paths import current_directory
    from skillc.tools import as_format, find_skill, load_executable
    from skillc.usage import run_logged

    cwd = current_directory()
    found = find_skill(arguments.text("skill"), cwd)
    warn(found.diagnostics)
    form = arguments.text("format")
    skill, noticed = run_logged(
        found.stored(),
        "tools",
        {"format": form},
        cwd,
        lambda: load_executable(found.directory, found.skill_id),
    )
    warn((*skill.diagnostics, *noticed))
    if form != "text":
        print_json(as_format(skill.tools, form))
        return 0
    _print(skill)
    return 0


def _print(skill: ExecutableSkill) -> None:
    from skillc.text import one_line

    if not skill.tools:
        print(one_line(f"'{skill.definition.name}' declares no tools."))
    for tool in skill.tools:
        print(one_line(_usage(tool)))
        for parameter in tool.parameters:
            needed = "required" if parameter.required else "optional"
            about = f"  {parameter.name:<16} {parameter.type}, {needed}. {parameter.description}"
            print(one_line(about.rstrip()))


def _usage(tool: Tool) -> str:
    from skillc.tools import tool_words

    return f"{tool.qualified}: {' '.join(tool_words(tool).split())}"

"""`skc disable`: take a skill away from agents, and keep it."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.syntax import Argument, Arguments, Command, Option
from skillc.quotes import shell_quote
from skillc.text import one_line

SKILL = Argument("<skill>", "A skill's name, or the path of its folder.", "stored")
TARGET = Option("--target <a,b>", "Agents or paths, separated by commas; without it, all.", "agents")

COMMAND = Command(
    "disable",
    arguments=(SKILL,),
    options=(TARGET, Option("--dry-run", "Say what would be taken away, and do nothing.")),
    description=(
        "The skill stays in its store, and people can read it; builds do not deploy it until"
        " 'skc enable' gives it back. 'skc list' shows it as disabled."
    ),
    examples=("skc disable pdf", "skc disable pdf --target codex"),
)


def run(arguments: Arguments) -> int:
    dry_run = arguments.has("dry_run")
    result = workspace().disable(arguments.text("skill"), arguments.optional("target") or "", dry_run=dry_run)
    is_same = result.was_off and not result.deployments
    verb = "Would disable" if dry_run else "Disabled"
    start = f"'{result.skill}' was already disabled" if is_same else f"{verb} '{result.skill}'"
    lines = [f"{start}; 'skc enable {shell_quote(result.reference)}' gives it back"]
    lines += [f"  {path}" for path in result.deployments]
    return show(arguments, result, map(one_line, lines))

"""`skc disable`: take a skill away from agents, and keep it."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.syntax import Arguments, Command
from skillc.quotes import shell_quote
from skillc.text import one_line

SKILL = "<skill> :stored  A skill's name, or the path of its folder."
TARGET = "--target <a,b> :agents  Agents or paths, separated by commas; without it, all."

COMMAND = Command(f"""
skc disable

The skill stays in its store, and people can read it; builds do not deploy it until 'skc enable' gives it
back. 'skc list' shows it as disabled.

{SKILL}
{TARGET}
--dry-run  Say what would be taken away, and do nothing.

$ skc disable pdf
$ skc disable pdf --target codex
""")


def run(arguments: Arguments) -> int:
    dry_run = arguments.has("dry_run")
    result = workspace().disable(arguments.text("skill"), arguments.optional("target") or "", dry_run=dry_run)
    is_same = result.was_off and not result.deployments
    verb = "Would disable" if dry_run else "Disabled"
    start = f"'{result.skill}' was already disabled" if is_same else f"{verb} '{result.skill}'"
    lines = [f"{start}; 'skc enable {shell_quote(result.reference)}' gives it back"]
    lines += [f"  {path}" for path in result.deployments]
    return show(arguments, result, map(one_line, lines))

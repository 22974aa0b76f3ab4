"""`skc enable`: give a disabled skill back to agents."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.commands.disable import SKILL, TARGET
from skillc.cli.syntax import Arguments, Command
from skillc.quotes import shell_quote
from skillc.text import one_line

COMMAND = Command(f"""
skc enable

The skill is built and deployed where it was before 'skc disable'.

{SKILL}
{TARGET}
--dry-run  Say what would be given back, and do nothing.

$ skc enable pdf
$ skc enable pdf --target codex
""")


def run(arguments: Arguments) -> int:
    dry_run = arguments.has("dry_run")
    result = workspace().enable(arguments.text("skill"), arguments.optional("target") or "", dry_run=dry_run)
    if not result.was_off:
        line = f"'{result.skill}' is not disabled"
    else:
        line = f"{'Would enable' if dry_run else 'Enabled'} '{result.skill}'"
        if not result.deployments and not dry_run:
            line += f"; 'skc build {shell_quote(result.reference)}' deploys it"
    lines = [line, *(f"  {path}" for path in result.deployments)]
    show(arguments, result, map(one_line, lines))
    return 1 if result.publication and result.publication.failures else 0

"""`skc enable`: give a disabled skill back to agents."""

from __future__ import annotations

from skillc import install
from skillc.cli import show, workspace
from skillc.cli.commands.disable import SKILL, TARGET, find_in_store
from skillc.cli.syntax import FORMAT, Arguments, Command, Option
from skillc.quotes import shell_quote
from skillc.text import one_line

COMMAND = Command(
    "enable",
    arguments=(SKILL,),
    options=(TARGET, Option("--dry-run", "Say what would be given back, and do nothing."), FORMAT),
    description="The skill is built and deployed where it was before 'skc disable'.",
    examples=("skc enable pdf", "skc enable pdf --target codex"),
)


def run(arguments: Arguments) -> int:
    here, dry_run = workspace(), arguments.has("dry_run")
    skill = find_in_store(here, arguments.text("skill"))
    target = arguments.optional("target") or ""
    result = install.enable_skill(skill, target, here.settings(), here.cwd, dry_run=dry_run)
    for publication in result.publications:
        here.tell_publication(publication)
    if not result.was_off:
        line = f"'{skill.name}' is not disabled"
    else:
        line = f"{'Would enable' if dry_run else 'Enabled'} '{skill.name}'"
        if not result.deployments and not dry_run:
            line += f"; 'skc build {shell_quote(skill.reference)}' deploys it"
    lines = [line, *(f"  {path}" for path in result.deployments)]
    show(arguments, result.as_json, lambda: map(one_line, lines), "paint_report")
    return 1 if any(publication.failures for publication in result.publications) else 0

"""`skc disable` and `skc enable`: take a skill away from agents and keep it, and give it back."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.syntax import Arguments, Command
from skillc.quotes import shell_quote
from skillc.text import one_line

OPTIONS = """\
<skill> :stored  A skill's name, or the path of its folder.
--target <a,b> :agents  Agents or paths, separated by commas; without it, all.
--dry-run  Say what would change, and do nothing."""
COMMANDS = {
    "disable": Command(f"""
skc disable

The skill stays in its store, and people can read it; builds do not deploy it until 'skc enable' gives it
back. 'skc list' shows it as disabled.

{OPTIONS}

$ skc disable pdf
$ skc disable pdf --target codex
"""),
    "enable": Command(f"""
skc enable

The skill is built and deployed where it was before 'skc disable'.

{OPTIONS}

$ skc enable pdf
$ skc enable pdf --target codex
"""),
}


def run(arguments: Arguments) -> int:
    here, is_preview, verb = workspace(), arguments.has("dry_run"), arguments.command.name
    change = here.disable if verb == "disable" else here.enable
    result = change(arguments.text("skill"), arguments.text("target"), dry_run=is_preview)
    line = f"{f'Would {verb}' if is_preview else f'{verb.capitalize()}d'} '{result.skill}'"
    command, is_deployed = shell_quote(result.reference), bool(result.deployments)
    if verb == "disable":
        line = f"'{result.skill}' was already disabled" if result.was_off and not is_deployed else line
        line += f"; 'skc enable {command}' gives it back"
    elif not result.was_off:
        line = f"'{result.skill}' is not disabled"
    elif not is_deployed and not is_preview:
        line += f"; 'skc build {command}' deploys it"
    show(arguments, result, map(one_line, (line, *(f"  {path}" for path in result.deployments))))
    return 1 if result.publication and result.publication.failures else 0

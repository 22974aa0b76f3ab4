"""`skc install`: make the store equal to skills-lock.json."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.options import ACCEPT_BLOCKS, ALLOW_HOST, GLOBAL, NO_LOCK, allowed_hosts
from skillc.cli.syntax import Arguments, Command
from skillc.text import count_of, one_line

COMMAND = Command(f"""
skc install

Installs the skills of skills-lock.json, of the project or else of the home directory, that are missing or
differ: from the locked commit, with every file verified, and audited as 'skc add' does. Skills that left the
lock are removed. What was edited goes to the trash. What is there already is not fetched again.

--frozen  Fail and change nothing if a skill is not available exactly as it is locked.
{GLOBAL}
{ALLOW_HOST}
{ACCEPT_BLOCKS}
--dry-run  Say what would change, and do nothing.

$ skc install
$ skc install --frozen
$ skc install --global
""")


def run(arguments: Arguments) -> int:
    is_preview = arguments.has("dry_run")
    here = attended_workspace(arguments)
    result = here.install(
        is_global=arguments.has("global"),
        frozen=arguments.has("frozen"),
        dry_run=is_preview,
        accept_blocks=arguments.has("accept_blocks"),
        hosts=allowed_hosts(arguments),
    )
    here.tell(result.diagnostics, result.failures)
    verbs = ("Would install", "Would remove") if is_preview else ("Installed", "Removed")
    lines = [f"{verbs[0]} '{name}'" for name in result.installed]
    lines += [f"{verbs[1]} '{name}'" for name in result.removed]
    lines += [f"{count_of(len(result.unchanged), 'skill')} unchanged"] if result.unchanged else []
    nothing = [] if result.failures or result.diagnostics else [NO_LOCK]
    show(arguments, result, [one_line(line) for line in lines] or nothing)
    return 1 if result.failures else 0

"""`skc remove`: take skills away from agents and out of their store."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc remove

Links, stubs and copies go from agents' directories, the compiled skill with its index from the runtime
directory, and the skill itself into the trash. The log stays, for when the skill comes back.

<skill>... :stored  A skill's name, or the path of its folder.
--keep-source  Leave the skill in its store; remove what was made from it.
--purge  Delete the log of what agents used as well.
--dry-run  Say what would be removed, and do nothing.
--yes  Do not ask first. Without a terminal, nothing is asked.

$ skc remove pdf
$ skc remove pdf docx --dry-run
$ skc remove pdf --keep-source
""")


def run(arguments: Arguments) -> int:
    result = attended_workspace(arguments).remove(
        *arguments.texts("skill"),
        keep_source=arguments.has("keep_source"),
        purge=arguments.has("purge"),
        dry_run=arguments.has("dry_run"),
        yes=arguments.has("yes"),
    )
    return show(arguments, result, result.lines())

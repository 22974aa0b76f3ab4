"""`skc lock`: show skills-lock.json."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.commands import verify
from skillc.cli.options import GLOBAL, NO_LOCK
from skillc.cli.output import note_new_name, table
from skillc.cli.syntax import Arguments, Command

COMMAND = Command(f"""
skc lock

Lists the skills of skills-lock.json with where they come from.

--check  The old name of 'skc verify'.
{GLOBAL}

$ skc lock
$ skc lock --global
""")


def run(arguments: Arguments) -> int:
    if arguments.has("check"):
        note_new_name("lock --check", "verify")
        return verify.run(arguments)
    result = workspace().locked(is_global=arguments.has("global"))
    rows = [(e.id, e.source, e.ref or "", (e.commit or "")[:12], "pinned" * e.pinned) for e in result.skills]
    lines = table(("SKILL", "SOURCE", "REF", "COMMIT", ""), rows) if rows else [NO_LOCK]
    return show(arguments, result, lines)

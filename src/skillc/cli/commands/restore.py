"""`skc restore`: bring back what skc replaced or removed [D52]."""

from __future__ import annotations

from skillc.cli.commands.trash import restore
from skillc.cli.syntax import Arguments, Command

COMMAND = Command("""
skc restore

A skill comes back with its entry in the lock, and to the agents that had it. 'skc trash list' shows what is
in the trash.

<item> :trash  What to bring back: a skill's name, a path, or an ID of 'skc trash list'.

$ skc restore pdf
""")


def run(arguments: Arguments) -> int:
    return restore(arguments, arguments.text("item"))

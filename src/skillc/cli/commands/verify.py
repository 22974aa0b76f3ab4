"""`skc verify`: is every installed file what skills-lock.json says?"""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.options import GLOBAL
from skillc.cli.syntax import Arguments, Command

COMMAND = Command(f"""
skc verify

Compares every file of the locked skills, dot-files included, with skills-lock.json, and names those that were
changed, added or are missing, and skills that are installed and not in the lock. For CI: it fetches nothing
and changes nothing, and the status is 1 if there are any. 'skc install' brings back what is locked.

{GLOBAL}

$ skc verify
$ skc verify --format json
""")


def run(arguments: Arguments) -> int:
    result = workspace().verify(is_global=arguments.has("global"))
    show(arguments, result, [each.line for each in result.problems] or ["Every file is what the lock says."])
    return 1 if result.problems else 0

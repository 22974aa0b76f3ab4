"""`skc verify`: is every installed file what skills-lock.json says, and who signed it?"""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.options import GLOBAL, NO_LOCK
from skillc.cli.syntax import Arguments, Command

COMMAND = Command(f"""
skc verify

Compares every file of the locked skills, dot-files included, with skills-lock.json, and names those that were
changed, added or are missing, and skills that are installed and not in the lock. Says by whom skills are
signed, and names broken signatures (E085) and signers that [trust] does not accept (E086). For CI: it fetches
nothing and changes nothing, and the status is 1 if there is a problem. 'skc install' brings back what is
locked.

[skill]... :locked  Installed skills, or folders such as ./pdf, whose signature is checked. Default: all.
{GLOBAL}

$ skc verify
$ skc verify pdf
$ skc verify ./downloads/pdf --format json
""")


def run(arguments: Arguments) -> int:
    return verify(arguments, *arguments.texts("skill"))


def verify(arguments: Arguments, *names: str) -> int:
    """Check some skills, or all, and show what is wrong."""
    result = workspace().verify(*names, is_global=arguments.has("global"))
    show(arguments, result, list(result.lines()) or [NO_LOCK])
    return 1 if result.problems else 0

"""`skc verify`: is every installed file what skills-lock.json says?"""

from __future__ import annotations

from skillc.cli import workspace
from skillc.cli.commands.lock import show_problems
from skillc.cli.options import GLOBAL
from skillc.cli.syntax import Arguments, Command

COMMAND = Command(
    "verify",
    options=(GLOBAL,),
    description=(
        "Compares every file of the locked skills, dot-files included, with skills-lock.json, and names those"
        " that were changed, added or are missing. Fetches nothing and changes nothing. Status 1 if there are"
        " any; 'skc install' brings back what is locked."
    ),
    examples=("skc verify", "skc verify --format json"),
)


def run(arguments: Arguments) -> int:
    problems = workspace().verify(is_global=arguments.has("global"))
    return show_problems(arguments, problems, "Every file is what the lock says.")

"""`skc outdated`: of which locked skills is there a newer version?"""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.lines import Table
from skillc.cli.options import ALLOW_HOST, GLOBAL, LOCKED, MIN_AGE, NO_LOCK, allowed_hosts
from skillc.cli.syntax import Arguments, Command

COMMAND = Command(f"""
skc outdated

Asks the origins of the locked skills for their latest versions: of a branch its last commit, of a tag what it
points to. Changes nothing.

{LOCKED}
{MIN_AGE}
{GLOBAL}
{ALLOW_HOST}

$ skc outdated
$ skc outdated --format json
""")


def run(arguments: Arguments) -> int:
    result = attended_workspace(arguments).outdated(
        *arguments.texts("skill"),
        is_global=arguments.has("global"),
        min_age=arguments.text("min_age"),
        hosts=allowed_hosts(arguments),
    )
    rows = [
        (each.id, each.current, each.latest, "edited" * each.edited) for each in result.skills if each.changed
    ]
    nothing = "Every skill is up to date." if result.skills else NO_LOCK
    rest = [] if result.diagnostics else [nothing]  # with warnings, it is not known of all
    lines = [Table(("SKILL", "CURRENT", "LATEST", ""), rows)] if rows else rest
    return show(arguments, result, [*lines, *result.held()])

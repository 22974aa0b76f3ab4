"""`skc outdated`: of which locked skills is there a newer version?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.options import ALLOW_HOST, GLOBAL, LOCKED, MIN_AGE, NO_LOCK, allowed_hosts
from skillc.cli.output import table, warn
from skillc.cli.syntax import Arguments, Command

if TYPE_CHECKING:
    from skillc.install import Outdated

EVERY = "Every skill is up to date."
COMMAND = Command(
    "outdated",
    arguments=(LOCKED,),
    options=(MIN_AGE, GLOBAL, ALLOW_HOST),
    description=(
        "Asks the origins of the locked skills for their latest versions: of a branch its last commit, of a"
        " tag what it points to. Changes nothing."
    ),
    examples=("skc outdated", "skc outdated --format json"),
)


def run(arguments: Arguments) -> int:
    result = attended_workspace(arguments).outdated(
        *arguments.texts("skill"),
        is_global=arguments.has("global"),
        min_age=arguments.optional("min_age") or "",
        hosts=allowed_hosts(arguments),
    )
    warn(result.diagnostics)
    return show(arguments, result, _lines(result))


def _lines(result: Outdated) -> Iterable[str]:
    news = [each for each in result.skills if each.is_changed]
    if not news:  # with warnings, it is not known of all
        return [] if result.diagnostics else [EVERY if result.skills else NO_LOCK]
    rows = [
        (each.entry.name, each.current_name, each.latest_name, "edited" if each.is_edited else "")
        for each in news
    ]
    return table(("SKILL", "CURRENT", "LATEST", ""), rows)

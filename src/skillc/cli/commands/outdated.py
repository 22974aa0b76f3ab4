"""`skc outdated`: of which locked skills is there a newer version?"""

from __future__ import annotations

from skillc import install
from skillc.cli import show
from skillc.cli.commands.install import GLOBAL, NO_LOCK
from skillc.cli.commands.update import MIN_AGE, find_entries
from skillc.cli.hosts import ALLOW_HOST, allowed_hosts
from skillc.cli.output import table, warn
from skillc.cli.progress import Progress
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command
from skillc.paths import current_directory

EVERY = "Every skill is up to date."
COMMAND = Command(
    "outdated",
    arguments=(
        Argument(
            "skill", "Skills of the lock. Default: all.", required=False, repeat=True, completes="locked"
        ),
    ),
    options=(MIN_AGE, GLOBAL, ALLOW_HOST, FORMAT),
    description=(
        "Asks the origins of the locked skills for their latest versions: of a branch its last commit, of a"
        " tag what it points to. Changes nothing."
    ),
    examples=("skc outdated", "skc outdated --format json"),
)


def run(arguments: Arguments) -> int:
    root = install.find_root(current_directory(), is_global=arguments.has("global"))
    age = arguments.optional("min_age")
    entries = find_entries(root, arguments.texts("skill"))
    with Progress(len(entries), "skills") as progress:
        result = install.list_latest(
            root,
            entries,
            min_age=install.parse_age(age) if age else 0,
            hosts=allowed_hosts(arguments),
            tell_step=progress.step,
        )
    warn(result.diagnostics)
    news = [each for each in result.skills if each.is_changed]
    rows = [
        (each.entry.name, each.current_name, each.latest_name, "edited" if each.is_edited else "")
        for each in news
    ]
    lines = list(table(("SKILL", "CURRENT", "LATEST", ""), rows)) if rows else [EVERY if entries else NO_LOCK]
    if not rows and result.diagnostics:
        lines = []  # not known of all
    return show(arguments, result.as_json, lambda: lines, "paint_report")

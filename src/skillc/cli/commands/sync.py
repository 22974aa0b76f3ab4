"""`skc sync`: move logs that were written beside a project to where they belong."""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

COMMAND = Command(
    "sync",
    "Move accesses that could only be logged beside the project into the skills' logs.",
    arguments=(Argument("skill", "Only this skill's.", required=False, completes="skills"),),
    options=(
        Option("--project", "The project's directory; the current one without it.", value="<path>"),
        Option("--dry-run", "Only say what would be moved."),
        FORMAT,
    ),
    examples=("skc sync", "skc sync pdf --dry-run"),
)


def run(arguments: Arguments) -> int:
    import os

    from skillc.cli.output import print_json
    from skillc.paths import current_directory
    from skillc.text import one_line
    from skillc.usage import sync_logs

    project = os.path.join(current_directory(), arguments.optional("project") or "")
    dry = arguments.given("dry_run")
    done, failed = sync_logs(os.path.realpath(project), arguments.optional("skill"), dry_run=dry)
    for error in failed:
        print(error.text(), file=sys.stderr)
    if arguments.text("format") == "json":
        print_json(
            {
                "synced": [{"skill": synced.skill, "entries": synced.entries} for synced in done],
                "failed": [{"code": error.code, "message": error.message} for error in failed],
                "dry_run": dry,
            }
        )
        return 1 if failed else 0
    for synced in done:
        start, end = ("Would sync", "") if dry else ("Synced", " (local logs removed)")
        print(one_line(f"{start} {synced.entries} entries for '{synced.skill}'{end}"))
    if not done and not failed:
        print("No local logs to sync")
    return 1 if failed else 0

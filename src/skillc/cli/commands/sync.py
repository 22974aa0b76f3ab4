"""`skc sync`: move logs that were written beside a project to where they belong."""

from __future__ import annotations

import os
import sys

from skillc.cli import show
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.paths import current_directory
from skillc.text import one_line
from skillc.usage import sync_logs
from skillc.workspace import Workspace

COMMAND = Command(
    "sync",
    arguments=(
        Argument("skill", "Sync only this skill. Default: all skills.", required=False, completes="skills"),
    ),
    options=(
        Option("--project", "The project's directory. Default: the current directory.", value="<path>"),
        Option("--dry-run", "Print what would be moved, and move nothing."),
        FORMAT,
    ),
    examples=("skc sync", "skc sync pdf --dry-run"),
)


def run(arguments: Arguments) -> int:
    project = os.path.join(current_directory(), arguments.optional("project") or "")
    Workspace(project, lambda line: print(line, file=sys.stderr)).tell_owners()
    dry_run = arguments.has("dry_run")
    skills, errors = sync_logs(os.path.realpath(project), arguments.optional("skill"), dry_run=dry_run)
    for error in errors:
        print(error.text(), file=sys.stderr)
    start, end = ("Would sync", "") if dry_run else ("Synced", " (local logs removed)")
    lines = [one_line(f"{start} {count} entries for '{skill}'{end}") for skill, count in skills]
    value = {
        "synced": [{"skill": skill, "entries": count} for skill, count in skills],
        "failed": [{"code": error.code, "message": error.message} for error in errors],
        "dry_run": dry_run,
    }
    show(arguments, lambda: value, lambda: lines or ([] if errors else ["No local logs to sync"]))
    return 1 if errors else 0

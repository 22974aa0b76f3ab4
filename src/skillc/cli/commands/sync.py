"""`skc sync`: move logs that were written beside a project to where they belong, or send counts."""

from __future__ import annotations

import os
import sys

from skillc import install, usage
from skillc.cli import show
from skillc.cli.output import report_all
from skillc.cli.progress import Progress
from skillc.cli.registry import connect, find_registry
from skillc.cli.syntax import Argument, Arguments, Command, Option
from skillc.cli.usage_errors import see
from skillc.errors import InvalidOption
from skillc.paths import current_directory
from skillc.text import count_of, one_line
from skillc.workspace import Workspace

COMMAND = Command(
    "sync",
    arguments=(Argument("[skill]", "Sync only this skill. Default: all skills.", "skills"),),
    options=(
        Option("--project <path>", "The project's directory. Default: the current directory."),
        Option(
            "--to <url>",
            "Send counts of use to this registry instead: of its own skills, never texts of queries.",
            "registries",
        ),
        Option("--with-queries", "With --to: also send the searches that found nothing."),
        Option("--dry-run", "Print what would be moved or sent, and do nothing."),
    ),
    description=(
        "Without --to nothing leaves this machine. With --to, a registry gets how often each of its skills,"
        " sections and files was read on which day, from all projects of this machine, under a random name;"
        " no paths, projects or queries. What was sent already is not sent again; what could not be sent is"
        " sent the next time, for up to 20 days. --dry-run --format json prints all of it."
    ),
    examples=("skc sync", "skc sync pdf --dry-run", "skc sync --to https://skills.example.com"),
)


def run(arguments: Arguments) -> int:
    if arguments.optional("to") is not None:
        return _send(arguments)
    if arguments.has("with_queries"):
        raise InvalidOption(f"--with-queries goes with --to alone; {see(COMMAND)}")
    project = os.path.join(current_directory(), arguments.optional("project") or "")
    Workspace(project, lambda line: print(line, file=sys.stderr)).tell_owners()
    dry_run = arguments.has("dry_run")
    skills, errors = usage.sync_logs(os.path.realpath(project), arguments.optional("skill"), dry_run=dry_run)
    report_all((), errors)
    start, end = ("Would sync", "") if dry_run else ("Synced", " (local logs removed)")
    lines = [
        one_line(f"{start} {count_of(count, 'entry', 'entries')} for '{skill}'{end}")
        for skill, count in skills
    ]
    value = {
        # `skill` goes with the next release
        "synced": [{"id": skill, "skill": skill, "entries": count} for skill, count in skills],
        "failed": [{"code": error.code, "message": error.message} for error in errors],
        "dry_run": dry_run,
    }
    show(arguments, value, lines or ([] if errors else ["No local logs to sync"]))
    return 1 if errors else 0


def _send(arguments: Arguments) -> int:
    """Send counts of use to a registry."""
    if arguments.optional("skill") is not None or arguments.optional("project") is not None:
        raise InvalidOption(f"--to goes with neither <skill> nor --project; {see(COMMAND)}")
    credential = find_registry(arguments.optional("to"))
    skills = install.find_shared(credential.registry, current_directory())
    upload = usage.count_usage(credential.registry, skills, with_queries=arguments.has("with_queries"))
    dry_run = arguments.has("dry_run")
    if upload.days and not dry_run:
        with connect(credential) as api, Progress(len(upload.days), "days") as progress:
            usage.send_usage(api, upload, progress.step)
    value = upload.as_json() | {"dry_run": dry_run}
    if dry_run:
        value["counts"] = [row for day in sorted(upload.days) for row in upload.days[day]]
    return show(arguments, value, _report(upload, dry_run))


def _report(upload: usage.UsageUpload, dry_run: bool) -> str:
    if not upload.skills:
        return f"No skill of {upload.registry} is used here"
    if not upload.days:
        return f"Nothing new to send to {upload.registry}"
    rows, days = (upload.size, len(upload.days)) if dry_run else (upload.rows, len(upload.days))
    ignored = f" ({upload.ignored} ignored: it has no such skill for you)" if upload.ignored else ""
    sent = f"{count_of(rows, 'count')} of {count_of(days, 'day')}"
    return f"{'Would send' if dry_run else 'Sent'} {sent} to {upload.registry}{ignored}"

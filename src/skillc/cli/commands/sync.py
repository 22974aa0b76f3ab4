"""`skc sync`: move logs that were written beside a project to where they belong, or send counts."""

from __future__ import annotations

import os
import sys

from skillc import usage
from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.syntax import Arguments, Command
from skillc.paths import current_directory
from skillc.text import count_of, one_line
from skillc.workspace import Workspace

COMMAND = Command("""
skc sync

Without --to nothing leaves this machine. With --to, a registry gets how often each of its skills, sections
and files was read on which day, from all projects of this machine, under a random name; no paths, projects or
queries. What was sent already is not sent again; what could not be sent is sent the next time, for up to 20
days. --dry-run --format json prints all of it.

[skill] :skills  Sync only this skill. Default: all skills.
--project <path>  The project's directory. Default: the current directory.
--to <url> :registries  Send counts of use to this registry instead: of its own skills, never texts of
    queries.
--with-queries  With --to: also send the searches that found nothing.
--dry-run  Print what would be moved or sent, and do nothing.

$ skc sync
$ skc sync pdf --dry-run
$ skc sync --to https://skills.example.com
""")


def run(arguments: Arguments) -> int:
    if arguments.optional("to") is not None:
        return _send(arguments)
    if arguments.has("with_queries"):
        raise arguments.error("--with-queries goes with --to alone")
    project = os.path.join(current_directory(), arguments.text("project"))
    here = Workspace(project, lambda line: print(line, file=sys.stderr))
    here.tell_owners()
    result = here.sync_usage(arguments.optional("skill"), dry_run=arguments.has("dry_run"))
    here.tell((), result.failures)
    start, end = ("Would sync", "") if result.dry_run else ("Synced", " (local logs removed)")
    lines = [
        one_line(f"{start} {count_of(log.entries, 'entry', 'entries')} for '{log.id}'{end}")
        for log in result.synced
    ]
    show(arguments, result, lines or ([] if result.failures else ["No local logs to sync"]))
    return 1 if result.failures else 0


def _send(arguments: Arguments) -> int:
    """Send counts of use to a registry."""
    if arguments.optional("skill") is not None or arguments.optional("project") is not None:
        raise arguments.error("--to goes with neither <skill> nor --project")
    upload = attended_workspace(arguments).send_usage(
        arguments.optional("to"),
        with_queries=arguments.has("with_queries"),
        dry_run=arguments.has("dry_run"),
    )
    return show(arguments, upload, _report(upload))


def _report(upload: usage.UsageUpload) -> str:
    if not upload.skills:
        return f"No skill of {upload.registry} is used here"
    if not upload.days:
        return f"Nothing new to send to {upload.registry}"
    rows = count_of(upload.size if upload.is_preview else upload.rows, "count")
    ignored = f" ({upload.ignored} ignored: it has no such skill for you)" if upload.ignored else ""
    sent = f"{rows} of {count_of(len(upload.days), 'day')}"
    return f"{'Would send' if upload.is_preview else 'Sent'} {sent} to {upload.registry}{ignored}"

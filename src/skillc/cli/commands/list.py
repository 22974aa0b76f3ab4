"""`skc list`: the skills of the stores and whether each is built."""

from __future__ import annotations

from skillc.cli.output import print_json, print_table, warn
from skillc.cli.syntax import FORMAT, Arguments, Command, Option
from skillc.compiler import list_skills
from skillc.paths import current_directory

COMMAND = Command(
    "list",
    options=(
        Option("--scope", "Which stores to list.", choices=("project", "global", "all"), default="all"),
        Option(
            "--status",
            "List only skills with this status.",
            choices=("normal", "not-built", "obsolete", "all"),
            default="all",
        ),
        Option("--limit", "Maximum number of skills.", value="<n>", kind="count"),
        Option("--pattern", "List only names that match, such as 'pdf-*'.", value="<glob>"),
        Option("--check-obsolete", "Check whether files changed since the last build."),
        FORMAT,
    ),
    examples=("skc list", "skc list --status obsolete", "skc list --format json"),
)


def run(arguments: Arguments) -> int:
    listing = list_skills(
        current_directory(),
        scope=arguments.text("scope"),
        status=arguments.text("status"),
        pattern=arguments.optional("pattern"),
        limit=arguments.count("limit"),
        check_obsolete=arguments.given("check_obsolete"),
    )
    warn(listing.diagnostics)
    if arguments.text("format") == "json":
        print_json(listing.as_json())
        return 0
    if not listing.skills:
        print("No skills." if listing.total else "No skills yet. 'skc init <name>' makes one.")
        return 0
    header = ["SKILL", "SCOPE", "STATUS", "SOURCE"][: 4 if arguments.given("verbose") else 3]
    rows = [(e.skill.name, e.skill.scope, e.status, e.skill.source)[: len(header)] for e in listing.skills]
    print_table(header, rows)
    return 0

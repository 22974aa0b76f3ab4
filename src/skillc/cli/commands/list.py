"""`skc list`: the skills of the stores and whether each is built."""

from __future__ import annotations

from skillc import compiler, install, library
from skillc.cli import show, workspace
from skillc.cli.lines import WARNING, Mark
from skillc.cli.output import table
from skillc.cli.syntax import Arguments, Command, Option
from skillc.errors import warning

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
        Option("--limit <n>", "Maximum number of skills."),
        Option("--pattern <glob>", "List only names that match, such as 'pdf-*'.", "stored"),
        Option("--check-obsolete", "Check whether files changed since the last build."),
    ),
    examples=("skc list", "skc list --status obsolete", "skc list --format json"),
)


def run(arguments: Arguments) -> int:
    here = workspace(progress=True)
    listing = compiler.list_skills(
        here.cwd,
        scope=arguments.text("scope"),
        status=arguments.text("status"),
        pattern=arguments.optional("pattern"),
        limit=arguments.count("limit"),
        check_obsolete=arguments.has("check_obsolete"),
    )
    here.tell((*listing.diagnostics, *library.check_deployments()))
    file = here.switched_off_by()
    if file:  # they are in the stores all the same
        here.tell((warning("W072", file),))
    if not listing.total:
        return show(arguments, listing.as_json(), [install.advise_first_skill()])
    width = 4 if arguments.has("verbose") else 3
    rows = [(name, scope, _mark(status), path)[:width] for name, scope, status, path in listing.rows()]
    lines = table(compiler.LIST_HEADER[:width], rows) if rows else ()
    return show(arguments, listing.as_json(), [*lines, listing.total_line()])


def _mark(status: str) -> str:
    """Return a status that asks for something so that it stands out."""
    return Mark(status, WARNING) if status.startswith(("not-built", "obsolete")) else status

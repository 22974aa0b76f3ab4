"""`skc list`: the skills of the stores and whether each is built."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.output import table
from skillc.cli.syntax import FORMAT, Arguments, Command, Option
from skillc.compiler import SkillStatus, list_skills
from skillc.errors import warning
from skillc.install import count_agent_skills
from skillc.library import find_ghosts
from skillc.text import one_line

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
        Option("--limit", "Maximum number of skills.", kind="count"),
        Option("--pattern", "List only names that match, such as 'pdf-*'.", value="<glob>"),
        Option("--check-obsolete", "Check whether files changed since the last build."),
        FORMAT,
    ),
    examples=("skc list", "skc list --status obsolete", "skc list --format json"),
)


def run(arguments: Arguments) -> int:
    here = workspace(progress=True)
    listing = list_skills(
        here.cwd,
        scope=arguments.text("scope"),
        status=arguments.text("status"),
        pattern=arguments.optional("pattern"),
        limit=arguments.count("limit"),
        check_obsolete=arguments.has("check_obsolete"),
    )
    here.tell((*listing.diagnostics, *find_ghosts()))
    file = here.switched_off_by()
    if file:  # they are in the stores all the same
        here.tell((warning("W072", file),))
    if not listing.skills:
        return show(arguments, listing.as_json, lambda: ["No skills." if listing.total else _advise()])
    header = ["SKILL", "SCOPE", "STATUS", "SOURCE"][: 4 if arguments.has("verbose") else 3]
    rows = [(e.skill.name, e.skill.scope, _status(e), e.skill.source)[: len(header)] for e in listing.skills]
    count = f"{len(rows):,} of " if len(rows) < listing.total else ""
    total = f"{count}{listing.total:,} skill{'' if listing.total == 1 else 's'}"
    return show(arguments, listing.as_json, lambda: [*table(header, rows), total])


def _status(entry: SkillStatus) -> str:
    return f"{entry.status} ({entry.disabled})" if entry.disabled else entry.status


def _advise() -> str:
    """Return what to do where there is no skill: agents may have some."""
    count, directories = count_agent_skills()
    if not count:
        return "No skills yet. 'skc init <name>' makes one."
    skills = f"{count:,} skill{'' if count == 1 else 's'}"
    places = one_line(", ".join(directories))
    return f"No skills yet, but {skills} in {places}; 'skc import' takes them over."

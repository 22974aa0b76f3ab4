"""`skc clean`: remove caches, orphans, ghosts and leftovers, after showing them with their sizes."""

from __future__ import annotations

from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.findings import measure_waste, show_waste
from skillc.cli.syntax import Arguments, Command
from skillc.text import one_line

COMMAND = Command("""
skc clean

Caches: copies and checkouts of repositories, indexes of all skills, files of MCP servers, what 'skc eval'
need not repeat; they are made again when they are needed. Orphans: builds, indexes and notes whose skill is
gone. Ghosts: what was deployed from a skill that is gone; what was edited goes to the trash. Leftovers: of
processes that were killed.

What another process uses, access logs, the trash, your decisions about trust and whatever you wrote stay.
docs/doctor.md has the details.

--dry-run  Show what would go, and remove nothing.
--yes  Remove without asking.

$ skc clean --dry-run
$ skc clean
$ skc clean --yes --format json
""")


def run(arguments: Arguments) -> int:
    result = attended_workspace(arguments).clean(
        dry_run=arguments.has("dry_run"),
        yes=arguments.has("yes"),
        describe=lambda waste: "\n".join(show_waste(waste)),
    )
    if not result.is_done:
        return show(arguments, result, show_waste(result.entries))
    lines = [f"Removed {measure_waste([each for each in result.entries if not each.is_kept])}"]
    for each in result.entries:
        if each.is_trashed:
            lines.append(f"In the trash: {each.path}; 'skc restore {each.detail}' brings it back")
        elif each.is_kept:
            lines.append(f"Kept: {each.path}: {each.detail}")
    return show(arguments, result, map(one_line, lines))

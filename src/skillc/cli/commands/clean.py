"""`skc clean`: remove caches, orphans, ghosts and leftovers, after showing them with their sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skillc import install
from skillc.cli import show
from skillc.cli.approval import attended_workspace
from skillc.cli.output import table
from skillc.cli.syntax import Arguments, Command
from skillc.text import count_of, one_line

MAX_LINES = 20  # of a kind, for people
COMMAND = Command("""
skc clean

Caches: copies and checkouts of repositories, indexes of all skills, files of MCP servers; they are made again
when they are needed. Orphans: builds, indexes and notes whose skill is gone. Ghosts: what was deployed from a
skill that is gone; what was edited goes to the trash. Leftovers: of processes that were killed.

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
        describe=lambda waste: "\n".join(_lines(waste)),
    )
    if not result.is_done:
        return show(arguments, result, _lines(result.entries))
    lines = [f"Removed {_amount([each for each in result.entries if not each.is_kept])}"]
    for each in result.entries:
        if each.is_trashed:
            lines.append(f"In the trash: {each.path}; 'skc restore {each.detail}' brings it back")
        elif each.is_kept:
            lines.append(f"Kept: {each.path}: {each.detail}")
    return show(arguments, result, map(one_line, lines))


def _lines(waste: Sequence[install.Waste]) -> Iterator[str]:
    """Yield a table for each kind, with its size, and the total."""
    if not waste:
        yield "Nothing to clean."
        return
    for kind in dict.fromkeys(item.kind for item in waste):
        items = [item for item in waste if item.kind == kind]
        yield f"{kind.capitalize()}s: {_amount(items)}"
        rows = [(f"  {item.size:,}", item.what, item.path, item.origin) for item in items[:MAX_LINES]]
        yield from table(("  BYTES", "WHAT", "PATH", "FROM"), rows)
        if len(items) > MAX_LINES:
            yield f"  … and {len(items) - MAX_LINES} more; --format json has them all"
        yield ""
    yield f"Total: {_amount(waste)}"


def _amount(items: Sequence[install.Waste]) -> str:
    return f"{count_of(len(items), 'item')}, {sum(item.size for item in items):,} bytes"

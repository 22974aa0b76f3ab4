"""`skc clean`: remove caches, orphans, ghosts and leftovers, after showing them with their sizes."""

from __future__ import annotations

from skillc import install
from skillc.cli import show
from skillc.cli.approval import confirm, terminal
from skillc.cli.output import table
from skillc.cli.progress import Progress
from skillc.cli.syntax import FORMAT, Arguments, Command, Option
from skillc.errors import InvalidOption
from skillc.paths import current_directory
from skillc.text import count_of, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_LINES = 20  # of a kind, for people

COMMAND = Command(
    "clean",
    options=(
        Option("--dry-run", "Show what would go, and remove nothing."),
        Option("--yes", "Remove without asking."),
        FORMAT,
    ),
    description=(
        "Caches: copies and checkouts of repositories, indexes of all skills, files of MCP servers; they are"
        " made again when they are needed. Orphans: builds, indexes and notes whose skill is gone. Ghosts:"
        " what was deployed from a skill that is gone; what was edited goes to the trash. Leftovers: of"
        " processes that were killed.\n"
        "What another process uses, access logs, the trash, your decisions about trust and whatever you wrote"
        " stay. docs/doctor.md has the details."
    ),
    examples=("skc clean --dry-run", "skc clean", "skc clean --yes --format json"),
)


def run(arguments: Arguments) -> int:
    waste = install.find_waste(current_directory())
    if arguments.has("dry_run") or not waste:
        value = [item.as_json() for item in waste]
        return show(arguments, lambda: _value(value), lambda: _lines(waste), "paint_report")
    if not arguments.has("yes"):
        text = "\n".join(_lines(waste))
        if not (terminal() and confirm(text, "Remove all this?")):
            raise InvalidOption("nothing removed; 'skc clean --yes' removes without asking")
    removals = []
    with Progress(len(waste), "items") as progress:
        for item in waste:
            progress.step(item.path)
            removals.append(install.remove_waste(item))
    return show(
        arguments, lambda: _value([r.as_json() for r in removals]), lambda: _outcome(removals), "paint_report"
    )


def _value(entries: list[dict[str, object]]) -> dict[str, object]:
    return {"entries": entries}


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


def _outcome(removals: Sequence[install.Disposal]) -> Iterator[str]:
    waste = [removal.waste for removal in removals if removal.result != "kept"]
    yield f"Removed {_amount(waste)}"
    for removal in removals:
        if removal.result == "trashed":
            yield one_line(
                f"In the trash: {removal.waste.path}; 'skc restore {removal.detail}' brings it back"
            )
        elif removal.result == "kept":
            yield one_line(f"Kept: {removal.waste.path}: {removal.detail}")

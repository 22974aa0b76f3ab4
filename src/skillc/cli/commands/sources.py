"""`skc sources`: the files of a skill [RFC-0002:C-SOURCES, D19].

JSON: `{"root", "entries", "more"}`. `entries` are `{"path", "type"}` in the tree's order, `path`
below the skill's root, `type` `file` or `directory`; a directory that is not opened has `files` too,
how many are below it. `more` is how many entries --limit left out.
"""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.gateway import Tree

COMMAND = Command(
    "sources",
    "List the files of a skill as a tree.",
    arguments=(Argument("skill", "A skill's name or folder.", completes="skills"),),
    options=(
        Option("--depth", "How many levels to open.", value="<n>", kind="count"),
        Option("--dir", "Only what is below this directory.", value="<path>"),
        Option("--limit", "At most so many entries.", value="<n>", kind="count", default=100),
        Option("--pattern", "Only files that match, by name or, with a slash, by path.", value="<glob>"),
        FORMAT,
    ),
    examples=("skc sources pdf --depth 2", "skc sources pdf --pattern '*.md'"),
)


def run(arguments: Arguments) -> int:
    from skillc.cli.access import access
    from skillc.gateway import sources

    depth, directory = arguments.count("depth"), arguments.optional("dir")
    limit, pattern = arguments.count("limit") or 100, arguments.optional("pattern")
    tree = access(
        "sources",
        arguments.text("skill"),
        {"dir": directory, "depth": depth, "pattern": pattern},
        lambda skill: sources(skill, depth=depth, directory=directory, limit=limit, pattern=pattern),
    )
    if arguments.text("format") == "json":
        from skillc.cli.printing import print_json

        entries = [
            {"path": n.path, "type": "directory" if n.is_directory else "file"}
            | ({"files": n.files} if n.files else {})
            for n in tree.entries
        ]
        print_json({"root": tree.root, "entries": entries, "more": tree.more})
        return 0
    for line in lines(tree, _marks()):
        print(line)
    return 0


# What stands before an entry, before the last one of a directory, and below each of the two.
LINES = ("├── ", "└── ", "│   ", "    ")
ASCII_LINES = ("|-- ", "`-- ", "|   ", "    ")


def _marks() -> tuple[str, str, str, str]:
    """What the terminal can show."""
    try:
        "".join(LINES).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII_LINES
    return LINES


def lines(tree: Tree, marks: tuple[str, str, str, str] = LINES) -> Iterator[str]:
    """The tree as people draw it."""
    from skillc.errors import one_line

    entry, last_entry, below, below_last = marks
    yield f"{one_line(tree.root)}/"
    ended: dict[int, bool] = {}  # whether the directory at a depth has shown its last entry
    for node in tree.entries:
        ended[node.depth] = node.last
        bars = "".join(below_last if ended[depth] else below for depth in range(1, node.depth))
        count = f" ({node.files} files)" if node.files else ""
        slash = "/" if node.is_directory else ""
        yield f"{bars}{last_entry if node.last else entry}{one_line(node.name)}{slash}{count}"
    if tree.more:
        yield f"... ({tree.more} more)"

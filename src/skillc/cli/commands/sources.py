"""`skc sources`: the files of a skill."""

from __future__ import annotations

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
    for line in lines(tree):
        print(line)
    return 0


def lines(tree: Tree) -> Iterator[str]:
    """The tree as people draw it."""
    from skillc.errors import one_line

    yield f"{one_line(tree.root)}/"
    ended: dict[int, bool] = {}  # whether the directory at a depth has shown its last entry
    for node in tree.entries:
        ended[node.depth] = node.last
        bars = "".join("    " if ended[depth] else "│   " for depth in range(1, node.depth))
        count = f" ({node.files} files)" if node.files else ""
        slash = "/" if node.is_directory else ""
        yield f"{bars}{'└── ' if node.last else '├── '}{one_line(node.name)}{slash}{count}"
    if tree.more:
        yield f"... ({tree.more} more)"

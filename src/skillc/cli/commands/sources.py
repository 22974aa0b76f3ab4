"""`skc sources`: the files of a skill [RFC-0002:C-SOURCES, D19].

JSON: `{"root", "entries", "more"}`. `entries` are `{"path", "type"}` in the tree's order, `path`
below the skill's root, `type` `file` or `directory`; a directory that is not opened has `files` too,
how many are below it. `more` is how many entries --limit left out.
"""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

COMMAND = Command(
    "sources",
    arguments=(
        Argument("skill", "A skill's name, its ID in a repository, or a folder.", completes="skills"),
    ),
    options=(
        Option("--depth", "Maximum depth of the tree.", value="<n>", kind="count"),
        Option("--dir", "List only this directory.", value="<path>"),
        Option("--limit", "Maximum number of entries.", value="<n>", kind="count", default=100),
        Option(
            "--pattern",
            "List only files that match. With a slash, the path is matched, otherwise the name.",
            value="<glob>",
        ),
        FORMAT,
    ),
    examples=("skc sources pdf --depth 2", "skc sources pdf --pattern '*.md'"),
)


def run(arguments: Arguments) -> int:
    from skillc.cli import workspace

    tree = workspace().sources(
        arguments.text("skill"),
        depth=arguments.count("depth"),
        directory=arguments.optional("dir"),
        limit=arguments.count("limit") or 100,
        pattern=arguments.optional("pattern"),
    )
    if arguments.text("format") == "json":
        from skillc.cli.output import print_json

        print_json(tree.as_json())
        return 0
    for line in tree.lines(_marks()):
        print(line)
    return 0


ASCII_MARKS = ("|-- ", "`-- ", "|   ", "    ")


def _marks() -> tuple[str, str, str, str]:
    """Return the lines of the tree that the terminal can show."""
    from skillc.gateway import TREE_MARKS

    try:
        "".join(TREE_MARKS).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII_MARKS
    return TREE_MARKS

"""`skc sources`: the files of a skill [RFC-0002:C-SOURCES, D19]."""

from __future__ import annotations

from skillc.cli import can_print, show, workspace
from skillc.cli.syntax import SKILL, Arguments, Command

ASCII_MARKS = ("|-- ", "`-- ", "|   ", "    ")

COMMAND = Command(f"""
skc sources

{SKILL}
--depth <n>  Maximum depth of the tree.
--dir <path> :directories  List only this directory.
--limit <n> =100  Maximum number of entries.
--pattern <glob>  List only files that match. With a slash, the path is matched, otherwise the name.

$ skc sources pdf --depth 2
$ skc sources pdf --pattern '*.md'
""")


def run(arguments: Arguments) -> int:
    from skillc.gateway import TREE_MARKS

    tree = workspace().sources(
        arguments.text("skill"),
        depth=arguments.count("depth"),
        directory=arguments.optional("dir"),
        limit=arguments.count("limit") or 100,
        pattern=arguments.optional("pattern"),
    )
    marks = TREE_MARKS if can_print("".join(TREE_MARKS)) else ASCII_MARKS
    return show(arguments, tree, tree.lines(marks))

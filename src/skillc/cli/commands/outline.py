"""`skc outline`: the headings of a skill [RFC-0002:C-OUTLINE, D14].

JSON: a list of `{"file", "level", "heading", "line"}`, in the same order.
"""

from __future__ import annotations

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

COMMAND = Command(
    "outline",
    arguments=(
        Argument("skill", "A skill's name, its ID in a repository, or a folder.", completes="skills"),
    ),
    options=(
        Option("--level", "Deepest heading level to list.", value="<n>", kind="count", maximum=6),
        FORMAT,
    ),
    examples=("skc outline pdf", "skc outline pdf --level 2"),
)


def run(arguments: Arguments) -> int:
    from skillc.cli import workspace
    from skillc.gateway import render_outline

    entries = workspace().outline(arguments.text("skill"), arguments.count("level"))
    if arguments.text("format") == "json":
        from skillc.cli.output import print_json

        print_json([entry.as_json() for entry in entries])
        return 0
    for line in render_outline(entries):
        print(line)
    return 0

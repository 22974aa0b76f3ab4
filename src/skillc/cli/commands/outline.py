"""`skc outline`: the headings of a skill [RFC-0002:C-OUTLINE, D14].

JSON: a list of `{"file", "level", "heading", "line"}`, in the same order.
"""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.syntax import FORMAT, SKILL, Arguments, Command, Option

COMMAND = Command(
    "outline",
    arguments=(SKILL,),
    options=(Option("--level", "Deepest heading level to list.", kind="count", maximum=6), FORMAT),
    examples=("skc outline pdf", "skc outline pdf --level 2"),
)


def run(arguments: Arguments) -> int:
    from skillc.gateway import render_outline

    entries = workspace().outline(arguments.text("skill"), arguments.count("level"))
    return show(
        arguments,
        lambda: [entry.as_json() for entry in entries],
        lambda: render_outline(entries),
        "paint_outline",
    )

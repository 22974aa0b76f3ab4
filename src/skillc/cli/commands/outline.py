"""`skc outline`: the headings of a skill [RFC-0002:C-OUTLINE, D14]."""

from __future__ import annotations

from skillc.cli import show, workspace
from skillc.cli.syntax import SKILL, Arguments, Command, Option, format_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = Command(
    "outline",
    arguments=(SKILL,),
    options=(Option("--level <n>", "Deepest heading level to list.", maximum=6),),
    form=format_option("text", "json", "object"),  # the list of json in an object
    examples=("skc outline pdf", "skc outline pdf --level 2"),
)


def run(arguments: Arguments) -> int:
    from skillc.gateway import render_outline

    entries = workspace().outline(arguments.text("skill"), arguments.count("level"))

    def view() -> Iterator[str]:
        from skillc.cli.views import show_outline  # only where a person looks

        return show_outline(entries)

    value = {"headings": entries} if arguments.text("format") == "object" else entries
    return show(arguments, value, render_outline(entries), view)

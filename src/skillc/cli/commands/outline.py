"""`skc outline`: the headings of a skill [RFC-0002:C-OUTLINE, D14]."""

from __future__ import annotations

from skillc.cli import is_for_person, show, workspace, write_text
from skillc.cli.syntax import SKILL, Arguments, Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

COMMAND = Command(f"""
skc outline

{SKILL}
--level <n> ..6  Deepest heading level to list.
--format text|json|object =text  Output format.

$ skc outline pdf
$ skc outline pdf --level 2
""")


def run(arguments: Arguments) -> int:
    name, level = arguments.text("skill"), arguments.count("level")
    if not arguments.as_json and not is_for_person():
        write_text(workspace().outline_text(name, level))
        return 0
    entries = workspace().outline(name, level)

    def view() -> Iterator[str]:
        from skillc.cli.views import show_outline  # only where a person looks

        return show_outline(entries)

    value = {"headings": entries} if arguments.text("format") == "object" else entries
    return show(arguments, value, (), view)

"""`skc show`: one section of a skill [RFC-0002:C-SHOW]."""

from __future__ import annotations

from skillc.cli import workspace, write_bytes
from skillc.cli.syntax import SKILL, Arguments, Command

COMMAND = Command(f"""
skc show

{SKILL}
--section <heading>! :sections  The section's heading. Case does not matter.
--file <path> :markdown  Search only this file for the section.
--max-lines <n>  Maximum number of lines to print.

$ skc show pdf --section "Filling forms"
$ skc show pdf --section Setup --file references/api.md
""")


def run(arguments: Arguments) -> int:
    result = workspace().show(
        arguments.text("skill"),
        arguments.text("section"),
        file=arguments.optional("file"),
        max_lines=arguments.count("max_lines"),
    )
    if arguments.as_json:
        from skillc.cli.output import print_json

        print_json(result.as_json())
    else:
        write_bytes(result.content(), is_markdown=True)
    return 0

"""`skc open`: a file of a skill [RFC-0002:C-OPEN]."""

from __future__ import annotations

from skillc.cli import is_painted, workspace, write_bytes
from skillc.cli.syntax import SKILL, Arguments, Command

COMMAND = Command(f"""
skc open

{SKILL}
<path> :sources  The file's path in the skill.
--max-lines <n>  Maximum number of lines to print.

$ skc open pdf scripts/fill.py
$ skc open pdf references/api.md --max-lines 40
""")


def run(arguments: Arguments) -> int:
    from skillc.gateway import render_more_lines

    file = workspace().open(arguments.text("skill"), arguments.text("path"), arguments.count("max_lines"))
    if arguments.as_json:
        from skillc.cli.output import print_json

        print_json(file.as_json())
        return 0
    if is_painted() and file.path.lower().endswith(".md"):
        write_bytes(file.content(), is_markdown=True)
        return 0
    for piece in file.pieces():
        write_bytes(piece)
    write_bytes(render_more_lines(file.more_lines))
    return 0

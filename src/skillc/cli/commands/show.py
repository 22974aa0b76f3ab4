"""`skc show`: one section of a skill [RFC-0002:C-SHOW].

JSON: `{"file", "heading", "level", "line", "more_lines", "content"}`; `content` is what is printed
as text, bytes that are not UTF-8 replaced, `more_lines` how many lines --max-lines left out.
"""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.text import one_line

COMMAND = Command(
    "show",
    "Print one section of a skill, subsections included.",
    arguments=(
        Argument("skill", "A skill's name, its ID in a repository, or a folder.", completes="skills"),
    ),
    options=(
        Option("--section", "The section's heading, in any case.", value="<heading>", completes="sections"),
        Option("--file", "Only look in this file.", value="<path>"),
        Option("--max-lines", "Print at most so many lines.", value="<n>", kind="count"),
        FORMAT,
    ),
    examples=(
        'skc show pdf --section "Filling forms"',
        "skc show pdf --section Setup --file references/api.md",
    ),
)


def run(arguments: Arguments) -> int:
    from skillc import errors
    from skillc.cli.access import access, tokenizer, write_bytes
    from skillc.cli.syntax import see
    from skillc.gateway import show_section

    section, file = arguments.optional("section"), arguments.optional("file")
    if section is None:
        raise errors.InvalidOption(f"--section is missing; {see(COMMAND)}")
    limit, setting = arguments.count("max_lines"), tokenizer()
    shown = access(
        "show",
        arguments.text("skill"),
        {"section": section, "file": file},
        lambda skill: show_section(skill, section, file=file, max_lines=limit, tokenizer=setting),
        lambda shown: {"section": shown.heading, "file": shown.file},
    )
    if shown.ambiguous:
        print(f'warning: multiple matches for "{one_line(section)}"; showing first', file=sys.stderr)
    if arguments.text("format") == "json":
        from skillc.cli.output import print_json

        print_json(shown.as_json())
    else:
        write_bytes(shown.content())
    return 0

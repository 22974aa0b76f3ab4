"""`skc show`: one section of a skill."""

from __future__ import annotations

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

COMMAND = Command(
    "show",
    "Print one section of a skill, subsections included.",
    arguments=(Argument("skill", "A skill's name or folder.", completes="skills"),),
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
    import sys

    from skillc.cli.printing import print_json, warn, write_bytes
    from skillc.cli.syntax import see
    from skillc.config import load
    from skillc.errors import InvalidOption, one_line
    from skillc.gateway import show
    from skillc.library import resolve
    from skillc.places import current_directory

    section = arguments.optional("section")
    if section is None:
        raise InvalidOption(f"--section is missing; {see(COMMAND)}")
    cwd = current_directory()
    config = load(cwd)
    warn(config.diagnostics)
    shown = show(
        resolve(arguments.text("skill"), cwd),
        section,
        file=arguments.optional("file"),
        max_lines=arguments.count("max_lines"),
        tokenizer=config.tokenizer,
    )
    if shown.ambiguous:
        print(f'warning: multiple matches for "{one_line(section)}"; showing first', file=sys.stderr)
    text = shown.text
    if shown.more_lines:
        text += f"... ({shown.more_lines} more lines)\n".encode()
    if arguments.text("format") == "json":
        content = text.decode("utf-8", "replace")
        print_json({"file": shown.file, "heading": shown.heading, "line": shown.line, "content": content})
    else:
        write_bytes(text)
    return 0

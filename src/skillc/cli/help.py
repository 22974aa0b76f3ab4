"""Print help: all commands by purpose, and a page for each."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill, wrap

from skillc.cli import load
from skillc.cli.mistakes import usage
from skillc.cli.summaries import GROUPS, SUMMARIES
from skillc.cli.syntax import COMMON, Command, Option

WIDTH = 96


def overview(words: Sequence[str] = ()) -> str:
    """Return the text of `skc --help`, or the page of the command named after `skc help`."""
    if words:
        return page(load(words[0]).COMMAND)
    width = max(map(len, SUMMARIES))
    lines = ["skc: the toolchain and runtime for Agent Skills", "", "Usage: skc <command> [options]"]
    for title, commands in GROUPS.items():
        lines += ["", f"{title}:", *(f"  {name:<{width}}  {text}" for name, text in commands.items())]
    lines += [
        "",
        "'skc <command> --help' explains a command; 'skc --version' prints the version.",
        "<skill> is a name in .skillc/skills (of this directory, one above it, or the home directory),",
        "the ID of a skill in a repository, or a path to a folder.",
    ]
    return "\n".join(lines)


def page(command: Command) -> str:
    """Return the text of `skc <command> --help`."""
    lines = [f"Usage: {usage(command)}", "", fill(command.summary, WIDTH)]
    if command.description:
        lines += [
            "",
            *(
                fill(paragraph, WIDTH, break_on_hyphens=False)
                for paragraph in command.description.split("\n")
            ),
        ]
    rows = [(argument.label, argument.help) for argument in command.arguments]
    if rows:
        lines += ["", "Arguments:", *_table(rows)]
    for title, options in (("Options:", command.own_options), ("Everywhere:", COMMON)):
        if options:
            lines += ["", title, *_table([_row(option) for option in options])]
    if command.examples:
        lines += ["", "Examples:", *(f"  {example}" for example in command.examples)]
    return "\n".join(lines)


def _row(option: Option) -> tuple[str, str]:
    default = f" Default: {option.default}." if option.default is not None else ""
    return f"{option.name} {option.value}".rstrip(), f"{option.help}{default}"


def _table(rows: Sequence[tuple[str, str]]) -> list[str]:
    width = min(28, max(len(label) for label, _ in rows))
    lines: list[str] = []
    for label, text in rows:
        if len(label) > width:
            lines.append(f"  {label}")
        start = label if len(label) <= width else ""
        for line in wrap(text, WIDTH - width - 4) or [""]:
            lines.append(f"  {start:<{width}}  {line}")
            start = ""
    return lines

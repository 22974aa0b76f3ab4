"""Print help: all commands by purpose, and a page for each."""

from __future__ import annotations

from skillc import __version__
from skillc.cli import load
from skillc.cli.mistakes import unknown_topic, usage
from skillc.cli.style import STRONG, TITLE, columns, paint, strip
from skillc.cli.summaries import GROUPS, SUMMARIES
from skillc.cli.syntax import COMMON, FORMAT, SHORT, Command, Option, expand
from skillc.cli.topics import TOPICS, format_topic
from skillc.cli.wrap import wrap
from skillc.errors import InvalidOption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_WIDTH = 96  # longer lines are hard to read
MIN_WIDTH = 40


def show_help(words: Sequence[str]) -> None:
    """Print the overview, or the page of the command or topic that is named; options count for none of it."""
    as_json, names = _split_format(words)
    text = overview(names)
    if not as_json:
        print(text)
        return
    from skillc.cli.output import print_json  # people read text

    commands = [{"name": name, "description": summary} for name, summary in SUMMARIES.items()]
    topics = [{"name": name, "description": title} for name, (title, _) in TOPICS.items()]
    print_json(
        {"topic": names[0], "text": strip(text)} if names else {"commands": commands, "topics": topics}
    )


def show_version(words: Sequence[str]) -> None:
    """Print the version of skc."""
    as_json, _ = _split_format(words)
    if not as_json:
        print(f"skc {__version__}")
        return
    from skillc.cli.output import print_json

    print_json({"name": "skc", "version": __version__})


def _split_format(words: Sequence[str]) -> tuple[bool, list[str]]:
    """Return whether --format asks for JSON, and the words that are no options."""
    rest: list[str] = []
    formats: list[str] = []
    for word in words:
        name, equals, value = word.partition("=")
        if formats and not formats[-1]:
            formats[-1] = word
        elif name in ("--format", "-f"):
            formats.append(value if equals else "")
        elif not word.startswith("-"):
            rest.append(word)
    if formats and not formats[-1]:
        raise InvalidOption("--format takes text or json")
    return bool(formats) and FORMAT.parse(formats[-1]) == "json", rest


def overview(words: Sequence[str] = ()) -> str:
    """Return the text of `skc --help`, or the page of the command or topic named after `skc help`."""
    if words and words[0] in TOPICS:
        return format_topic(words[0], _width() if columns() else 0)
    if words and words[0] not in SUMMARIES:
        raise unknown_topic(words[0])
    if words:
        return page(load(words[0]).COMMAND)
    lines = ["skc: the toolchain and runtime for Agent Skills", "", "Usage: skc <command> [options]"]
    column = max(map(len, SUMMARIES))
    for title, commands in GROUPS.items():
        lines += ["", _title(title), *_table(list(commands.items()), column)]
    lines += ["", *(line for text in _CLOSING for line in wrap(text, _width()))]
    return "\n".join(lines)


_CLOSING = (
    "'skc <command> --help' explains a command; 'skc version' prints the version.",
    "<skill> is a name in .skillc/skills (of this directory, one above it, or the home directory), the ID of"
    " a skill in a repository, or a path to a folder.",
    f"'skc help <topic>' explains what many commands share: {', '.join(TOPICS)}.",
    "Before the command: -C <directory> runs it there; --verbose, --color and --no-pager as behind it.",
)


def page(command: Command) -> str:
    """Return the text of `skc <command> --help`."""
    lines = [f"Usage: {usage(command)}", "", *wrap(command.summary, _width())]
    if command.description:
        lines.append("")
        for paragraph in command.description.split("\n"):
            lines += wrap(paragraph, _width()) or [""]
    rows = [(argument.label, argument.help) for argument in command.arguments]
    if rows:
        lines += ["", _title("Arguments"), *_table(rows)]
    for title, options in (("Options", command.own_options), ("Everywhere", COMMON)):
        if options:
            lines += ["", _title(title), *_table([_row(option, command) for option in options])]
    if command.examples:
        lines += ["", _title("Examples"), *(f"  {example}" for example in command.examples)]
    return "\n".join(lines)


def _row(option: Option, command: Command) -> tuple[str, str]:
    names = [each.name for each in command.options]
    letter = next((letter for letter in SHORT if expand(letter, names) == option.name), "")
    default = f" Default: {option.default}." if option.default is not None else ""
    label = f"{letter}, {option.name}" if letter else option.name
    return f"{label} {option.value}".rstrip(), f"{option.help}{default}"


def _table(rows: Sequence[tuple[str, str]], column: int = 0) -> list[str]:
    """Return labels with their texts beside them, or below where a label is long or the terminal narrow."""
    column = column or min(28, max(len(label) for label, _ in rows))
    room = _width() - column - 4
    indent = column + 4 if room >= MIN_WIDTH - 10 else 6
    lines: list[str] = []
    for label, text in rows:
        first, *others = wrap(text, _width() - indent) or [""]
        start = f"  {label:<{indent - 4}}  "
        if len(start) > indent:
            lines += [f"  {paint(label, STRONG)}", f"{'':<{indent}}{first}".rstrip()]
        else:
            lines.append(f"  {paint(label, STRONG)}{start[2 + len(label) :]}{first}".rstrip())
        lines += (f"{'':<{indent}}{line}" for line in others)
    return lines


def _title(text: str) -> str:
    return paint(f"{text}:", TITLE)


def _width() -> int:
    """Return the columns for help: those of the terminal, within what can be read well."""
    return max(MIN_WIDTH, min(MAX_WIDTH, columns() or MAX_WIDTH))

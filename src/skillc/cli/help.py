"""Print help: all commands by purpose, and a page for each."""

from __future__ import annotations

from skillc.cli import load
from skillc.cli.mistakes import unknown_topic, usage
from skillc.cli.style import STRONG, TITLE, columns, paint
from skillc.cli.summaries import GROUPS, SUMMARIES
from skillc.cli.syntax import COMMON, SHORT, Argument, Command, Option, expand, parse
from skillc.cli.topics import TOPICS, format_topic
from skillc.cli.wrap import wrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_WIDTH = 96  # longer lines are hard to read
MIN_WIDTH = 40
MAX_LABEL = 28


def show_help(words: Sequence[str]) -> None:
    """Print the overview, or the page of the command or topic that is named."""
    print(overview(read_names("help", words)))


def read_names(command: str, words: Sequence[str]) -> list[str]:
    """Return the words after `help` or `version` that are no options; those of all commands are taken."""
    rest = [word for word in words if word not in ("--help", "-h")]
    syntax = Command(
        command, arguments=(Argument("word", "A command or topic.", required=False, repeat=True),)
    )
    return parse(syntax, rest).texts("word")


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
    lines += ["", _title("More"), *_table(_MORE)]
    return "\n".join(lines)


_MORE = (
    ("skc <command> --help", "Explain a command."),
    ("skc help <topic>", f"Explain what many commands share: {', '.join(TOPICS)}."),
    ("skc version", "Print the version."),
    (
        "skc -C <folder> <command>",
        "Run a command there. --verbose, --color and --no-pager may stand before it, too.",
    ),
    (
        "<skill>",
        "A name in .skillc/skills (of this directory, one above it, or the home directory), the ID of a skill"
        " in a repository, or a path to a folder.",
    ),
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
    groups = {"Options": command.own_options, "Everywhere": COMMON}
    tables = {title: [_row(option, command) for option in options] for title, options in groups.items()}
    column = _column([row for table in tables.values() for row in table])
    for title, table in tables.items():
        if table:
            lines += ["", _title(title), *_table(table, column)]
    if command.examples:
        lines += ["", _title("Examples"), *map(_example, command.examples)]
    return "\n".join(lines)


def _example(text: str) -> str:
    """Return a command; one that is too long for the terminal in lines that a shell reads as one."""
    room = columns()
    if not room or len(text) + 2 <= room or max(map(len, text.split(" "))) > room - 8:
        return f"  {text}"
    for mark in ("'", '"'):  # quoted words stay together, and an option with its value
        parts = text.split(mark)
        text = mark.join(part.replace(" ", "\0") if n % 2 else part for n, part in enumerate(parts))
    words: list[str] = []
    for word in text.split(" "):
        is_value = words and words[-1].startswith("--") and not word.startswith("-")
        words = [*words[:-1], f"{words[-1]}\0{word}"] if is_value else [*words, word]
    return "  " + " \\\n      ".join(wrap(" ".join(words), room - 8, room - 4)).replace("\0", " ")


def _row(option: Option, command: Command) -> tuple[str, str]:
    names = [each.name for each in command.options]
    letter = next((letter for letter in SHORT if expand(letter, names) == option.name), "")
    default = f" Default: {option.default}." if option.default is not None else ""
    label = f"{letter}, {option.name}" if letter else option.name
    return f"{label} {option.value}".rstrip(), f"{option.help}{default}"


def _table(rows: Sequence[tuple[str, str]], column: int = 0) -> list[str]:
    """Return labels with their texts beside them, or below where a label is long or the terminal narrow."""
    column = column or _column(rows)
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


def _column(rows: Sequence[tuple[str, str]]) -> int:
    """Return the width of labels: a longer one has its text below."""
    return max((len(label) for label, _ in rows if len(label) <= MAX_LABEL), default=MAX_LABEL)


def _title(text: str) -> str:
    return paint(f"{text}:", TITLE)


def _width() -> int:
    """Return the columns for help: those of the terminal, within what can be read well."""
    return max(MIN_WIDTH, min(MAX_WIDTH, columns() or MAX_WIDTH))

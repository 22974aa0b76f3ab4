"""Print help: commands by purpose, a page for each, and topics that many of them share."""

from __future__ import annotations

from collections.abc import Sequence

from skillc.cli import load, print_lines
from skillc.cli.lines import NEVER, STRONG, TITLE, Line, Mark
from skillc.cli.summaries import DAY, GROUPS, SUMMARIES
from skillc.cli.syntax import COMMON, SHORT, Command, Option, expand, parse
from skillc.cli.terminal import columns
from skillc.cli.usage_errors import unknown_topic, usages

TOPICS = {
    "names": (
        "How a skill is named",
        """
<skill> can be any of these. skc tries them in this order, and takes the first that exists:
1. a path to a folder, such as ./pdf or ~/skills/pdf
2. a name in .skillc/skills of this directory, or of one above it
3. a name in ~/.skillc/skills, the global store
4. the name of a skill that is deployed to an agent
5. the ID of a skill in a repository, such as billing/refunds; 'skc repo list' shows repositories
Commands that manage what is installed (info, update, remove, disable, enable, pin) take the name
of an installed skill first; for them a folder of that name here is ./pdf.
To see what a name leads to: skc outline <skill> --verbose
""",
    ),
    "files": (
        "Where things are",
        """
.skillc/skills              skills of a project; ~/.skillc/skills has those of all projects
.skillc/runtime             compiled skills, their indexes and logs
.skillc/skills.toml         repositories of skills
.skillc/config.toml         settings; ~/.skillc/config.toml has those for all projects
skills-lock.json            what was added, from where, at which commit
.skilllint.toml             rules of skc lint
~/.skillc/trash             what skc replaced or removed; skc restore brings it back
~/.skillc/trust.json        which tools of skills may run; skc trust lists it
~/.skillc/credentials.json  tokens for registries; skc login writes it
~/.skillc/registry          the registry of skc serve
docs/                       the documentation, in the repository of skillc
""",
    ),
    "environment": (
        "Variables",
        """
SKILLC_HOME                     use .skillc in this directory as the global one
SKILLC_TOKENIZER                how words of skills are split: ascii, cjk
SKILLC_REGISTRY, SKILLC_TOKEN   a registry, and the token for it
SKILLC_STORE, SKILLC_BLOBS      where skc serve keeps a registry
SKILLC_MCP_TOKEN                the token that clients of skc mcp --http send
SKILLC_SERVE_TOKEN              the token that clients of skc serve --read-only send
SKILLC_GIT_TOKEN_<ANY>          a token for git over https at a host: github.com=<token>
SKILLC_PAGER, PAGER             the program that shows long output on a terminal
NO_COLOR, FORCE_COLOR, COLUMNS  as in other programs
SKC_RUN_ID                      a name for one run of an agent, in the access log
""",
    ),
    "output": (
        "What commands print",
        """
Results are on stdout, diagnostics on stderr. The status is 0, or 1 after an error.
--format json prints the result as JSON; an error is {"error": {"code", "message", "hint"}} then.
A line such as error[E001]: ... has a code; docs/diagnostics.md explains each one.
On a terminal there are colours, a pager, and lines cut to its width; a pipe gets plain text.
""",
    ),
    "words": (
        "Words that skc uses",
        """
skill        a folder with a SKILL.md: instructions, references and scripts
store        a .skillc/skills folder
repository   a source of skills with a name in skills.toml; the library is all of them
ID           the name of a skill in the library, with its collections: billing/refunds
stub         the small SKILL.md that an agent sees of a compiled skill
deployment   what build put into an agent's folder: a link or a copy
tool, run    a command that a skill declares, one execution of it
lock         skills-lock.json: what was added, exactly
registry     a server with skills that a team shares, in versions
""",
    ),
}
MAX_WIDTH = 96  # longer lines are hard to read
MIN_WIDTH = 40
MAX_LABEL = 28


def show_help(words: Sequence[str]) -> None:
    """Print the overview, or the page of the command or topic that is named."""
    names = read_names("help", words)
    if not names or names[0] == "all":
        print_lines(overview(whole=bool(names)))
    elif names[0] in TOPICS:
        print_lines(format_topic(names[0], _width() if columns() else 0))
    elif names[0] in SUMMARIES:
        print_lines(page(load(names[0])[0]))
    else:
        raise unknown_topic(names[0], TOPICS)


def read_names(command: str, words: Sequence[str]) -> list[str]:
    """Return the words after `help` or `version` that are no options; those of all commands are taken."""
    rest = [word for word in words if word not in ("--help", "-h")]
    syntax = Command(f"skc {command}\n\n[word]...  A command or topic.", has_format=False)
    return parse(syntax, rest).texts("word")


def overview(*, whole: bool = False) -> list[str]:
    """Return the lines of `skc --help`: what a person uses every day, and the names of all else.

    The `whole` explains all commands.
    """
    column = max(map(len, SUMMARIES)) if whole else 0
    if whole:
        tables = {title: [*commands.items()] for title, commands in GROUPS.items()}
    else:
        others = {title: [name for name in commands if name not in DAY] for title, commands in GROUPS.items()}
        rest = [(title, ", ".join(names)) for title, names in others.items() if names]
        tables = {"Every day": [(name, SUMMARIES[name]) for name in DAY], "All else, by purpose": rest}
    lines = ["skc: the toolchain and runtime for Agent Skills", "", "Usage: skc <command> [options]"]
    for title, rows in tables.items():
        lines += ["", _title(title), *_table(rows, column)]
    return [*lines, "", _title("Help"), *_table(_HELP)]


_HELP = (
    ("skc help all", "Explain all commands."),
    ("skc <command> --help", "Explain a command."),
    ("skc help <topic>", f"Explain what many commands share: {', '.join(TOPICS)}."),
    (
        "skc -C <folder> <command>",
        "Run a command there. --verbose, --color and --no-pager may stand before it, too.",
    ),
)


def page(command: Command) -> list[str]:
    """Return the lines of `skc <command> --help`."""
    first, *others = usages(command)
    lines = [
        f"Usage: {first}",
        *(f"       {other}" for other in others),
        "",
        *wrap(command.summary, _width()),
    ]
    for paragraph in command.description.split("\n"):
        lines += ["", *wrap(paragraph, _width())] if paragraph else []
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
    return lines


def _example(text: str) -> str:
    """Return a command; one that is too long for the terminal in lines that a shell reads as one."""
    room = columns()
    if not room or len(text) + 2 <= room or max(map(len, text.split(" "))) > room - 8:
        return Line(f"  {text}", breaks=NEVER)
    for mark in ("'", '"'):  # quoted words stay together, and an option with its value
        parts = text.split(mark)
        text = mark.join(part.replace(" ", "\0") if n % 2 else part for n, part in enumerate(parts))
    words: list[str] = []
    for word in text.split(" "):
        is_value = words and words[-1].startswith("--") and not word.startswith("-")
        words = [*words[:-1], f"{words[-1]}\0{word}"] if is_value else [*words, word]
    lines = " \\\n      ".join(wrap(" ".join(words), room - 8, room - 4)).replace("\0", " ")
    return Line(f"  {lines}", breaks=NEVER)


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
        gap = indent - 2 - len(label)
        beside = f"{'':<{gap}}{first}" if gap >= 2 else f"\n{'':<{indent}}{first}"
        lines.append(Line("  ", Mark(label, STRONG), beside.rstrip(), breaks=NEVER))
        lines += (f"{'':<{indent}}{line}" for line in others)
    return lines


def _column(rows: Sequence[tuple[str, str]]) -> int:
    """Return the width of labels: a longer one has its text below."""
    return max((len(label) for label, _ in rows if len(label) <= MAX_LABEL), default=MAX_LABEL)


def _title(text: str) -> str:
    return Line(Mark(f"{text}:", TITLE))


def _width() -> int:
    """Return the columns for help: those of the terminal, within what can be read well."""
    return max(MIN_WIDTH, min(MAX_WIDTH, columns() or MAX_WIDTH))


def format_topic(name: str, width: int = 0) -> list[str]:
    """Return the lines of a topic; with a width, they go on below where their text starts."""
    title, text = TOPICS[name]
    lines = [line for each in text.strip().splitlines() for line in _fold(each, width - 2)]
    return [title, "", *(f"  {line}" for line in lines)]


def _fold(line: str, width: int) -> list[str]:
    if width < 0 or len(line) <= width:
        return [line]
    column = len(line) - len(line.rpartition("  ")[2]) if "  " in line else 3 * line[:1].isdigit()
    first, *others = wrap(line[column:], width - column)
    return [line[:column] + first, *(" " * column + other for other in others)]


def wrap(text: str, width: int, first: int | None = None) -> list[str]:
    """Return the lines of a text, the first in `first` columns; a word that is longer stays whole.

    The last word is not left alone on its line where another can join it, which textwrap does not do.

    >>> wrap("Say what is wrong and how to change it", 36)
    ['Say what is wrong and how to', 'change it']
    """
    words = text.split()
    first = width if first is None else first
    lines = _fill(words, width, first)
    for less in range(1, width // 2):
        if len(lines) < 2 or " " in lines[-1]:
            break
        narrow = _fill(words, width - less, first - less)
        if len(narrow) > len(lines):
            break
        if " " in narrow[-1]:
            return narrow
    return lines


def _fill(words: Sequence[str], width: int, first: int) -> list[str]:
    """Return lines that each hold as many words as they can."""
    lines: list[str] = []
    for word in words:
        if lines and len(lines[-1]) + 1 + len(word) <= (width if len(lines) > 1 else first):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines

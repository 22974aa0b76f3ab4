"""Describe and parse what a command accepts: parser, help and completion read one description.

Written by hand, because importing argparse costs more than a whole reading command.
"""

from __future__ import annotations

import os

from skillc import errors
from skillc.cli import OVERVIEWS
from skillc.text import join_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Values = dict[str, str | int | bool | list[str] | None]


class Argument:
    """A positional argument, written as in the usage: `<skill>`, or `[skill]...` where it can be left out.

    Only the last one may be repeated, which `...` says. Behind that stands `one|other` where it is one of a
    few words, or `:` with what the shell offers, a kind of `cli.completion` or words with commas between
    them. What is `:anything` can also start with a hyphen, and has to follow `--` then.
    """

    __slots__ = ("choices", "completes", "help", "is_text", "label", "name", "repeat", "required")

    def __init__(self, label: str, help: str) -> None:
        label, _, completes = label.partition(" :")
        self.label, _, choices = label.partition(" ")
        self.choices = choices.split("|") if choices else []
        self.name = self.label.strip("<>[].")
        self.required = label[0] == "<"
        self.repeat = self.label[-1] == "."
        self.help = help
        self.is_text = completes == "anything"
        self.completes = "" if self.is_text else completes.replace(",", " ") or " ".join(self.choices)

    def check(self, text: str) -> str:
        """Return a word that it takes; raises InvalidOption for any other."""
        if self.choices and text not in self.choices:
            from skillc.cli.usage_errors import unknown_choice  # only on the way to an error

            raise unknown_choice(f"<{self.name}>", text, self.choices)
        return text


class Option:
    """An option with the value it takes, such as `--to <url>`; without one it is a switch.

    `<n>` is a positive integer, `one|other` a choice, `...` behind the value means that the option can be
    repeated, and `!` that it can't be left out. Then come `=` with the default, `..` with the maximum,
    `:` with what the shell offers, and `@` with the actions of the command that it goes with.
    """

    __slots__ = (
        "actions", "choices", "completes", "default", "help", "kind", "maximum", "name", "repeat", "required",
        "value",
    )  # fmt: skip

    def __init__(self, label: str, help: str) -> None:
        self.name, *words = label.split(" ")
        marks = {word[0]: word[1:] for word in words if word[0] in "=.:@"}
        value = words[0] if words and words[0][0] not in "=.:@" else ""
        self.required = value[-1:] == "!"
        self.repeat = value[-3:] == "..."
        self.value = value.rstrip("!.")
        self.choices = value.split("|") if value and value[0] != "<" else []
        self.kind = "choice" if self.choices else "count" if value == "<n>" else "text" if value else "switch"
        default = marks.get("=")
        self.default = int(default) if default and self.kind == "count" else default
        self.maximum = int(marks["."][1:]) if "." in marks else None
        self.completes = marks.get(":", "").replace(",", " ")
        self.actions = marks["@"].split(",") if "@" in marks else []
        self.help = f"With {join_words(self.actions)}: {help}" if self.actions else help

    @property
    def key(self) -> str:
        return self.name.lstrip("-").replace("-", "_")

    def parse(self, text: str) -> str | int:
        """Return the option's value; raises InvalidOption for one that it does not take."""
        if self.kind == "choice" and text not in self.choices:
            from skillc.cli.usage_errors import unknown_choice  # only on the way to an error

            raise unknown_choice(self.name, text, self.choices)
        if self.kind != "count":
            return text
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else 0
        if number < 1 or (self.maximum and number > self.maximum):
            limit = f" from 1 to {self.maximum}" if self.maximum else ""
            raise errors.InvalidOption(f"{self.name} takes a positive integer{limit}, not '{text}'")
        return number


class Command:
    """The syntax of a command and the text of its help, read from a text that looks like that.

        skc yank

        A yanked version is not chosen for new installations.

        <version> :versions  The skill's ID and the version: payments/refunds@1.2.0.
        --undo  Let it be installed again.

        $ skc yank payments/refunds@1.2.0 --undo

    A command with actions has a line with the usage of each in place of the first; where its first
    argument can be left out, that one is meant then. What goes on below an argument or an option belongs
    to it. `--format` is there unless a text names another, with its formats.
    """

    __slots__ = ("arguments", "description", "examples", "name", "options", "own_options", "usages")

    def __init__(self, text: str, *, has_format: bool = True) -> None:
        head, _, body = text.strip().partition("\n\n")
        self.name = head.split()[1]
        self.usages: dict[str, str] = {}  # by action
        for line in head.split("\n"):
            usage = line.removeprefix(f"skc {self.name}").lstrip()
            self.usages[usage.partition(" ")[0]] = usage
        pieces = [""]
        for line in body.split("\n"):
            if not line or line[0] == "$" or (line[0] in "<[-" and "  " in line):
                pieces.append(line)
            else:
                pieces[-1] = f"{pieces[-1]} {line.strip()}".lstrip()
        self.arguments: list[Argument] = []
        self.own_options: list[Option] = []
        self.examples: list[str] = []
        paragraphs: list[str] = []
        for piece in filter(None, pieces):
            label, _, help = piece.partition("  ")
            if piece[0] == "$":
                self.examples.append(piece[2:])
            elif not help:
                paragraphs.append(piece)
            elif piece[0] == "-":
                self.own_options.append(Option(label, help))
            else:
                self.arguments.append(Argument(label, help))
        if len(self.usages) > 1:
            action = self.arguments[0]
            action.choices = list(filter(None, self.usages))
            action.completes = action.completes or " ".join(action.choices)
        if has_format and all(option.name != "--format" for option in self.own_options):
            self.own_options.append(FORMAT)
        self.options = (*self.own_options, *COMMON)
        self.description = "\n".join(paragraphs)

    @property
    def summary(self) -> str:
        from skillc.cli.summaries import SUMMARIES  # only for help

        return SUMMARIES[self.name]


class Arguments:
    """The words of a command line by name; every option and argument has a value."""

    __slots__ = ("_values", "command")

    def __init__(self, command: Command, values: Values) -> None:
        self.command, self._values = command, values

    def error(self, problem: str) -> errors.InvalidOption:
        """Return the error for words that do not go together, with where to read on."""
        from skillc.cli.usage_errors import see  # only on the way to an error

        return errors.InvalidOption(f"{problem}; {see(self.command)}")

    def text(self, name: str) -> str:
        """Return the value of an argument or option; an empty one where it is not given."""
        return self.optional(name) or ""

    def optional(self, name: str) -> str | None:
        value = self._values[name]
        return value if isinstance(value, str) else None

    def texts(self, name: str) -> list[str]:
        """Return every value of an argument or option that can be repeated."""
        value = self._values[name]
        return value if isinstance(value, list) else []

    def count(self, name: str) -> int | None:
        value = self._values[name]
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def has(self, name: str) -> bool:
        """Return whether a switch was set."""
        return self._values[name] is True

    def is_given(self, name: str) -> bool:
        """Return whether an argument or an option is on the command line, with more than its default."""
        defaults = [option.default for option in self.command.options if option.key == name]
        return self._values[name] not in (None, False, [], *defaults)

    def first_given(self, *options: str) -> str:
        """Return the first of some options that is on the command line, as it is written; empty without."""
        name = next(filter(self.is_given, options), "")
        return name and f"--{name.replace('_', '-')}"

    @property
    def as_json(self) -> bool:
        """Return whether the format is JSON: all but `text` are."""
        return self._values["format"] != "text"


SKILL = "<skill> :skills  A skill's name, its ID in a repository, or a folder."
FORMAT = Option("--format text|json =text", "Output format.")
COMMON = (
    Option("--verbose", "Say on stderr how names were resolved and how long steps took; print tracebacks."),
    Option("--color auto|always|never =auto", "Colour the output."),
    Option("--no-pager", "Do not show long output in a pager."),
    Option("--help", "Show this help."),
)
# A letter is short for the first of these options that the command has.
SHORT = {
    "-g": ("--global",),
    "-f": ("--force", "--format"),
    "-t": ("--target",),
    "-l": ("--limit", "--level"),
    "-p": ("--pattern", "--project"),
    "-o": ("--check-obsolete",),
    "-v": ("--verbose",),
    "-h": ("--help",),
}


def expand(name: str, options: Iterable[str]) -> str:
    """Return the option of a command that a letter is short for."""
    return next((long for long in SHORT.get(name, ()) if long in options), "")


def parse(command: Command, words: Sequence[str]) -> Arguments:
    """Parse the words after a command's name; raises InvalidOption (E100) for any that don't fit."""
    options = {option.name: option for option in command.options}
    values: Values = {
        option.key: [] if option.repeat else False if option.kind == "switch" else option.default
        for option in command.options
    }
    positional: list[str] = []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            positional += reversed(rest)
            break
        if not word.startswith("-") or word == "-":
            positional.append(word)
            continue
        name, equals, text = word.partition("=")
        option = options.get(name) or options.get(expand(name, options))
        if option is None:
            from skillc.cli.usage_errors import unknown_option  # only on the way to an error

            raise unknown_option(command, word, positional)
        if option.kind == "switch":
            if equals:
                raise errors.InvalidOption(f"{name} takes no value")
            values[option.key] = True
        else:
            if not equals and not rest:
                raise errors.InvalidOption(f"{name} needs a value: {name} {option.value}")
            value = option.parse(text if equals else rest.pop())
            last = values[option.key]
            values[option.key] = [*last, str(value)] if isinstance(last, list) else value
    if not values["help"]:
        _assign(command, positional, values)
    return Arguments(command, values)


def _assign(command: Command, positional: list[str], values: Values) -> None:
    rest = list(positional)
    for argument in command.arguments:
        if not rest and argument.required:
            from skillc.cli.usage_errors import missing_argument  # only on the way to an error

            raise missing_argument(command, argument, positional)
        if argument.repeat:
            values[argument.name], rest = rest, []
        else:
            values[argument.name] = argument.check(rest.pop(0)) if rest else None
    required = (option for option in command.options if option.required)
    missing = next((option for option in required if values[option.key] is None), None)  # "" was given
    if missing is not None and not rest:
        from skillc.cli.usage_errors import missing_option  # only on the way to an error

        raise missing_option(command, missing)
    if rest:
        from skillc.cli.usage_errors import surplus  # only on the way to an error

        raise errors.InvalidOption(f"unexpected argument '{rest[0]}'; {surplus(command, rest[0])}")


# What may stand before the command, and behind it.
_SWITCHES = {"-v": "--verbose", "--verbose": "--verbose", "--no-pager": "--no-pager"}


def move_behind(words: Sequence[str]) -> list[str]:
    """Return the words with the options before the command behind it; `-C` changes the directory at once."""
    rest, options = list(words), []
    while rest and rest[0].startswith("-") and rest[0] not in OVERVIEWS:
        name, equals, value = rest.pop(0).partition("=")
        if name in _SWITCHES and not equals:
            options.append(_SWITCHES[name])
        elif name in ("-C", "--color"):
            if not equals and not rest:
                raise errors.InvalidOption(f"{name} needs a value")
            value = value if equals else rest.pop(0)
            if name == "-C":
                _change_directory(value)
            else:
                options += [name, value]
        else:
            return [f"{name}{equals}{value}", *rest]  # the error names it
    return [*rest[:1], *options, *rest[1:]]


def _change_directory(path: str) -> None:
    try:
        os.chdir(path)
    except OSError as error:
        raise errors.InvalidOption(f"-C {path}: {error.strerror}") from None
    os.environ["PWD"] = os.getcwd()  # programs that we start may read it instead of asking the system

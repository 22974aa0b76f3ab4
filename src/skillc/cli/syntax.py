"""Describe and parse what a command accepts: parser, help and completion read one description.

Written by hand, because importing argparse costs more than a whole reading command.
"""

from __future__ import annotations

from skillc import errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Values = dict[str, str | int | bool | list[str] | None]


class Argument:
    """A positional argument, written as in the usage: `<skill>`, or `[skill]...` where it can be left out.

    Only the last one may be repeated, which `...` says. `completes` names what the shell offers: a kind of
    `cli.completion`, or words. What `is_text` can be anything, also a word that starts with a hyphen, which
    has to follow `--`.
    """

    __slots__ = ("completes", "help", "is_text", "label", "name", "repeat", "required")

    def __init__(self, label: str, help: str, completes: str = "", *, is_text: bool = False) -> None:
        self.label = label
        self.name = label.strip("<>[].")
        self.required = label[0] == "<"
        self.repeat = label[-1] == "."
        self.help = help
        self.completes = completes
        self.is_text = is_text


class Option:
    """An option with the value it takes, such as `--to <url>`; without one it is a switch.

    `<n>` is a positive integer, and `...` behind the value means that the option can be repeated.
    """

    __slots__ = ("choices", "completes", "default", "help", "kind", "maximum", "name", "repeat", "value")

    def __init__(
        self,
        name: str,
        help: str,
        completes: str = "",
        *,
        choices: Sequence[str] = (),
        default: str | int | None = None,
        maximum: int | None = None,
    ) -> None:
        self.name, _, value = name.partition(" ")
        self.help = help
        self.repeat = value[-3:] == "..."
        self.value = "|".join(choices) or value.removesuffix("...")
        self.kind = "choice" if choices else "count" if value == "<n>" else "text" if value else "switch"
        self.choices = choices
        self.default = default
        self.maximum = maximum
        self.completes = completes

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


def format_option(*choices: str, help: str = "Output format.") -> Option:
    """Return a command's `--format`; the first choice is the default."""
    return Option("--format", help, choices=choices, default=choices[0])


FORMAT = format_option("text", "json")


class Command:
    """The syntax of a command, and the text of its help; `form` is its `--format`, unless it has none."""

    __slots__ = ("arguments", "description", "examples", "name", "options", "own_options")

    def __init__(
        self,
        name: str,
        *,
        arguments: Sequence[Argument] = (),
        options: Sequence[Option] = (),
        form: Option | None = FORMAT,
        description: str = "",
        examples: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.arguments = arguments
        self.own_options = (*options, form) if form else options
        self.options = (*self.own_options, *COMMON)
        self.description = description
        self.examples = examples

    @property
    def summary(self) -> str:
        from skillc.cli.summaries import SUMMARIES  # only for help

        return SUMMARIES[self.name]


class Arguments:
    """The words of a command line by name; every option and argument has a value."""

    __slots__ = ("_values",)

    def __init__(self, values: Values) -> None:
        self._values = values

    def text(self, name: str) -> str:
        value = self._values[name]
        assert isinstance(value, str), name
        return value

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
        """Return whether an argument, or an option without a default, is on the command line."""
        return self._values[name] not in (None, False, [])

    @property
    def as_json(self) -> bool:
        """Return whether the format is JSON: all but `text` are."""
        return self._values["format"] != "text"


SKILL = Argument("<skill>", "A skill's name, its ID in a repository, or a folder.", "skills")
COMMON = (
    Option("--verbose", "Say on stderr how names were resolved and how long steps took; print tracebacks."),
    Option("--color", "Colour the output.", choices=("auto", "always", "never"), default="auto"),
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
    return Arguments(values)


def _assign(command: Command, positional: list[str], values: Values) -> None:
    rest = list(positional)
    for argument in command.arguments:
        if not rest and argument.required:
            from skillc.cli.usage_errors import missing_argument  # only on the way to an error

            raise missing_argument(command, argument, positional)
        if argument.repeat:
            values[argument.name], rest = rest, []
        else:
            values[argument.name] = rest.pop(0) if rest else None
    if rest:
        from skillc.cli.usage_errors import surplus  # only on the way to an error

        raise errors.InvalidOption(f"unexpected argument '{rest[0]}'; {surplus(command, rest[0])}")

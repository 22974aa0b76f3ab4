"""Handle what all commands share: options before the command, and how a terminal shows the output."""

from __future__ import annotations

import os
import sys

from skillc.cli import OVERVIEWS, PlainStream
from skillc.cli.style import WHEN, wants_color
from skillc.errors import InvalidOption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

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
                raise InvalidOption(f"{name} needs a value")
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
        raise InvalidOption(f"-C {path}: {error.strerror}") from None
    os.environ["PWD"] = os.getcwd()  # what some programs that we start believe


def prepare_terminal(words: Sequence[str]) -> None:
    """Wrap stdout where it is a terminal, and let stdout and stderr show styles as the user wants."""
    when = _read_color(words)
    is_painted = wants_color(when, sys.stdout.isatty())
    if is_painted or sys.stdout.isatty():
        sys.stdout = PlainStream(sys.stdout, is_painted)
    if isinstance(sys.stderr, PlainStream):
        sys.stderr.is_painted = wants_color(when, sys.stderr.isatty())


def _read_color(words: Sequence[str]) -> str:
    """Return the value of `--color`; of one that is none, parsing the command says so."""
    values = [words[place + 1] for place, word in enumerate(words[:-1]) if word == "--color"]
    values += [word.partition("=")[2] for word in words if word.startswith("--color=")]
    return values[-1] if values and values[-1] in WHEN else "auto"

"""Handle the options that may stand before the command, and `-C`, which only stands there."""

from __future__ import annotations

import os
from collections.abc import Sequence

from skillc.cli import OVERVIEWS
from skillc.errors import InvalidOption

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
    os.environ["PWD"] = os.getcwd()  # programs that we start may read it instead of asking the system

"""Say what is wrong with a command line, and what was probably meant."""

from __future__ import annotations

from skillc import errors
from skillc.cli.summaries import NAMES
from skillc.quotes import shell_quote
from skillc.spelling import suggest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillc.cli.syntax import Command
    from skillc.errors import InvalidOption


# What other tools call a command of ours.
OTHER_NAMES = {
    "list": "ls skills",
    "remove": "rm uninstall delete del",
    "update": "upgrade up",
    "init": "new create scaffold",
    "add": "get fetch clone pull",
    "install": "i ci restore-lock",
    "lint": "validate check test",
    "open": "cat read view",
    "outline": "toc info headings",
    "search": "grep",
    "find": "which suggest recommend",
    "build": "compile make deploy",
    "repo": "repos repository source registry tap",
    "run": "exec call",
    "doctor": "status",
    "publish": "push upload release",
}
_OVERVIEW_OPTIONS = ("--help", "--version", "-C", "--color", "--no-pager", "--verbose")
_BY_OTHER_NAME = {other: name for name, others in OTHER_NAMES.items() for other in others.split()}


def unknown_command(word: str) -> InvalidOption:
    """Return the error for a word that is no command, with the name most like it, here or elsewhere."""
    if word.startswith("-"):
        return errors.InvalidOption(
            f"invalid option: '{word}'; {guess(word, _OVERVIEW_OPTIONS, 'skc --help')}"
        )
    name = _BY_OTHER_NAME.get(word.lower(), "")
    hint = f"'skc {name}' does that" if name in NAMES else guess(word, NAMES, "skc --help")
    return errors.InvalidOption(f'unknown command "{word}"; {hint}')


def unknown_option(command: Command, word: str, positional: Sequence[str]) -> InvalidOption:
    """Return the error for a word that is no option: take the nearest one, or put it after `--` [D61]."""
    name = word.partition("=")[0]
    is_name = len(word.split()) == 1  # no option has a space
    hints = [guess(name, [o.name for o in command.options], f"skc {command.name} --help")] if is_name else []
    last = command.arguments[-1] if command.arguments else None
    if last is not None and last.is_text and (not is_name or len(positional) < len(command.arguments)):
        words = [shell_quote(each, '"') for each in positional[: len(command.arguments) - 1]]
        words += [argument.label for argument in command.arguments[len(words) : -1]]
        example = " ".join(["skc", command.name, *words, "--", shell_quote(word, '"')])
        hints.append(f"if it is the {last.name}, put it after --: {example}")
    advice = "; ".join(hints or [see(command)]).replace("?;", "?")
    return errors.InvalidOption(
        f"invalid option: '{name if is_name else word}' for \"{command.name}\"; {advice}"
    )


def guess(word: str, names: Sequence[str], help: str) -> str:
    """Return the end of an error about an unknown word: the name most like it, or where to read on."""
    longer = [name for name in names if name.startswith(word)]  # typed in part
    close = suggest(word, longer or names, limit=1, ratio=0.5)
    return f"did you mean {close[0]}?" if close else f'see "{help}"'


def see(command: Command) -> str:
    """Return where to read on, for the end of an error."""
    return f'see "skc {command.name} --help"'


def usage(command: Command) -> str:
    """Return one line that shows what a command takes."""
    words = ["skc", command.name, *(argument.label for argument in command.arguments)]
    return f"{' '.join(words)}{' [options]' if command.own_options else ''}"

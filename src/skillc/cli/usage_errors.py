"""Say what is wrong with a command line, and what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from skillc.cli.summaries import NAMES
from skillc.errors import InvalidOption
from skillc.quotes import shell_quote
from skillc.spelling import suggest
from skillc.text import join_words

if TYPE_CHECKING:  # `syntax` imports this module on the way to an error
    from skillc.cli.syntax import Argument, Arguments, Command, Option

# What other tools call a command of ours.
OTHER_NAMES = {
    "list": "ls skills ps",
    "remove": "rm uninstall delete del unlink",
    "update": "upgrade up",
    "init": "new create scaffold",
    "add": "get fetch clone pull download use",
    "import": "adopt migrate onboard",
    "install": "i ci bundle",
    "lint": "validate check test format",
    "open": "cat read view less",
    "outline": "toc headings describe",
    "show": "preview section print",
    "sources": "tree files",
    "search": "grep rg",
    "find": "which suggest recommend query",
    "browse": "explore discover catalog",
    "build": "compile make deploy link",
    "repo": "repos repository source registry tap marketplace remote",
    "run": "exec call execute",
    "audit": "scan inspect security",
    "doctor": "status health",
    "clean": "prune autoremove gc cache",
    "restore": "undo undelete",
    "publish": "push upload release",
    "yank": "unpublish deprecate",
    "login": "auth signin whoami",
    "serve": "server start",
    "ui": "web gui dashboard",
    "stats": "usage analytics metrics log logs history",
    "lock": "freeze",
    "outdated": "updates",
    "inventory": "prompt context",
}
_OVERVIEW_OPTIONS = ("--help", "--version", "-C", "--color", "--no-pager", "--verbose")
_BY_OTHER_NAME = {other: name for name, others in OTHER_NAMES.items() for other in others.split()}


def unknown_command(word: str) -> InvalidOption:
    """Return the error for a word that is no command, with the name most like it, here or elsewhere."""
    if word.startswith("-"):
        return InvalidOption(f"invalid option: '{word}'; {guess(word, _OVERVIEW_OPTIONS, 'skc --help')}")
    name = _BY_OTHER_NAME.get(word.lower(), "")
    hint = f"'skc {name}' does that" if name in NAMES else guess(word, NAMES, "skc --help")
    return InvalidOption(f"unknown command '{word}'; {hint}")


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
    return InvalidOption(f"invalid option: '{name if is_name else word}' for '{command.name}'; {advice}")


def unknown_topic(word: str, topics: Iterable[str]) -> InvalidOption:
    """Return the error for a word after `skc help` that is neither a command nor a topic."""
    name = _BY_OTHER_NAME.get(word.lower(), "")
    if name:
        return InvalidOption(f"unknown command '{word}'; 'skc help {name}' explains ours")
    hint = guess(word, (*NAMES, *topics), "skc --help")
    return InvalidOption(f"unknown command or topic '{word}'; {hint}")


def unknown_choice(label: str, word: str, choices: Iterable[str]) -> InvalidOption:
    """Return the error for a word that is none of a few."""
    names = list(choices)
    close = _nearest(word, names)
    question = f"; did you mean {close}?" if close else ""
    return InvalidOption(f"{label} takes {join_words(names)}, not '{word}'{question}")


def guess(word: str, names: Sequence[str], help: str) -> str:
    """Return the end of an error about an unknown word: the name most like it, or where to read on."""
    close = _nearest(word, names)
    return f"did you mean {close}?" if close else f"see '{help}'"


def _nearest(word: str, names: Sequence[str]) -> str:
    """Return the name most like a word, or that starts with it; hyphens in front don't count."""
    plain = {name.lstrip("-"): name for name in names}
    start = word.lstrip("-")
    longer = [name for name in plain if start and name.startswith(start)]  # typed in part
    if not longer:  # two letters that changed places, the most common slip, look like many other words
        longer = [name for name in plain if sorted(name) == sorted(start)]
    close = suggest(start, longer or plain, limit=1, ratio=0.6 if not longer else 0.0)
    return plain[close[0]] if close else ""


def surplus(command: Command, word: str) -> str:
    """Return what to do about a word too many: some commands of other tools take one."""
    quoted = shell_quote(word, '"')
    if command.name == "install":
        return f"'skc install' restores what the lock names; 'skc add {quoted}' gets a new skill"
    if command.name == "list":
        return f"'skc list --pattern {shell_quote(f'*{word}*')}' lists the skills with such names"
    if any(option.name == "--param" for option in command.options) and "=" in word:
        return f"a parameter is given by --param {quoted}"
    takes_words = len(command.arguments) > 1 and len(command.usages) < 2
    return "put several words in quotes" if takes_words else see(command)


def missing_argument(command: Command, argument: Argument, positional: Sequence[str]) -> InvalidOption:
    """Return the error for an argument that is missing, with the words it can be, or what was meant."""
    choices = f": {argument.help.rstrip('.')}" if " " in argument.completes else ""
    hint = ""
    if command.name == "search" and positional:
        hint = f"to find a skill: skc find {shell_quote(positional[0], chr(34))}; "
    if command.name == "restore":
        hint = "'skc trash list' shows what can be restored; "
    return InvalidOption(f"<{argument.name}> is missing{choices}; {hint}usage: {usage(command)}")


def missing_option(command: Command, option: Option) -> InvalidOption:
    """Return the error for an option that can't be left out, and is."""
    return InvalidOption(f"{option.name} is missing; usage: {usage(command)}")


def see(command: Command) -> str:
    """Return where to read on, for the end of an error."""
    return f"see 'skc {command.name} --help'"


def usage(command: Command) -> str:
    """Return one line that shows what a command takes."""
    required = [f"{option.name} {option.value}" for option in command.options if option.required]
    words = ["skc", command.name, *(argument.label for argument in command.arguments), *required]
    return f"{' '.join(words)}{' [options]' if command.own_options else ''}"


def usages(command: Command) -> list[str]:
    """Return a line for each action of a command, or one, that show what it takes."""
    if len(command.usages) < 2:
        return [usage(command)]
    return [f"skc {command.name} {words}".rstrip() for words in command.usages.values()]


def check_action(arguments: Arguments) -> str:
    """Return the action of a command, the first where it is left out; raises InvalidOption.

    It does so for too few or many words, and for an option of other actions.
    """
    command = arguments.command
    first, *others = command.arguments
    name = arguments.optional(first.name) or next(iter(command.usages))
    given = sum(arguments.is_given(other.name) for other in others)
    places = [word for word in command.usages[name].partition(" --")[0].split() if word[0] in "<["]
    if given > len(places) or (given < len(places) and places[given][0] == "<"):
        what = f"{places[given]} is missing" if given < len(places) else "that is a word too many"
        raise arguments.error(f"{what}; usage: skc {command.name} {command.usages[name]}")
    for option in command.own_options:
        if option.actions and name not in option.actions and arguments.is_given(option.key):
            actions = " and ".join(f"'skc {command.name} {each}'" for each in option.actions)
            raise InvalidOption(f"{option.name} goes with {actions} alone")
    return name

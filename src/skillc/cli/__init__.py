"""The command line: finds the command, parses its words, prints its result or one coded line.

Each command is one module of `commands` with its syntax (`COMMAND`) and `run`; only the one that
is called is imported. Operations live below; a command only shows what they return.
"""

from __future__ import annotations

import os
import sys

from skillc.startup import leave

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from skillc.cli.syntax import Arguments, Command

    class CommandModule(Protocol):
        COMMAND: Command

        def run(self, arguments: Arguments) -> int: ...


# What people want to do, and the commands for it: the order of `skc --help`.
GROUPS = {
    "Write skills": ("init", "lint", "build", "list"),
    "Read them, as agents do": ("outline", "show", "search", "open", "sources"),
    "Put them into prompts": ("find", "browse", "load", "inventory", "turn", "repo", "diagnose"),
    "Run what they declare": ("tools", "run", "trust"),
    "Serve them": ("mcp", "serve"),
    "Learn what agents used": ("stats", "sync"),
    "Set up skc": ("completion",),
}
NAMES = tuple(name for names in GROUPS.values() for name in names)


def run_and_exit() -> None:
    """Run the command line and end the process."""
    leave(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, or 1 with a diagnostic on stderr."""
    words = list(sys.argv[1:] if argv is None else argv)
    _prepare_output()
    try:
        status = _dispatch(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        status = 0  # who reads our output has enough of it
    except KeyboardInterrupt:
        status = 130
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit):
            raise
        status = _fail(error, "--verbose" in words)
    return status


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ("--help", "-h", "help"):
        from skillc.cli.help import overview

        print(overview(words[1:]))
        return 0
    if words[0] in ("--version", "-V"):
        from skillc import __version__

        print(f"skc {__version__}")
        return 0
    if words[0] == "__complete":
        from skillc.cli.commands.completion import candidates

        print("\n".join(candidates(words[1:])))
        return 0
    module = load(words[0])
    from skillc.cli.syntax import parse

    arguments = parse(module.COMMAND, words[1:])
    if arguments.given("help"):
        from skillc.cli.help import page

        print(page(module.COMMAND))
        return 0
    return module.run(arguments)


def load(name: str) -> CommandModule:
    """The module of a command; raises InvalidOption (E100) with the nearest one for a name that is none."""
    if name not in NAMES:
        from skillc.cli.syntax import nearest
        from skillc.errors import InvalidOption

        close = nearest(name, [*NAMES, "--help", "--version"])
        what = "option" if name.startswith("-") else "command"
        guess = f"did you mean {close}?" if close else 'see "skc --help"'
        raise InvalidOption(f'unknown {what} "{name}"; {guess}')
    module = f"skillc.cli.commands.{name}"
    __import__(module)
    command: CommandModule = sys.modules[module]
    return command


def _prepare_output() -> None:
    """Whatever the terminal can't show is written out; a closed stdout or stderr is no error."""
    if sys.stdout is None or sys.stderr is None:
        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 -- until the process ends
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", "") != "backslashreplace" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Keep the interpreter from flushing into a closed pipe once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: BaseException, verbose: bool) -> int:
    from skillc.errors import SkillcError, unexpected

    coded = unexpected(error)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _drop_output()
    try:
        if verbose and not isinstance(error, SkillcError):
            import traceback

            traceback.print_exception(error)
        for diagnostic in coded.diagnostics:
            print(diagnostic.line(), file=sys.stderr)
        print(coded.text(), file=sys.stderr)
    except OSError:
        pass
    return 1

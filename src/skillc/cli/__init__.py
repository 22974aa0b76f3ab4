"""The command line: find the command, parse its words, print its result or one coded line.

Each command is a module of `commands` with its syntax (`COMMAND`) and `run`; only the one that is called
is imported. Operations live below; a command only shows what they return.
"""

from __future__ import annotations

import os
import sys

from skillc.startup import collect_rarely, import_fast, leave
from skillc.text import terminal_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, Protocol, TextIO

    from skillc.cli.syntax import Arguments, Command
    from skillc.workspace import Workspace

    class CommandModule(Protocol):
        COMMAND: Command

        def run(self, arguments: Arguments) -> int: ...


# Commands by purpose, with their summaries, in the order of `skc --help`.
GROUPS = {
    "Write skills": {
        "init": "Create a new skill, or an empty store.",
        "lint": "Check skills against the format and good practice, and estimate their token cost.",
        "build": "Compile a skill into a stub with a section index, and deploy it to agents.",
        "list": "List the skills of this project and of the home directory, with their build status.",
    },
    "Take back what skc did": {
        "trash": "List, restore or delete what skc replaced or removed.",
        "restore": "Bring something back from the trash.",
    },
    "Read skills as agents do": {
        "outline": "List the headings of a skill's Markdown files.",
        "show": "Print one section of a skill with its subsections.",
        "search": "Find the sections of a skill that contain all words of a query, best first.",
        "open": "Print a file of a skill.",
        "sources": "List the files of a skill as a tree.",
    },
    "Put skills into prompts": {
        "find": "Find the skills that fit a task, in all repositories, best first.",
        "browse": "List the skills and collections of the repositories, or search them.",
        "load": "Print a skill as it is put into a model's context.",
        "inventory": "Print the list of skills for a system prompt.",
        "turn": "Show what a model gets for a message: system prompt, injected skills, events.",
        "repo": "List, add, remove or refresh repositories of skills.",
        "diagnose": "List the skills that were repaired, quarantined, shadowed or hidden.",
    },
    "Run the tools of skills": {
        "tools": "List the tools that a skill declares, with their JSON schemas.",
        "run": "Run a tool that a skill declares, in a sandbox and after approval.",
        "trust": "Allow or deny the tools of skills, and list your decisions.",
    },
    "Serve skills": {
        "mcp": "Serve tools, skills and their files to agents over the Model Context Protocol.",
        "serve": "Serve the skills of all repositories to programs over HTTP.",
    },
    "See what agents used": {
        "stats": "Show what agents used: sections, files, searches, errors.",
        "sync": "Move access logs kept in the project into the skills' own logs.",
    },
    "Set up skc": {"completion": "Print the completion script for a shell."},
}
SUMMARIES = {name: summary for commands in GROUPS.values() for name, summary in commands.items()}
NAMES = tuple(SUMMARIES)


def run_and_exit() -> None:
    """Run the command line and end the process."""
    collect_rarely()
    import_fast()
    leave(main())


def workspace(*, progress: bool = False) -> Workspace:
    """Return the workspace of the current directory; what it reports goes to stderr.

    With `progress`, which commands over the library set, a terminal shows how far the reading of a large one
    is, and the user is asked for the variables that the project wants to use.
    """
    from skillc.workspace import Workspace

    here = Workspace(report=lambda line: print(line, file=sys.stderr))
    here.tell_owners()
    if progress and sys.stderr.isatty():
        from skillc.cli.progress import watch_reading
        from skillc.cli.variables import ask_for_variables

        ask_for_variables(here.cwd)
        watch_reading()
    return here


def show(arguments: Arguments, value: Callable[[], object], lines: Callable[[], Iterable[str]]) -> int:
    """Print a result: its lines, or with `--format json` its value; return status 0."""
    if arguments.as_json:
        from skillc.cli.output import print_json

        print_json(value())
    else:
        for line in lines():
            print(line)
    return 0


class PlainStream:
    """A stream for people: what a terminal would act on is written out as an escape.

    Skills and servers choose much of what is printed, and a terminal obeys what it is sent: it can be told
    to hide lines, to change its title, or to type. `stream` is for the control characters of our own.
    """

    __slots__ = ("_decode", "stream")

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self._decode: Callable[[bytes], str] | None = None

    def write(self, text: str) -> int:
        return self.stream.write(terminal_text(text))

    def write_bytes(self, data: bytes) -> None:
        """Write a piece of UTF-8; characters may span pieces."""
        if self._decode is None:
            from codecs import getincrementaldecoder

            self._decode = getincrementaldecoder("utf-8")("backslashreplace").decode
        self.write(self._decode(data))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def write_bytes(data: bytes) -> None:
    """Write text of a skill as it stands, whatever the encoding; on a terminal, with escapes."""
    if isinstance(sys.stdout, PlainStream):
        sys.stdout.write_bytes(data)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def can_print(text: str) -> bool:
    """Return whether the encoding of stdout has the characters of a text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, or 1 with a diagnostic on stderr."""
    words = list(sys.argv[1:] if argv is None else argv)
    _prepare_output()
    try:
        status = _dispatch(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        status = 0  # the reader of our output has enough of it
    except KeyboardInterrupt:
        status = 130
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit):
            raise
        status = _fail(error, "--verbose" in words)
    finally:
        sys.stdout, sys.stderr = _unwrap(sys.stdout), _unwrap(sys.stderr)
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
    if arguments.has("help"):
        from skillc.cli.help import page

        print(page(module.COMMAND))
        return 0
    return module.run(arguments)


def load(name: str) -> CommandModule:
    """Return the module of a command; raises InvalidOption (E100) that names the nearest one."""
    if name not in NAMES:
        from skillc.cli.syntax import guess
        from skillc.errors import InvalidOption

        what = "option" if name.startswith("-") else "command"
        hint = guess(name, [*NAMES, "--help", "--version"], "skc --help")
        raise InvalidOption(f'unknown {what} "{name}"; {hint}')
    module = f"skillc.cli.commands.{name}"
    __import__(module)
    command: CommandModule = sys.modules[module]
    return command


def _prepare_output() -> None:
    """Escape what the terminal can't show or would act on; replace a closed stdout or stderr."""
    if sys.stdout is None or sys.stderr is None:
        null = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 -- until the process ends
        sys.stdout, sys.stderr = sys.stdout or null, sys.stderr or null
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", "") != "backslashreplace" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.stderr = PlainStream(sys.stderr)
    if sys.stdout.isatty():
        sys.stdout = PlainStream(sys.stdout)


def _unwrap(stream: TextIO) -> TextIO:
    return stream.stream if isinstance(stream, PlainStream) else stream


def _drop_output() -> None:
    """Keep the interpreter from flushing into a closed pipe once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: BaseException, verbose: bool) -> int:
    from skillc.errors import SkillcError, unexpected

    failure = unexpected(error)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        _drop_output()
    try:
        if verbose and not isinstance(error, SkillcError):
            import traceback

            traceback.print_exception(error)
        for diagnostic in failure.diagnostics:
            print(diagnostic.line(), file=sys.stderr)
        print(failure.text(), file=sys.stderr)
    except OSError:
        pass
    return 1

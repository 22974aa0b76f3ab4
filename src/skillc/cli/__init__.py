"""The command line: find the command, parse its words, print its result or one coded line.

Each command is a module of `commands` with its syntax (`COMMAND`) and `run`; only the one that is called
is imported. Those that are two directions of one switch share a module, which has their syntax by name
(`COMMANDS`). Operations live below; a command only shows what they return.
"""

from __future__ import annotations

import os
import sys

from skillc.startup import leave, load_ahead
from skillc.text import one_line, terminal_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TextIO

    from skillc.cli.syntax import Arguments, Command
    from skillc.workspace import Workspace

    Run = Callable[[Arguments], int]


# What agents that use a terminal set.
AGENT_VARIABLES = ("AI_AGENT", "CLAUDECODE", "CODEX_SANDBOX", "CURSOR_AGENT", "GEMINI_CLI", "SKC_RUN_ID")
# The modules of commands that agents call, each behind those that it imports.
_READING = (
    "skillc.errors skillc.cli.syntax skillc.cli.commands skillc.cli.commands.{0} skillc.paths skillc.library"
    " skillc.library.stores skillc.usage skillc.usage.log skillc.workspace skillc.gateway skillc.skills"
    " skillc.skills.files "
)
_INDEX = "skillc.index skillc.index.sections skillc.index.sections.reader skillc.gateway.freshness "
AHEAD = {
    "open": _READING + "skillc.gateway.open",
    "outline": _READING + _INDEX + "skillc.index.sections.outline skillc.gateway.outline",
    "search": _READING + _INDEX + "skillc.gateway.search",
    "show": _READING + _INDEX + "skillc.gateway.show",
    "sources": _READING + "skillc.gateway.sources",
}
# Commands in the module of another.
HOMES = {
    "diagnose": "doctor",
    "disable": "enable",
    "inventory": "turn",
    "load": "turn",
    "logout": "login",
    "restore": "trash",
    "unpin": "pin",
}
is_verbose = False
has_printed_json = False  # by this command: stdout is to hold one JSON value


def run_and_exit() -> None:
    """Run the command line and end the process."""
    leave(main())


def workspace(*, progress: bool = False, steps: bool = False) -> Workspace:
    """Return the workspace of the current directory; what it reports goes to stderr.

    With `progress`, which commands over the library set, a terminal shows how far the reading of a large one
    is, and the user is asked for the variables that the project wants to use. With `steps` it shows how many
    skills of many are done.
    """
    from skillc.workspace import Workspace

    if is_verbose:
        from skillc.cli.verbose import VerboseWorkspace as Workspace

    here = Workspace(report=lambda line: print(line, file=sys.stderr))
    # An agent at its own terminal is no person.
    is_person = sys.stdin is not None and sys.stdin.isatty() and not any(map(os.environ.get, AGENT_VARIABLES))
    here.is_at_terminal = sys.stdout.isatty() and is_person
    here.tell_owners()
    if progress and sys.stderr.isatty():
        from skillc.cli.approval import ask_for_variables
        from skillc.cli.progress import name_repositories, watch_reading

        ask_for_variables(here.cwd)
        name_repositories(here.cwd)
        watch_reading()
    if steps and sys.stderr.isatty():
        from skillc.cli.approval import ProgressBars  # takes as long to load as a page to lint

        here.progress = ProgressBars()
    return here


def show(
    arguments: Arguments,
    value: object,
    lines: str | Iterable[str],
    view: Callable[[], Iterable[str]] | None = None,
) -> int:
    """Print a result: its lines, or with `--format json` its value; return status 0.

    A text is one line. Lines that take work come from a generator, which JSON leaves alone. `view` makes what
    a terminal shows in place of the lines for a pipe, where they differ.
    """
    if arguments.as_json:
        from skillc.cli.output import print_json

        print_json(value)
    elif isinstance(lines, str):
        print_lines([one_line(lines)])
    else:
        print_lines(view() if view and is_for_person() else lines)
    return 0


def print_lines(lines: Iterable[str]) -> None:
    """Print lines; on a terminal laid out for its width, with the styles and tables that `blocks` have."""
    if isinstance(sys.stdout, PlainStream):
        from skillc.cli.layout import print_blocks  # rich, only where a person looks

        print_blocks(lines, sys.stdout)
        return
    for line in lines:
        print(line)


def is_for_person() -> bool:
    """Return whether stdout is a terminal."""
    return isinstance(sys.stdout, PlainStream)


def is_painted() -> bool:
    """Return whether stdout is a terminal that shows styles."""
    return isinstance(sys.stdout, PlainStream) and sys.stdout.is_painted


class PlainStream:
    """A stream for people: what a terminal would act on is written out as an escape.

    Skills and servers choose much of what is printed, and a terminal obeys what it is sent: it can be told
    to hide lines, to change its title, or to type. `stream` is for the control characters of our own.
    `make_way` takes away what stands on the line where a text is about to be written.
    """

    __slots__ = ("_decode", "is_painted", "make_way", "stream")

    def __init__(self, stream: TextIO, is_painted: bool = False) -> None:
        self.stream = stream
        self.is_painted = is_painted
        self.make_way: Callable[[str], None] | None = None
        self._decode: Callable[[bytes], str] | None = None

    def write(self, text: str) -> int:
        return self.send(terminal_text(text))

    def write_bytes(self, data: bytes) -> None:
        """Write a piece of UTF-8; characters may span pieces."""
        if self._decode is None:
            from codecs import getincrementaldecoder

            self._decode = getincrementaldecoder("utf-8")("backslashreplace").decode
        self.send(terminal_text(self._decode(data)))

    def send(self, text: str) -> int:
        """Write text that is escaped already, with our own sequences."""
        if self.make_way:
            self.make_way(text)
        return self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


class DiagnosticStream(PlainStream):
    """A stream of diagnostics: on a terminal, their codes stand out."""

    __slots__ = ()

    def write(self, text: str) -> int:
        if not self.is_painted:
            return super().write(text)
        from skillc.cli.layout import render_diagnostics  # rich, only where a person looks

        return self.send(render_diagnostics(text, self))


def write_bytes(data: bytes, *, is_markdown: bool = False) -> None:
    """Write text of a skill as it stands, whatever the encoding; on a terminal, with escapes and styles."""
    if isinstance(sys.stdout, PlainStream):
        if is_markdown and sys.stdout.is_painted:
            from skillc.cli.layout import render_markdown  # rich, only where a person looks

            sys.stdout.send(render_markdown(data.decode("utf-8", "backslashreplace"), sys.stdout))
        else:
            sys.stdout.write_bytes(data)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_text(data: bytes) -> None:
    """Write UTF-8 that is ours; where stdout has another encoding, in that one."""
    if sys.stdout.encoding == "utf-8":
        write_bytes(data)
    else:
        sys.stdout.write(data.decode())


def can_print(text: str) -> bool:
    """Return whether the encoding of stdout has the characters of a text."""
    try:
        text.encode(sys.stdout.encoding or "ascii")
    except (UnicodeError, LookupError):
        return False
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, or 1 with a diagnostic on stderr."""
    global has_printed_json, is_verbose
    words = list(sys.argv[1:] if argv is None else argv)
    options = words[: words.index("--")] if "--" in words else words  # behind -- all is text
    has_printed_json, is_verbose = False, "--verbose" in options or "-v" in options
    _prepare_output(options)
    try:
        if words and words[0].startswith("-") and words[0] not in OVERVIEWS:
            from skillc.cli.syntax import move_behind

            words = move_behind(words)
        if isinstance(sys.stdout, PlainStream) or sys.stderr.isatty():
            from skillc.cli.pager import attend  # only where a person looks

            with attend(words):
                status = _dispatch(words)
        else:
            status = _dispatch(words)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        status = 0  # the reader of our output has enough of it
    except KeyboardInterrupt as interrupt:
        status = 130
        _say_what_stays(words, *interrupt.args)
    except BaseException as error:
        if isinstance(error, SystemExit | GeneratorExit):
            raise
        status = _fail(error, options)
    finally:
        streams = (sys.stdout, sys.stderr)
        sys.stdout, sys.stderr = (s.stream if isinstance(s, PlainStream) else s for s in streams)
    return status


OVERVIEWS = ("-h", "--help", "-V", "--version")  # in place of a command


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in ("--help", "-h", "help"):
        from skillc.cli.help import show_help

        show_help(words[1:])
        return 0
    if words[0] in ("--version", "-V", "version"):
        from skillc import __version__

        if words[1:]:
            from skillc.cli.help import read_names

            read_names("version", words[1:])
        print(f"skc {__version__}")
        return 0
    if words[0] == "__complete":
        from skillc.cli.completion import candidates

        sys.stdout.writelines(f"{candidate}\n" for candidate in candidates(words[1:]))
        return 0
    if words[0] in AHEAD and not {"--help", "-h"}.intersection(words):
        load_ahead(AHEAD[words[0]].format(words[0]))
    command, run = load(words[0])
    from skillc.cli.syntax import parse

    arguments = parse(command, words[1:])
    if arguments.has("help"):
        from skillc.cli.help import show_help

        show_help(words[:1])
        return 0
    return run(arguments)


def load(name: str) -> tuple[Command, Run]:
    """Return a command and what runs it; raises InvalidOption (E100) that names the nearest one."""
    module = f"skillc.cli.commands.{HOMES.get(name, name)}"
    try:
        if name.isalpha():  # as the names of all commands are
            __import__(module)
            found: Any = sys.modules[module]
            return (found.COMMANDS[name] if hasattr(found, "COMMANDS") else found.COMMAND), found.run
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
    from skillc.cli.usage_errors import unknown_command

    raise unknown_command(name)


def _prepare_output(words: Sequence[str]) -> None:
    """Escape what the terminal can't show or would act on; replace a closed stdout or stderr."""
    if sys.stdout is None or sys.stderr is None:
        null = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 -- until the process ends
        sys.stdout, sys.stderr = sys.stdout or null, sys.stderr or null
    for stream in (sys.stdout, sys.stderr):
        if getattr(stream, "errors", "") != "backslashreplace" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.stderr = DiagnosticStream(sys.stderr)
    has_color = "FORCE_COLOR" in os.environ or any(word.startswith("--color") for word in words)
    if has_color or sys.stdout.isatty() or sys.stderr.isatty():
        from skillc.cli.terminal import prepare_terminal  # only where a person looks

        prepare_terminal(words)


def _wants_json(words: list[str]) -> bool:
    """Return whether the words ask for JSON, also where the command could not parse them."""
    from skillc.cli.summaries import SUMMARIES  # only on the way to an error
    from skillc.cli.syntax import expand

    command = next((word for word in words if word in SUMMARIES), None)
    options = [option.name for option in load(command)[0].options] if command else ["--format"]
    names = ["--format", *(["-f"] if expand("-f", options) == "--format" else [])]
    parts = [part for word in words for part in (word.split("=", 1) if word.startswith("-") else [word])]
    return any(parts[n] in names and parts[n + 1] in ("json", "object") for n in range(len(parts) - 1))


def _say_what_stays(words: Sequence[str], text: str = "") -> None:
    """Say what stays when a command is interrupted that does one thing after the other, unless it says so."""
    from skillc.cli.summaries import IN_STEPS  # only after an interrupt

    if words and words[0] in IN_STEPS:
        start = "\n" if sys.stderr.isatty() else ""  # behind the terminal's ^C
        text = text or "what was done stays, nothing is half done, and the same command does the rest"
        print(f"{start}note: stopped; {text}", file=sys.stderr)


def _drop_output() -> None:
    """Keep the interpreter from flushing into a closed pipe once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: BaseException, words: list[str]) -> int:
    """Print an error on stderr and, with `--format json`, its JSON on stdout [D62]."""
    from skillc.errors import MissingExtra, SkillcError, is_foreign, unexpected

    failure = unexpected(error)
    if isinstance(error, ImportError) and is_foreign(error):
        failure = MissingExtra(f"a library of skillc's can't be loaded ({error})")
    try:
        if not has_printed_json and _wants_json(words):
            from skillc.cli.output import print_json

            print_json(failure.as_json())
        sys.stdout.flush()
    except (OSError, ValueError):
        _drop_output()
    try:
        if is_verbose and not isinstance(error, SkillcError):
            import traceback

            traceback.print_exception(error)
        for diagnostic in failure.diagnostics:
            print(diagnostic.line(), file=sys.stderr)
        print(failure.text(), file=sys.stderr)
    except OSError:
        pass
    return 1

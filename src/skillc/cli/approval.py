"""Ask a person on the terminal; questions go to stderr, beside the result."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from skillc import tools  # lazy
from skillc.cli import workspace
from skillc.cli.progress import Progress, pause, show_activity
from skillc.cli.terminal import has_person, measure
from skillc.errors import SkillcError
from skillc.library import repositories
from skillc.text import cut, fold, fold_line, one_line

if TYPE_CHECKING:
    from skillc.cli.syntax import Arguments
    from skillc.workspace import Workspace

MAX_LISTED = 50  # names in one list
WIDTH = 90  # columns of a line in it
MIN_WIDTH = 20  # columns: some more than the indent
INDENT = " " * 12  # before what is folded: deeper than any label, so that no text can pose as one


class Terminal:
    """A person at the terminal, if there is one, as operations ask it: a `skillc.surface.Person`."""

    def __init__(self, shows: bool = True) -> None:
        self.can_answer = has_person()
        self._shows = shows

    def show(self, text: str) -> None:
        if self._shows:
            print(text, file=sys.stderr)

    def ask(self, question: str) -> str:
        return read_line(question) if self.can_answer else ""

    def confirm(self, text: str, question: str) -> bool:
        return confirm(text, question)

    def confirm_some(self, text: str, question: str, choices: Sequence[tuple[str, str]]) -> Sequence[str]:
        from skillc.cli.picker import can_pick, pick  # help of commands needs no list to choose from

        if can_pick():
            _print(text)
            print(file=sys.stderr)
            return pick(question, [(*choice, "") for choice in choices], [name for name, _ in choices])
        print(text, file=sys.stderr)
        names = [name for name, _ in choices]
        answer = ask(f"{question} (y)es, all, (c)hoose, (N)o: ")
        if answer in ("c", "choose"):
            words = ask(f"Which of {', '.join(names)}? Separated by commas: ").replace(",", " ").split()
            return words if set(words) <= set(names) else ()
        return names if answer in ("y", "yes") else ()

    def choose(self, title: str, choices: Sequence[tuple[str, str]]) -> Sequence[str]:
        """Show a list and return what is chosen from it."""
        from skillc.cli.picker import can_pick, pick

        if can_pick():
            return pick(title, [(name, name, description) for name, description in choices])
        return _choose_by_line(title, choices)


def _choose_by_line(title: str, choices: Sequence[tuple[str, str]]) -> Sequence[str]:
    """Show a list and ask for numbers or names of it; words that are no choice narrow the list."""
    rest = choices
    while True:
        print(f"\n{one_line(title)}", file=sys.stderr)
        for number, (name, description) in enumerate(rest[:MAX_LISTED], 1):
            print(cut(one_line(f"{number:>4}  {name}  {fold_line(description)}"), WIDTH), file=sys.stderr)
        if len(rest) > MAX_LISTED:
            print(f"      and {len(rest) - MAX_LISTED} more; type a word to search", file=sys.stderr)
        answer = ask("Add which? Numbers, names, all, or a word to search; Enter for none: ")
        if not answer:
            return ()
        names = [name for name, _ in rest]
        chosen = names if answer == "all" else _parse_choice(answer, names)
        if chosen:
            return chosen
        words = answer.split()
        texts = [(each, " ".join(each).lower()) for each in choices]
        matches = [each for each, text in texts if all(word in text for word in words)]
        if not matches:
            print(f"No skill matches '{one_line(answer)}'.", file=sys.stderr)
        rest = matches or choices


def _parse_choice(answer: str, names: Sequence[str]) -> list[str]:
    """Return the names for numbers, ranges of them and names; none if a word is nothing of these."""
    choice: dict[str, None] = {}
    for word in answer.replace(",", " ").split():
        first, _, last = word.partition("-")
        if word in names:
            choice[word] = None
        elif first.isdecimal() and (not last or last.isdecimal()) and max(len(first), len(last)) <= 6:
            start, end = int(first), int(last or first)
            if not 1 <= start <= end <= len(names):
                return []
            choice |= dict.fromkeys(names[start - 1 : end])
        else:
            return []
    return list(choice)


class ProgressBars:
    """Where operations show their progress: a `skillc.surface.Progress`."""

    activity = staticmethod(show_activity)
    steps = Progress


def attended_workspace(arguments: Arguments) -> Workspace:
    """Return the workspace of the current directory, whose operations ask and show at the terminal."""
    here = workspace()
    here.person = Terminal(shows=not arguments.as_json)
    here.progress = ProgressBars()
    return here


def ask_for_variables(cwd: str) -> None:
    """Ask for each variable that the project of `cwd` wants to use, if there is a person to ask."""
    if not has_person():
        return
    try:
        uses = repositories.variables_asked_for(repositories.SkillsConfig.load(cwd))
    except SkillcError:
        return  # the command itself says what is wrong
    for use in uses:
        text = f"The skills.toml of the project '{use.project}' uses a variable of your environment."
        question = f"Let it send {use.variable} to {use.host}?"
        if confirm(one_line(text), one_line(question)):
            repositories.allow_variables([use])


def ask_to_run(request: tools.ApprovalRequest) -> tools.Answer:
    """Show what is about to run, and return the answer."""
    yes, never = tools.Answer.YES, tools.Answer.NEVER
    choices = {"y": yes, "yes": yes, "v": never, "never": never}
    options = ["(y)es, this time"]
    if request.lasts:
        choices |= dict.fromkeys(("o", "once"), tools.Answer.ONCE)
        options = ["(y)es, until a file of it changes", "(o)nce"]
    elif request.can_last:
        choices |= dict.fromkeys(("a", "always"), tools.Answer.ALWAYS)
        options += ["(a)lways until a file of it changes"]
    text, rest = request.text(short=True), request.text()
    while True:
        _print(text)
        more = ["(s)how all"] if text != rest else []
        answer = ask(f"Run it? {', '.join([*options, '(N)o', 'ne(v)er', *more])}: ")
        if not more or answer not in ("s", "show"):
            return choices.get(answer, tools.Answer.NO)
        text = rest


@contextmanager
def ends_as_interrupts() -> Iterator[None]:
    """Let SIGTERM, and SIGHUP where there is one, do what Ctrl+C does: end the command, and tidy up."""
    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {number: signal.signal(number, signal.default_int_handler) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Interrupts:
    """SIGINT and SIGTERM cancel the run; while a question is open they end the command instead."""

    def __init__(self, cancel: threading.Event) -> None:
        self._cancel = cancel
        self._question = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self)

    def __call__(self, number: int, frame: object) -> None:
        if self._question:
            raise KeyboardInterrupt
        self._cancel.set()

    def __enter__(self) -> None:
        self._question = True

    def __exit__(self, *_: object) -> None:
        self._question = False


def confirm(text: str, question: str) -> bool:
    """Show a text and return whether the answer is yes."""
    _print(text)
    return ask(f"{question} (y/N): ") in ("y", "yes")


def ask(question: str) -> str:
    """Return one line of input in lower case, for an answer that is one of a few."""
    return read_line(question).lower()


def read_line(question: str) -> str:
    """Return one line of input; an empty one at its end."""
    with pause():
        print(f"\n{question}", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip()


def _print(text: str) -> None:
    """Print a text on stderr, as wide as that terminal is; stdout may be a file."""
    width = max(MIN_WIDTH, measure()[0])
    for part in text.split("\n"):
        print(fold(part, width, INDENT), file=sys.stderr)

"""Ask a person on the terminal whether a tool may run; the question goes to stderr, beside the result."""

from __future__ import annotations

import os
import shutil
import sys

from skillc import tools
from skillc.cli.progress import Pause
from skillc.text import fold

MIN_WIDTH = 20  # columns: some more than the indent
INDENT = " " * 12  # before what is folded: deeper than any label, so that no text can pose as one


def terminal() -> bool:
    """Return whether there is a person to ask: stdin and stderr are a terminal."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):  # closed
        return False


def ask_to_run(request: tools.ApprovalRequest) -> tools.Answer:
    """Show what is about to run, and return the answer."""
    choices = {
        "y": tools.Answer.YES,
        "yes": tools.Answer.YES,
        "v": tools.Answer.NEVER,
        "never": tools.Answer.NEVER,
    }
    options = ["(y)es, this time"]
    if request.lasts:
        choices |= {"o": tools.Answer.ONCE, "once": tools.Answer.ONCE}
        options = ["(y)es, until a file of it changes", "(o)nce"]
    elif request.can_last:
        choices |= {"a": tools.Answer.ALWAYS, "always": tools.Answer.ALWAYS}
        options += ["(a)lways until a file of it changes"]
    text, rest = request.text(short=True), request.text()
    while True:
        _print(text)
        more = ["(s)how all"] if text != rest else []
        answer = ask(f"Run it? {', '.join([*options, '(N)o', 'ne(v)er', *more])}: ")
        if not more or answer not in ("s", "show"):
            return choices.get(answer, tools.Answer.NO)
        text = rest


def confirm(text: str, question: str) -> bool:
    """Show a text and return whether the answer is yes."""
    _print(text)
    return ask(f"{question} (y/N): ") in ("y", "yes")


def ask(question: str) -> str:
    """Return one line of input in lower case; an empty one at its end."""
    with Pause():
        print(f"\n{question}", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().lower()


def _print(text: str) -> None:
    width = max(MIN_WIDTH, _terminal_width())
    for part in text.split("\n"):
        print(fold(part, width, INDENT), file=sys.stderr)


def _terminal_width() -> int:
    """Return the columns of the terminal that shows the question; stdout may be a file."""
    try:
        columns = os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return columns or shutil.get_terminal_size().columns

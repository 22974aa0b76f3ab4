"""Asking a person on the terminal whether a tool may run. The question is on stderr, beside the result."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.tools import Answer, ApprovalRequest


def terminal() -> bool:
    """Whether there is a person to ask: what is written can be read, and the answer typed."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):  # closed
        return False


def ask_to_run(request: ApprovalRequest) -> Answer:
    """Show what is about to run, and ask."""
    from skillc.tools import Answer

    print(request.text(), file=sys.stderr)
    if request.lasts:
        question, yes = "yes, until a file of it changes", Answer.ALWAYS
    else:
        question, yes = "yes, this time", Answer.ONCE
    choices = {"y": yes, "yes": yes, "o": Answer.ONCE, "once": Answer.ONCE}
    choices |= {"v": Answer.NEVER, "never": Answer.NEVER}
    if not request.always_ask:
        choices |= {"a": Answer.ALWAYS, "always": Answer.ALWAYS}
    always = "" if request.always_ask else ", (a)lways"
    return choices.get(ask(f"Run it? (y) {question}, (o)nce{always}, (N)o, ne(v)er: "), Answer.NO)


def confirm(text: str, question: str) -> bool:
    """Show something and ask for a yes."""
    print(text, file=sys.stderr)
    return ask(f"{question} (y/N): ") in ("y", "yes")


def ask(question: str) -> str:
    """One line from the person, in lower case; nothing where there is no more to read."""
    print(f"\n{question}", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower()

"""Asking a person on the terminal whether a tool may run. The question is on stderr, beside the result."""

from __future__ import annotations

import sys

from skillc.tools import Answer, ApprovalRequest


def terminal() -> bool:
    """Whether there is a person to ask: what is written can be read, and the answer typed."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):  # closed
        return False


def ask_to_run(request: ApprovalRequest) -> Answer:
    """Show what is about to run, and ask."""
    print(request.text(), file=sys.stderr)
    choices = {"o": Answer.ONCE, "once": Answer.ONCE, "v": Answer.NEVER, "never": Answer.NEVER}
    if request.lasts:
        choices |= dict.fromkeys(("y", "yes", "a", "always"), Answer.ALWAYS)
        yes = "(y)es, until a file of it changes, (o)nce"
    elif request.always_ask:
        choices |= dict.fromkeys(("y", "yes"), Answer.ONCE)
        yes = "(y)es, this time"
    else:
        choices |= {"y": Answer.ONCE, "yes": Answer.ONCE, "a": Answer.ALWAYS, "always": Answer.ALWAYS}
        yes = "(y)es, this time, (a)lways until a file of it changes"
    return choices.get(ask(f"Run it? {yes}, (N)o, ne(v)er: "), Answer.NO)


def confirm(text: str, question: str) -> bool:
    """Show something and ask for a yes."""
    print(text, file=sys.stderr)
    return ask(f"{question} (y/N): ") in ("y", "yes")


def ask(question: str) -> str:
    """One line from the person, in lower case; nothing where there is no more to read."""
    print(f"\n{question}", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower()

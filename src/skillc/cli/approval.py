"""Ask a person on the terminal whether a tool may run; the question goes to stderr, beside the result."""

from __future__ import annotations

import sys

from skillc.tools import Answer, ApprovalRequest


def terminal() -> bool:
    """Return whether there is a person to ask: stdin and stderr are a terminal."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):  # closed
        return False


def ask_to_run(request: ApprovalRequest) -> Answer:
    """Show what is about to run, and return the answer."""
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
    """Show a text and return whether the answer is yes."""
    print(text, file=sys.stderr)
    return ask(f"{question} (y/N): ") in ("y", "yes")


def ask(question: str) -> str:
    """Return one line of input in lower case; an empty one at its end."""
    print(f"\n{question}", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower()

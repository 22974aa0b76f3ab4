"""One look for one question: what an answer is made of comes from the same state of the folders.

An engine's answer asks its sources several times. Within `one_look`, in whatever task or thread
the asking goes on, a source that has looked once answers from that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_look: ContextVar[object | None] = ContextVar("look", default=None)


@contextmanager
def one_look() -> Iterator[None]:
    """While this is open, sources look at most once; within another one, it is the other's."""
    if _look.get() is not None:
        yield
        return
    token = _look.set(object())
    try:
        yield
    finally:
        _look.reset(token)


def current_look() -> object | None:
    """What is the same as long as nobody needs to look again; None where everyone should."""
    return _look.get()

"""Keeps a conversation with a git server out of dulwich's log, which has every line that a server sends.

A server may repeat what it was sent, credentials and all. Only what the current thread says here is
left out; a program that uses dulwich itself keeps its log.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_here = threading.local()


def _may_be_logged(record: logging.LogRecord) -> bool:
    return not getattr(_here, "talking", False)


logging.getLogger("dulwich.protocol").addFilter(_may_be_logged)


@contextmanager
def unlogged() -> Iterator[None]:
    """Nothing of the protocol is logged by this thread."""
    _here.talking = True
    try:
        yield
    finally:
        _here.talking = False

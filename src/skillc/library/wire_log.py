"""Keeps secrets in addresses out of the logs of the libraries that we talk to servers with.

They log every URL, and a token can be part of one: in front of the host, or in a query. Only what is
said within `discreet` is changed; a program that uses the same libraries itself keeps its log.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from skillc.library.addresses import without_secrets

_talking: ContextVar[bool] = ContextVar("skillc talking to a server", default=False)

_TALKATIVE = (
    "httpx2",
    "httpcore2.connection",
    "httpcore2.http11",
    "httpcore2.http2",
    "httpcore2.proxy",
    "mcp.client.streamable_http",
)


def _discreet(record: logging.LogRecord) -> bool:
    if _talking.get():
        record.msg, record.args = without_secrets(record.getMessage()), ()
        if record.exc_info:
            record.exc_text = without_secrets("".join(traceback.format_exception(*record.exc_info)).rstrip())
            record.exc_info = None
    return True


for _name in _TALKATIVE:
    logging.getLogger(_name).addFilter(_discreet)


@contextmanager
def discreet() -> Iterator[None]:
    """What is logged of this conversation has no secrets of addresses in it."""
    before = _talking.set(True)
    try:
        yield
    finally:
        _talking.reset(before)

"""Hide secrets in text, and in the logs of the libraries that talk to servers.

httpx2 and mcp log every URL, which can hold a token; dulwich logs every line that a server sends, and a
server may repeat the credentials it was sent. Only records from within `private_logs` are changed, so a
program that uses the same libraries itself keeps its log.
"""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import quote

HIDDEN = "***"
_USER = re.compile(r"(?<=://)[^/?#@\s'\"<>]+(?=@)")
_QUERY = re.compile(
    r"([?&;][\w.-]{0,40}(?:token|secret|passw|pwd|sig|credential|auth|key|jwt)[\w.-]{0,40}=)[^&;#\s'\"<>]+",
    re.IGNORECASE,
)
_PROTOCOL_LOG = "dulwich.protocol"
_HTTP_LOGS = tuple(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy"))
_LOGS = (_PROTOCOL_LOG, "httpx2", *_HTTP_LOGS, "mcp.client.streamable_http")
_private: ContextVar[bool] = ContextVar("skillc is talking to a server", default=False)


def hide_secrets(text: str, secrets: Iterable[str | None] = ()) -> str:
    """Return `text` without `secrets`, and without what may be one in a URL: users, query values by name.

    >>> hide_secrets("no answer from https://me:x@example.com/mcp?page=2&access_token=y#z")
    'no answer from https://***@example.com/mcp?page=2&access_token=***#z'
    """
    for secret in filter(None, secrets):
        text = text.replace(secret, HIDDEN).replace(quote(secret, safe=""), HIDDEN)
    return _QUERY.sub(rf"\1{HIDDEN}", _USER.sub(HIDDEN, text))


@contextmanager
def private_logs() -> Iterator[None]:
    """Keep secrets of the conversation inside the block out of the libraries' logs."""
    token = _private.set(True)
    try:
        yield
    finally:
        _private.reset(token)


def _filter(record: logging.LogRecord) -> bool:
    if not _private.get():
        return True
    record.msg, record.args = hide_secrets(record.getMessage()), ()
    if record.exc_info:
        record.exc_text = hide_secrets("".join(traceback.format_exception(*record.exc_info)).rstrip())
        record.exc_info = None
    return record.name != _PROTOCOL_LOG


for _name in _LOGS:
    logging.getLogger(_name).addFilter(_filter)

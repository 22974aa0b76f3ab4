"""One answer of a server, whole and within its limits, or a few words on why there is none."""

from __future__ import annotations

import os
import socket
import ssl
import zlib
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from skillc.errors import extras
from skillc.library.secrets import private_logs

if TYPE_CHECKING:
    import httpx2

MAX_REDIRECTS = 3
REDIRECTS = (301, 302, 303, 307, 308)
PATIENCE = 2  # times `time_out`: how long one answer may take as a whole


class Failure(Exception):
    """Why there is no usable answer, in a few words that hold nothing of a request."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    etag: str
    data: bytes


async def fetch(
    url: str, headers: dict[str, str], credentials: dict[str, str], time_out: float, limit: int
) -> Answer:
    """GET, with a few redirects; those to another origin, and all after them, without the credentials."""
    with extras.require("http"):
        import httpx2  # noqa: F401 -- whether it is there

    with private_logs():
        return await _fetched(url, headers, credentials, time_out, limit)


async def _fetched(
    url: str, headers: dict[str, str], credentials: dict[str, str], time_out: float, limit: int
) -> Answer:
    import httpx2

    async with httpx2.AsyncClient(verify=_trusted(), timeout=time_out) as client:
        at = httpx2.URL(url)
        for _ in range(MAX_REDIRECTS + 1):
            sent = {name.encode(): value.encode() for name, value in (headers | credentials).items()}
            response = await client.send(client.build_request("GET", at, headers=sent), stream=True)
            try:
                if response.status_code not in REDIRECTS:
                    data = await _content(response, limit) if response.status_code == 200 else b""
                    return Answer(response.status_code, response.headers.get("ETag", "")[:1024], data)
                to = _target(at, response)
            finally:
                await response.aclose()
            credentials = credentials if _origin(to) == _origin(at) else {}
            at = to
    raise Failure(f"more than {MAX_REDIRECTS} redirects")


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates to trust, read once for all sources."""
    import httpx2

    return httpx2.create_ssl_context()


def _target(at: httpx2.URL, response: httpx2.Response) -> httpx2.URL:
    """Where a redirect leads; raises Failure for what must not be followed."""
    import httpx2

    try:
        to = at.join(response.headers.get("Location", ""))
    except (httpx2.InvalidURL, ValueError):
        raise Failure("redirected to what is no URL") from None
    if to.scheme not in ("http", "https") or not to.host or "Location" not in response.headers:
        raise Failure("redirected to what is no URL")
    if at.scheme == "https" and to.scheme == "http":
        raise Failure("redirected from https to http")
    return to


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)


async def _content(response: httpx2.Response, limit: int) -> bytes:
    """The whole body, unpacked, if it is within the limit."""
    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip"):
        raise Failure("the answer is packed in a way that was not asked for")
    data = bytearray()
    async for chunk in response.aiter_raw():
        data += chunk
        if len(data) > limit:
            raise Failure(f"the answer is over {limit >> 20} MiB")
    return _unpacked(bytes(data), limit) if packing == "gzip" else bytes(data)


def _unpacked(data: bytes, limit: int) -> bytes:
    stream = zlib.decompressobj(wbits=31)
    try:
        content = stream.decompress(data, limit + 1)
    except zlib.error:
        raise Failure("the answer can't be unpacked") from None
    if len(content) > limit:
        raise Failure(f"the answer is over {limit >> 20} MiB")
    if not stream.eof:
        raise Failure("the answer can't be unpacked")
    return content


def reason_for(error: Exception, time_out: float) -> str:
    """An error in a few words of our own: those of others may hold what was sent."""
    if isinstance(error, Failure):
        return str(error)
    if isinstance(error, TimeoutError):
        return f"no whole answer in {time_out * PATIENCE:g} s"
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return f"no answer in {time_out:g} s"
    if isinstance(error, httpx2.ConnectError):
        return _system_words(error) or "no connection"
    if isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError | httpx2.WriteError):
        return "the answer broke off or is not valid HTTP"
    return type(error).__name__


def _system_words(error: BaseException) -> str:
    """What the system said at the bottom of an error."""
    at: BaseException | None = error
    for _ in range(16):
        if isinstance(at, BaseExceptionGroup):
            at = at.exceptions[0]
        if isinstance(at, ssl.SSLError):
            return f"TLS: {getattr(at, 'verify_message', '') or at.reason or 'no agreement'}"
        if isinstance(at, socket.gaierror):
            return f"{at.strerror}"
        if isinstance(at, OSError) and at.errno:
            return os.strerror(at.errno)
        at = (at.__cause__ or at.__context__) if at else None
    return ""

"""Send a GET request and return the whole response within its limits, or a short reason for a failure."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import zlib
from dataclasses import dataclass
from functools import cache

import httpx2

from skillc.remotes.addresses import LOOPBACK
from skillc.remotes.hosts import Hosts
from skillc.remotes.protocol import Failure
from skillc.remotes.secrets import private_logs
from skillc.remotes.traffic import follow_download

MAX_REDIRECTS = 3
MAX_DIGITS = 16  # of a size that is believed
MAX_ERROR = 2048  # bytes of an error's text
REDIRECTS = (301, 302, 303, 307, 308)
MAX_TIME_OUTS = 2  # a response as a whole may take this many time-outs
MAX_CAUSES = 16  # of an error, looked through for what the system said

Headers = dict[str, str]

ssl_context = cache(httpx2.create_ssl_context)  # the trusted certificates, once for all sources


@dataclass(frozen=True, slots=True)
class Response:
    """An answer. The data of one with an error are the first bytes of its text."""

    status: int
    etag: str
    data: bytes
    url: str = ""  # that was answered, after redirects
    retry_after: str = ""


async def fetch(
    url: str,
    headers: Headers,
    credentials: Headers,
    time_out: float,
    limit: int,
    *,
    hosts: Hosts,
    secure: bool = False,
    resend: bool = True,
    client: httpx2.AsyncClient | None = None,
) -> Response:
    """GET `url` and follow redirects to `hosts`; after one to another origin, credentials are sent no more.

    If `secure`, a redirect leads to https, or stays on this machine. Without `resend`, credentials are sent
    with the first request alone. A `client` is used again and not closed. Raises Failure.
    """
    try:
        with private_logs():
            async with asyncio.timeout(time_out * MAX_TIME_OUTS):
                if client is not None:
                    return await _fetch(client, url, headers, credentials, limit, hosts, secure, resend)
                async with open_client(time_out) as own:
                    return await _fetch(own, url, headers, credentials, limit, hosts, secure, resend)
    except Failure:
        raise
    except Exception as error:
        raise Failure(explain_failure(error, time_out)) from None


def open_client(time_out: float) -> httpx2.AsyncClient:
    """Return a client, to be used in an `async with` block: its connections are used again."""
    return httpx2.AsyncClient(verify=ssl_context(), timeout=time_out)


async def _fetch(
    client: httpx2.AsyncClient,
    url: str,
    headers: Headers,
    credentials: Headers,
    limit: int,
    hosts: Hosts,
    secure: bool,
    resend: bool,
) -> Response:
    current = httpx2.URL(url)
    for _ in range(MAX_REDIRECTS + 1):
        raw_headers = {name.encode(): value.encode() for name, value in (headers | credentials).items()}
        request = client.build_request("GET", current, headers=raw_headers)
        response = await client.send(request, stream=True)
        try:
            if response.status_code not in REDIRECTS:
                return await _read(response, limit)
            target = redirect_target(current, response)
            if secure and target.scheme != "https" and target.host not in LOOPBACK:
                raise Failure("redirected to http")
            refusal = hosts.refusal(str(target))
            if refusal:
                raise Failure(f"redirected, and {refusal}")
        finally:
            await response.aclose()
        credentials = credentials if resend and _origin(target) == _origin(current) else {}
        current = target
    raise Failure(f"more than {MAX_REDIRECTS} redirects")


async def _read(response: httpx2.Response, limit: int) -> Response:
    status, headers = response.status_code, response.headers
    if status == 200:
        data = await _read_body(response, limit)
    else:
        data = await _read_start(response) if status >= 400 else b""
    tag, retry_after = headers.get("ETag", "")[:1024], headers.get("Retry-After", "")[:64]
    return Response(status, tag, data, str(response.url), retry_after)


async def _read_start(response: httpx2.Response) -> bytes:
    """Return the first bytes of an error's text; none of one that is packed or broken off."""
    if "Content-Encoding" in response.headers:
        return b""
    try:
        async for chunk in response.aiter_raw(MAX_ERROR):
            return chunk
    except httpx2.HTTPError:
        pass
    return b""


def redirect_target(current: httpx2.URL, response: httpx2.Response) -> httpx2.URL:
    """Return where a redirect leads; raise Failure for one that must not be followed."""
    try:
        target = current.join(response.headers.get("Location", ""))
    except (httpx2.InvalidURL, ValueError):
        raise Failure("redirected to what is no URL") from None
    if target.scheme not in ("http", "https") or not target.host or "Location" not in response.headers:
        raise Failure("redirected to what is no URL")
    if current.scheme == "https" and target.scheme == "http":
        raise Failure("redirected from https to http")
    return target


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)


async def _read_body(response: httpx2.Response, limit: int) -> bytes:
    """Return the whole body, decompressed; raise Failure for one over the limit."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise Failure("the answer is packed in a way that was not asked for")
    body = bytearray()
    with follow_download(announced_size(response)) as download:
        async for chunk in response.aiter_raw():
            body += chunk
            download.add(len(chunk))
            if len(body) > limit:
                raise Failure(f"the answer is over {limit >> 20} MiB")
    if encoding == "identity":
        return bytes(body)
    stream = zlib.decompressobj(wbits=31)
    try:
        content = stream.decompress(body, limit + 1)
    except zlib.error:
        raise Failure("the answer can't be unpacked") from None
    if len(content) > limit:
        raise Failure(f"the answer is over {limit >> 20} MiB")
    if not stream.eof:
        raise Failure("the answer can't be unpacked")
    return content


def announced_size(response: httpx2.Response) -> int:
    """Return how many bytes a server says that it sends; 0 if it does not say."""
    text = response.headers.get("Content-Length", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < MAX_DIGITS else 0


def explain_failure(error: Exception, time_out: float) -> str:
    """Return a short reason in our own words: the error's own may hold what was sent."""
    if isinstance(error, TimeoutError):
        return f"no whole answer in {time_out * MAX_TIME_OUTS:g} s"
    if isinstance(error, httpx2.TimeoutException):
        return f"no answer in {time_out:g} s"
    if isinstance(error, httpx2.ConnectError):
        return _explain_connection(error) or "no connection"
    if isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError | httpx2.WriteError):
        return "the answer broke off or is not valid HTTP"
    return type(error).__name__


def _explain_connection(error: BaseException) -> str:
    """Return what the system said at the bottom of an error."""
    cause: BaseException | None = error
    for _ in range(MAX_CAUSES):
        if isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        if isinstance(cause, ssl.SSLError):
            return f"TLS: {getattr(cause, 'verify_message', '') or cause.reason or 'no agreement'}"
        if isinstance(cause, socket.gaierror):
            return f"{cause.strerror}"
        if isinstance(cause, OSError) and cause.errno:
            return os.strerror(cause.errno)
        cause = (cause.__cause__ or cause.__context__) if cause else None
    return ""

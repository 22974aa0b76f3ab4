"""An answer over HTTP: bounded in size, and with what it says of a failure in our own words."""

from __future__ import annotations

import json
import re
import ssl
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc.remotes.http.hosts import explain_failure
from skillc.remotes.http.traffic import follow_download
from skillc.remotes.protocol import Failure
from skillc.text import cut, one_line

if TYPE_CHECKING:
    import httpx2

MAX_DIGITS = 16  # of a size that is believed
MAX_ERROR = 1 << 16  # bytes of the text of an error
MAX_CAUSES = 16  # of an error, looked through for what the system said
BUSY = (429, 503)


@dataclass(frozen=True, slots=True)
class Response:
    """An answer. The data of one with an error are the first bytes of its text."""

    status: int
    etag: str
    data: bytes
    url: str = ""  # that was answered, after redirects
    retry_after: str = ""
    location: str = ""  # of a redirect that was not followed
    request: str = ""  # the address that was asked

    @property
    def address(self) -> str:
        """The address that answered; after a redirect without its query, which may be a signature."""
        return self.request if self.url in ("", self.request) else self.url.partition("?")[0]

    def json(self) -> Any:
        """Return the JSON value; None where it is none."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError):
            return None


class Refused(Failure):
    """An answer with a status that is of no use."""

    def __init__(self, response: Response, url: str) -> None:
        super().__init__(f"status {response.status} for '{one_line(url)}'")
        self.response = response
        self.url = url

    @property
    def reason(self) -> str:
        response = self.response
        text = response.data.decode("utf-8", "replace").strip()
        if response.status in BUSY and response.retry_after:
            reason = f"the server is busy and asks to come again in {one_line(response.retry_after)} s"
        elif response.status in (401, 403):
            reason = f"the server wants authentication (HTTP {response.status})"
        elif text and not re.match(r"\s*[<{]", text):
            reason = f"HTTP {response.status}: {cut(one_line(text), 200)}"
        else:
            reason = f"HTTP {response.status}"
        return f"{self.url}: {reason}"


def read_json(response: Response, url: str) -> Any:
    """Return the JSON of an answer; None where there is none. Raises Refused where that is not known."""
    if response.status in (401, 403, *BUSY) or (response.status >= 500 and response.status != 501):
        raise Refused(response, url)
    return response.json() if response.status == 200 else None


async def read_response(response: httpx2.Response, url: str, limit: int) -> Response:
    """Return the answer to a request to a URL; raises Failure for one over the limit."""
    status, headers = response.status_code, response.headers
    if 200 <= status < 300:
        data = await _read_body(response, limit)
    else:
        data = await _read_start(response) if status >= 400 else b""
    etag, retry_after = headers.get("ETag", "")[:1024], headers.get("Retry-After", "")[:64]
    location = headers.get("Location", "")[:1024]
    return Response(status, etag, data, str(response.url), retry_after, location, url)


async def _read_start(response: httpx2.Response) -> bytes:
    """Return the first bytes of an error's text; none of one that is packed or broken off."""
    import httpx2

    if response.headers.get("Content-Encoding", "identity") != "identity":
        return b""
    try:
        async for chunk in response.aiter_raw(MAX_ERROR):
            return chunk
    except httpx2.HTTPError:
        pass
    return b""


async def _read_body(response: httpx2.Response, limit: int) -> bytes:
    """Return the whole body, decompressed; raises Failure for one over the limit."""
    encoding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise Failure("the answer is packed in a way that was not asked for")
    size = response.headers.get("Content-Length", "")
    total = int(size) if size.isascii() and size.isdigit() and len(size) < MAX_DIGITS else 0
    body = bytearray()
    with follow_download(total) as download:
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


def explain_error(error: Exception, time_out: float, whole: float) -> str:
    """Return a short reason in our own words: the error's own may hold what was sent."""
    import httpx2

    if isinstance(error, TimeoutError):
        return f"no whole answer in {whole:g} s"
    if isinstance(error, httpx2.TimeoutException):
        return f"no answer in {time_out:g} s"
    if isinstance(error, httpx2.ConnectError):
        return explain_connection(error, error.request.url.host) or "no connection"
    if isinstance(error, httpx2.RemoteProtocolError | httpx2.ReadError | httpx2.WriteError):
        return "the answer broke off or is not valid HTTP"
    return type(error).__name__


def explain_connection(error: BaseException, host: str) -> str:
    """Return what the system said at the bottom of an error."""
    cause: BaseException | None = error
    for _ in range(MAX_CAUSES):
        if isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        if isinstance(cause, ssl.SSLError):
            return f"TLS: {getattr(cause, 'verify_message', '') or cause.reason or 'no agreement'}"
        if isinstance(cause, OSError) and cause.errno:
            return explain_failure(cause, host)
        cause = (cause.__cause__ or cause.__context__) if cause else None
    return ""

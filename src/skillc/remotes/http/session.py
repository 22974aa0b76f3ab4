"""Talk HTTP to the places that a person named: within limits, and without telling secrets.

    with Session("https://skills.example.com", credentials={"Authorization": "Bearer …"}) as session:
        index = session.get_json("https://skills.example.com/index.json", 1 << 20)

An answer is bounded in size and time. A redirect is followed to hosts that may be asked, and credentials stay
with the origin that they are for. Where a server is busy (429, 503) it is asked again after the time that it
names. Errors are in our own words: those of the library may hold what was sent.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlsplit

from skillc import __version__
from skillc.errors import InvalidConfiguration, SkillcError
from skillc.remotes.http.addresses import LOOPBACK
from skillc.remotes.http.credentials import (
    BearerAuth,
    HeaderAuth,
    StoredAuth,
    find_token,
    is_valid_header,
    parse_base_url,
)
from skillc.remotes.http.hosts import SETTING, Hosts, host_of
from skillc.remotes.http.response import BUSY, Refused, Response, explain_error, read_json, read_response
from skillc.remotes.http.secrets import private_logs
from skillc.remotes.protocol import Failure
from skillc.text import one_line

if TYPE_CHECKING:
    import httpx2

TIME_OUT = 30.0  # seconds to connect, and for each wait, for a person who waits
SETTLE = 1.0  # seconds for what a loop still has to close
MAX_TIME_OUTS = 2  # an answer as a whole may take this many time-outs
MAX_REDIRECTS = 3
MAX_WAIT = 60.0  # seconds that a server may ask us to wait
MAX_ATTEMPTS = 3
AT_ONCE = 4  # files that are fetched at the same time
PIECE = 1 << 16  # bytes that are sent at once
REDIRECTS = (301, 302, 303, 307, 308)
JSON = "application/json"
ANYTHING = "*/*"

Headers = Mapping[str, str]
Progress = Callable[[int, int], None]  # gets the bytes that were sent, and how many there are
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    url: str
    limit: int  # bytes of the answer
    accept: str = ANYTHING
    headers: Headers = field(default_factory=dict)
    content: bytes | None = None
    tell_progress: Progress | None = None
    time_out: float = 0.0

    def fields(self) -> dict[str, str]:
        """Return the headers, without credentials."""
        fields = {"Accept": self.accept, "Accept-Encoding": "gzip" if self.accept == JSON else "identity"}
        if self.content is not None:
            fields["Content-Length"] = str(len(self.content))
        return {**fields, "User-Agent": f"skillc/{__version__}", **self.headers}

    async def pieces(self) -> AsyncIterator[bytes]:
        content = self.content or b""
        for start in range(0, len(content), PIECE):
            if self.tell_progress:
                self.tell_progress(start, len(content))
            yield content[start : start + PIECE]


@dataclass(slots=True)
class Session:
    """Requests on behalf of an address, whose `credentials` go to its own origin alone.

    Inside a `with` block connections are used again, and the session is for one thread; else for any number
    of threads. None of them may have an event loop.
    """

    address: str
    credentials: Headers = field(default_factory=dict, repr=False)
    hosts: Hosts | None = None  # that may be asked, and redirected to; else the host of the address
    time_out: float = TIME_OUT  # seconds to connect, and for each wait
    whole: float = 0.0  # seconds for an answer as a whole; else some time-outs
    plain: str = ""  # why http, other than on this machine, is not asked, with {} for the address
    resend: bool = True  # whether credentials are sent after a redirect within their origin
    logins: bool = False  # whether a token that `skc login` stored goes where it belongs; it is not resent
    redirects: int = MAX_REDIRECTS
    attempts: int = 1  # where a server is busy
    tell_wait: Callable[[float], None] = lambda _: None  # gets the seconds of each wait for a busy server
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False, repr=False)
    _client: httpx2.AsyncClient | None = field(default=None, init=False, repr=False)

    @classmethod
    def for_repository(
        cls,
        base_url: str,
        auth: BearerAuth | HeaderAuth | None,
        *,
        allow_hosts: Iterable[str],
        time_out: float,
        plain: str,
    ) -> Session:
        """Return requests to a repository of skills.toml; raises InvalidConfiguration for wrong settings."""
        address, user, problem = parse_base_url(base_url)
        credentials = dict([auth.header()]) if auth else user
        if not all(is_valid_header(*header) for header in credentials.items()):
            problem = "the credentials can't be sent in a header"
        if problem:
            raise InvalidConfiguration("repository", problem)
        return cls(
            address,
            credentials=credentials,
            hosts=Hosts.around(address, allow_hosts, SETTING),
            time_out=time_out,
            plain=plain,
            resend=not isinstance(auth, StoredAuth),
        )

    @classmethod
    def for_person(cls, url: str, address: str, hosts: Hosts) -> Session:
        """Return requests to a URL that a person gave as `address`, which may have a user in it."""
        return cls(
            url,
            credentials=parse_base_url(address)[1],
            hosts=hosts,
            plain="'{}' is not https, and http is for this machine alone",
            logins=True,
            attempts=MAX_ATTEMPTS,
        )

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        return self

    def __exit__(self, *error: object) -> None:
        if self._loop is not None:
            if self._client is not None:
                self._loop.run_until_complete(self._client.aclose())
            _close(self._loop)
        self._loop = self._client = None

    def get(self, url: str, limit: int, accept: str = ANYTHING, *, etag: str = "") -> Response:
        """Return the answer, whatever its status; raises Failure."""
        return self.send("GET", url, limit, accept, headers={"If-None-Match": etag} if etag else {})

    def get_file(self, url: str, limit: int) -> Response:
        """Return the answer with a file; raises Failure for any other status."""
        response = self.get(url, limit)
        if response.status != 200:
            raise Refused(response, url)
        return response

    def get_json(self, url: str, limit: int) -> Any:
        """Return the JSON at an address; None where there is nothing, or something else than JSON."""
        return read_json(self.get(url, limit, JSON), url)

    def get_files(self, limits: Mapping[str, int]) -> Iterator[tuple[str, bytes]]:
        """Yield the files at addresses, some fetched at a time; `limits` are their largest sizes.

        A failure is raised after what arrived beside it.
        """
        requests = [_Request("GET", url, limit) for url, limit in limits.items()]

        async def fetch(batch: list[_Request]) -> list[Response | BaseException]:
            return await asyncio.gather(*map(self._send, batch), return_exceptions=True)

        for start in range(0, len(requests), AT_ONCE):
            batch = requests[start : start + AT_ONCE]
            answers = [(r.url, a) for r, a in zip(batch, self._run(fetch(batch)), strict=True)]
            yield from ((url, a.data) for url, a in answers if isinstance(a, Response) and a.status == 200)
            for url, answer in answers:
                if isinstance(answer, BaseException):
                    raise answer
                if answer.status != 200:
                    raise Refused(answer, url)

    def send(
        self, method: str, url: str, limit: int, accept: str = ANYTHING, *, attempts: int = 0, **options: Any
    ) -> Response:
        """Return the answer, whatever its status; wait and ask again where the server is busy.

        `attempts` is how often a busy server is asked, where that is not as usual. The options are those of a
        request: `headers`, `content`, `tell_progress`, and `time_out`, which is how long the server may take
        to answer, where that is longer than usual.
        """
        request = _Request(method, url, limit, accept, **options)
        attempts = attempts or self.attempts
        for attempt in range(attempts):
            response = self._run(self._send(request))
            wait = _seconds(response.retry_after)
            if response.status not in BUSY or attempt == attempts - 1 or wait > MAX_WAIT:
                break
            self.tell_wait(wait)
            time.sleep(wait)
        return response

    def _run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Run a coroutine to its end; a thread that still looks up a name is not waited for."""
        loop = self._loop or asyncio.new_event_loop()
        try:
            with private_logs():
                task = loop.create_task(coroutine)
            try:
                return loop.run_until_complete(task)
            except BaseException:  # a person who interrupts, too
                if not task.done():
                    task.cancel()
                    with suppress(BaseException):
                        loop.run_until_complete(task)
                raise
        finally:
            if loop is not self._loop:
                _close(loop)

    async def _send(self, request: _Request) -> Response:
        """Return the answer to one request; raises Failure."""
        import httpx2  # slow to import

        whole = self.whole or self.time_out * MAX_TIME_OUTS
        try:
            self._check(request.url)
            async with asyncio.timeout(whole):
                if self._loop is not None:
                    self._client = self._client or httpx2.AsyncClient(verify=ssl_context())
                    return await self._exchange(self._client, request)
                async with httpx2.AsyncClient(verify=ssl_context()) as client:
                    return await self._exchange(client, request)
        except SkillcError:  # of the file with tokens
            raise
        except Exception as error:
            reason = explain_error(error, max(request.time_out, self.time_out), whole)
            failure = error if isinstance(error, Failure) else Failure(reason)
            failure.url = failure.url or request.url
        raise failure  # outside the handler: the library's error must not be its context

    async def _exchange(self, client: httpx2.AsyncClient, request: _Request) -> Response:
        import httpx2

        patience = httpx2.Timeout(self.time_out, read=max(request.time_out, self.time_out))
        credentials, resend = self._credentials_for(request.url)
        current = httpx2.URL(request.url)
        for _ in range(self.redirects + 1):
            headers = {
                name.encode(): value.encode() for name, value in (request.fields() | credentials).items()
            }
            content = request.pieces() if request.content is not None else None
            message = client.build_request(
                request.method, current, headers=headers, content=content, timeout=patience
            )
            response = await client.send(message, stream=True)
            try:
                if response.status_code not in REDIRECTS or not self.redirects:
                    return await read_response(response, request.url, request.limit)
                target = redirect_target(str(current), response.headers.get("Location"), bool(self.plain))
                if refusal := self._refusal(target):
                    raise Failure(f"redirected, and {refusal}")
            finally:
                await response.aclose()
            credentials = credentials if resend and _origin(target) == _origin(str(current)) else {}
            current = httpx2.URL(target)
        raise Failure(f"more than {self.redirects} redirects")

    def _check(self, url: str) -> None:
        """Raise Failure for an address that must not be asked."""
        if self.plain and not is_secure(url):
            raise Failure(self.plain.format(one_line(url)))
        if refusal := self._refusal(url):
            raise Failure(refusal)

    def _refusal(self, url: str) -> str:
        return (self.hosts or Hosts.around(self.address)).refusal(url)

    def _credentials_for(self, url: str) -> tuple[dict[str, str], bool]:
        """Return what to send to an address, and whether a redirect within its origin gets it, too."""
        if self.credentials and _origin(url) == _origin(self.address):
            return dict(self.credentials), self.resend
        token = find_token(url) if self.logins else ""
        return {"Authorization": f"Bearer {token}"} if token else {}, False


@cache
def ssl_context() -> ssl.SSLContext:
    """Return the trusted certificates, read once for all sessions."""
    import httpx2

    return httpx2.create_ssl_context()


def is_secure(url: str) -> bool:
    """Return whether an address is https, or on this machine."""
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    except ValueError:
        return False


def redirect_target(current: str, location: str | None, secure: bool = False) -> str:
    """Return where a redirect leads; raises Failure for one that must not be followed."""
    import httpx2

    try:
        target = httpx2.URL(current).join(location or "")
    except (httpx2.InvalidURL, ValueError):
        raise Failure("redirected to what is no URL") from None
    if target.scheme not in ("http", "https") or not target.host or location is None:
        raise Failure("redirected to what is no URL")
    if current.startswith("https:") and target.scheme == "http":
        raise Failure("redirected from https to http")
    if secure and not is_secure(str(target)):
        raise Failure("redirected to http")
    return str(target)


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """Close a loop, once the library's generators have ended that an answer over the limit left behind.

    A thread that still looks up a name is not waited for, as `asyncio.run` would.
    """
    loop.run_until_complete(loop.shutdown_asyncgens())
    if rest := asyncio.all_tasks(loop):
        loop.run_until_complete(asyncio.wait(rest, timeout=SETTLE))
    loop.close()


def _origin(url: str) -> tuple[str, str]:
    return url.partition(":")[0].lower(), host_of(url)


def _seconds(text: str) -> float:
    """Return how long Retry-After asks to wait; a second where it says nothing, forever for a date."""
    if not text:
        return 1.0
    return float(text) if re.fullmatch("[0-9]{1,6}", text) else float("inf")

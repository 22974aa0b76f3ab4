"""Skills of a server, over HTTP: cached, revalidated, and served on while the server is away [D28].

    source = HttpSkillSource("https://skills.example.com/api", BearerAuth(token))
    skills = await source.list(SkillFilter(collection="extraction"))

The whole list is asked for, never a part of it, and filters are applied here; documents are kept by
ID. Both are asked for again after `cache_ttl` seconds. What can't be refreshed is served as it was,
with a warning, and tried again after as many seconds; only where there never was an answer is it E200,
and where that took long to find out it is believed for as long, so that a server that hangs is not
waited for time and again.

Each request runs in a thread of its own with an event loop of its own, and whoever wants the same
thing meanwhile waits for it, from whatever thread or loop: one request at a time, no thread held.
"""

from __future__ import annotations

import asyncio
import base64
import builtins
import json
import logging
import os
import socket
import ssl
import string
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

from skillc import __version__
from skillc.errors import (
    InvalidSkill,
    InvalidSkillId,
    RepositoryUnavailable,
    SkillcError,
    SkillNotFound,
    one_line,
)
from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillScope,
    derive_collections,
)
from skillc.library.sources import ALL, SkillSource, SourceDiagnostic
from skillc.skills import SkillId

if TYPE_CHECKING:
    import httpx2

MAX_LIST = 64 << 20  # bytes of an answer, unpacked
MAX_DOCUMENT = 8 << 20  # the same for one skill: a body of 1 MiB, escaped as JSON can be
MAX_BODY = 1 << 20  # bytes of a skill's body
MAX_KEPT = 256  # documents; the one that was asked for longest ago goes first
MAX_ID = 1024  # characters
MAX_TOLD = 100  # diagnostics
MAX_REDIRECTS = 3
REDIRECTS = (301, 302, 303, 307, 308)
PATIENCE = 2  # times `time_out`: how long one answer may take as a whole
SOON = 1.0  # seconds; a failure that took no longer is forgotten at once

log = logging.getLogger("skillc.library")

_TOKEN = frozenset("!#$%&'*+-.^_`|~" + string.ascii_letters + string.digits)  # a header's name


@dataclass(frozen=True, slots=True)
class BearerAuth:
    """Sends `Authorization: Bearer {token}`."""

    token: str = field(repr=False)

    def header(self) -> tuple[str, str]:
        return "Authorization", f"Bearer {self.token.strip()}"


@dataclass(frozen=True, slots=True)
class HeaderAuth:
    """Sends `{name}: {value}`, such as `X-API-Key`."""

    name: str
    value: str = field(repr=False)

    def header(self) -> tuple[str, str]:
        return self.name, self.value.strip()


class _Failure(Exception):
    """Why there is no usable answer, in a few words that hold nothing of a request."""


_NOTHING: Any = object()


@dataclass(frozen=True, slots=True)
class _Question:
    """Something to ask the server for; `absent` is what a 404 means, where it means anything."""

    path: str
    read: Callable[[Any], Any]
    limit: int
    absent: Any = _NOTHING


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    etag: str
    data: bytes


@dataclass(frozen=True, slots=True)
class _Kept:
    """The last good answer, or _NOTHING; until when it is to be given; why there is no newer one."""

    value: Any
    etag: str = ""
    until: float = 0.0
    error: str | None = None


@dataclass(slots=True)
class _Shelf:
    """The server's list: the skills that can be used, and what there is to say of the others."""

    skills: dict[SkillId, SkillDescriptor] = field(default_factory=dict)
    diagnostics: builtins.list[SourceDiagnostic] = field(default_factory=builtins.list)
    skipped: int = 0


class HttpSkillSource(SkillSource):
    """The skills of a server that speaks the Skills API: `/skills`, `/skills/{id}`, `/skill-collections`.

    `time_out` is for connecting and for each wait, in seconds; an answer as a whole may take twice
    that. Nothing is asked for before the first use, and no thread or connection is held between uses.
    """

    kind = "http"

    def __init__(
        self,
        base_url: str,
        auth: BearerAuth | HeaderAuth | None = None,
        cache_ttl: float = 60.0,
        *,
        time_out: float = 10.0,
        name: str = "",
    ) -> None:
        self.base_url, user, self._problem = _checked(base_url)
        self.cache_ttl = cache_ttl
        self.time_out = time_out
        self.name = name
        self.quarantined = 0  # entries of the last list that can't be used
        self._credentials = dict([auth.header()]) if auth else user
        if not all(_sendable(*header) for header in self._credentials.items()):
            self._problem = "the credentials can't be sent in a header"
        self._lock = threading.Lock()  # held for moments, never while waiting for the server
        self._kept: dict[str, _Kept] = {}
        self._flights: dict[str, Future[_Kept]] = {}

    def __repr__(self) -> str:
        return f"HttpSkillSource({self.base_url!r}, name={self.name!r})"

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        shelf = await self._shelf()
        return [skill for skill in shelf.skills.values() if filter.matches(skill)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        wanted = SkillId(skill_id)
        path = f"skills/{quote(wanted, safe='')}"
        found = await self._ask(_Question(path, partial(_document, wanted), MAX_DOCUMENT, absent=None))
        if found is None:
            raise SkillNotFound(wanted)
        document: SkillDocument = found
        return document

    def bodies_at_hand(self) -> dict[str, str]:
        """The bodies that were loaded before, for searching; nothing is asked for."""
        with self._lock:
            documents = [kept.value for kept in self._kept.values() if isinstance(kept.value, SkillDocument)]
        return {str(document.descriptor.id): document.body for document in documents}

    async def collections(self) -> builtins.list[SkillCollection]:
        """Those of the listed skills, with the server's words; without them if it has none to give."""
        question = _Question("skill-collections", _words, MAX_LIST, absent={})
        shelf, words = await asyncio.gather(self._shelf(), self._ask(question))
        return derive_collections(shelf.skills.values(), words)

    @property
    def error(self) -> str | None:
        """Why something that is served could not be refreshed."""
        with self._lock:
            stale = (kept.error for kept in self._kept.values() if kept.value is not _NOTHING)
            return next((error for error in stale if error), None)

    @property
    def status(self) -> str:
        """`ok`, or `stale` while something is served that could not be refreshed."""
        return "stale" if self.error else "ok"

    async def diagnostics(self) -> builtins.list[SourceDiagnostic]:
        """Which entries of the list were skipped and why, and whether it is stale."""
        told = builtins.list((await self._shelf()).diagnostics)
        error = self.error
        if error:
            message = f"could not be refreshed ({error}); the last good answer is served"
            told.append(SourceDiagnostic("", "E200", "warning", message))
        return told

    async def _shelf(self) -> _Shelf:
        shelf: _Shelf = await self._ask(_Question("skills", _shelf, MAX_LIST))
        self.quarantined = shelf.skipped
        return shelf

    async def _ask(self, question: _Question) -> Any:
        """The value that is kept, or that a request brings: ours or the one that is under way."""
        with self._lock:
            known = self._kept.get(question.path)
            fresh = known if known is not None and time.monotonic() < known.until else None
            if fresh is None:
                flight = self._flights.get(question.path) or self._start(question, known)
        kept = await asyncio.wrap_future(flight) if fresh is None else fresh
        if kept.value is _NOTHING:
            raise RepositoryUnavailable(self.name or self.base_url, kept.error or "no answer")
        return kept.value

    def _start(self, question: _Question, old: _Kept | None) -> Future[_Kept]:
        """Send somebody off; the lock is held. What comes of it is for all who wait, whoever gives up."""
        flight: Future[_Kept] = Future()
        flight.set_running_or_notify_cancel()
        self._flights[question.path] = flight
        good = old if old is not None and old.value is not _NOTHING else None

        def work() -> None:
            try:
                asyncio.run(self._refresh(question, flight, good))
            except Exception as error:  # not even a loop could be had
                if not flight.done():
                    self._land(question, flight, self._failed(question, good, type(error).__name__))

        try:
            threading.Thread(target=work, name="skillc-http", daemon=True).start()
        except RuntimeError:
            del self._flights[question.path]
            flight.set_result(self._failed(question, good, "no thread can be started"))
        return flight

    async def _refresh(self, question: _Question, flight: Future[_Kept], old: _Kept | None) -> None:
        """Ask the server and tell who waits; before the loop is taken down, which may take a while."""
        started, reason = time.monotonic(), ""
        try:
            if self._problem:
                raise _Failure(self._problem)
            answer = await self._get(question, old.etag if old else "")
            kept = self._judged(question, answer, old)
        except Exception as error:
            reason = _reason(error, self.time_out)
        if reason:
            kept = self._failed(question, old, reason, time.monotonic() - started)
        self._land(question, flight, kept)

    async def _get(self, question: _Question, etag: str) -> _Answer:
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        headers["User-Agent"] = f"skillc/{__version__}"
        if etag:
            headers["If-None-Match"] = etag
        async with asyncio.timeout(self.time_out * PATIENCE):
            url = f"{self.base_url}/{question.path}"
            return await _fetch(url, headers, self._credentials, self.time_out, question.limit)

    def _judged(self, question: _Question, answer: _Answer, old: _Kept | None) -> _Kept:
        """What to keep of an answer; raises _Failure for one that is of no use."""
        until = time.monotonic() + self.cache_ttl
        if answer.status == 304 and old is not None and old.etag:
            return replace(old, until=until, error=None)
        if answer.status == 404 and question.absent is not _NOTHING:
            return _Kept(question.absent, until=until)
        if answer.status != 200:
            raise _Failure(f"status {answer.status}")
        try:
            data = json.loads(answer.data)
        except (ValueError, RecursionError):
            raise _Failure("the answer is not JSON") from None
        return _Kept(question.read(data), answer.etag, until)

    def _failed(self, question: _Question, old: _Kept | None, reason: str, took: float = 0.0) -> _Kept:
        """The last good answer for another while; collections do without one."""
        now = time.monotonic()
        if old is None and question.absent != {}:
            return _Kept(_NOTHING, until=now + (took if took > SOON else 0.0), error=reason)
        name = one_line(self.name or self.base_url)
        log.warning("repository '%s': %s not refreshed: %s", name, question.path, reason)
        return replace(old or _Kept(question.absent), until=now + self.cache_ttl, error=reason)

    def _land(self, question: _Question, flight: Future[_Kept], kept: _Kept) -> None:
        with self._lock:
            self._kept.pop(question.path, None)
            if kept.value is not None:
                self._kept[question.path] = kept
            documents = [path for path in self._kept if path.startswith("skills/")]
            for path in documents[:-MAX_KEPT]:
                del self._kept[path]
            self._flights.pop(question.path, None)
        flight.set_result(kept)


def _checked(base_url: str) -> tuple[str, dict[str, str], str | None]:
    """The API's root without a slash at its end, its user as credentials, and what is wrong with it."""
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", {}, "the URL can't be read"
    where = f"[{host}]" if ":" in host else host
    clean = f"{parts.scheme}://{where}{f':{port}' if port else ''}{parts.path.rstrip('/')}"
    if parts.scheme not in ("http", "https") or not host:
        return clean, {}, "the URL must start with http:// or https:// and name a host"
    if parts.query or parts.fragment:
        return clean, {}, "the URL must not have a query or a fragment"
    if parts.username is None:
        return clean, {}, None
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return clean, {"Authorization": f"Basic {base64.b64encode(user).decode()}"}, None


def _sendable(name: str, value: str) -> bool:
    """Whether a header can be sent; seen to here, because the libraries' errors and logs show its value."""
    whole = value == value.strip() and not any(char < " " or char == "\x7f" for char in value)
    return bool(name and value) and whole and _TOKEN.issuperset(name)


async def _fetch(
    url: str, headers: dict[str, str], credentials: dict[str, str], time_out: float, limit: int
) -> _Answer:
    """GET, with a few redirects; those to another origin, and all after them, without the credentials."""
    try:
        import httpx2
    except ImportError:
        raise _Failure("httpx2 is not installed; run: pip install 'skillc[http]'") from None

    async with httpx2.AsyncClient(verify=_trusted(), timeout=time_out) as client:
        at = httpx2.URL(url)
        for _ in range(MAX_REDIRECTS + 1):
            sent = {name.encode(): value.encode() for name, value in (headers | credentials).items()}
            response = await client.send(client.build_request("GET", at, headers=sent), stream=True)
            try:
                if response.status_code not in REDIRECTS:
                    data = await _content(response, limit) if response.status_code == 200 else b""
                    return _Answer(response.status_code, response.headers.get("ETag", "")[:1024], data)
                to = _target(at, response)
            finally:
                await response.aclose()
            credentials = credentials if _origin(to) == _origin(at) else {}
            at = to
    raise _Failure(f"more than {MAX_REDIRECTS} redirects")


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates to trust, read once for all sources."""
    import httpx2

    return httpx2.create_ssl_context()


def _target(at: httpx2.URL, response: httpx2.Response) -> httpx2.URL:
    """Where a redirect leads; raises _Failure for what must not be followed."""
    import httpx2

    try:
        to = at.join(response.headers.get("Location", ""))
    except (httpx2.InvalidURL, ValueError):
        raise _Failure("redirected to what is no URL") from None
    if to.scheme not in ("http", "https") or not to.host or "Location" not in response.headers:
        raise _Failure("redirected to what is no URL")
    if at.scheme == "https" and to.scheme == "http":
        raise _Failure("redirected from https to http")
    return to


def _origin(url: httpx2.URL) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port or (443 if url.scheme == "https" else 80)


async def _content(response: httpx2.Response, limit: int) -> bytes:
    """The whole body, unpacked, if it is within the limit."""
    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in ("identity", "gzip"):
        raise _Failure("the answer is packed in a way that was not asked for")
    data = bytearray()
    async for chunk in response.aiter_raw():
        data += chunk
        if len(data) > limit:
            raise _Failure(f"the answer is over {limit >> 20} MiB")
    return _unpacked(bytes(data), limit) if packing == "gzip" else bytes(data)


def _unpacked(data: bytes, limit: int) -> bytes:
    stream = zlib.decompressobj(wbits=31)
    try:
        content = stream.decompress(data, limit + 1)
    except zlib.error:
        raise _Failure("the answer can't be unpacked") from None
    if len(content) > limit:
        raise _Failure(f"the answer is over {limit >> 20} MiB")
    if not stream.eof:
        raise _Failure("the answer can't be unpacked")
    return content


def _reason(error: Exception, time_out: float) -> str:
    """An error in a few words of our own: those of others may hold what was sent."""
    if isinstance(error, _Failure):
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


def _shelf(data: Any) -> _Shelf:
    """The list, by ID; an entry that is wrong is left out and told of, the others stay."""
    entries = data.get("skills") if isinstance(data, dict) else None
    if not isinstance(entries, builtins.list):
        raise _Failure("the answer has no list of 'skills'")
    shelf = _Shelf()
    found: dict[SkillId, SkillDescriptor] = {}
    for number, entry in enumerate(entries):
        try:
            skill = _descriptor(entry, f"skills[{number}]")
            if skill.id in found:
                raise InvalidSkill(skill.id, "listed twice; the first counts")
            found[skill.id] = skill
        except SkillcError as error:
            shelf.skipped += 1
            told = SourceDiagnostic(f"skills[{number}]", error.code, "error", one_line(error.message))
            shelf.diagnostics += [told] if len(shelf.diagnostics) < MAX_TOLD else []
    shelf.skills = {skill_id: found[skill_id] for skill_id in sorted(found)}
    return shelf


def _document(wanted: SkillId, data: Any) -> SkillDocument:
    try:
        descriptor = _descriptor(data, wanted)
        body = _text(data, "body", wanted)
    except SkillcError as error:
        raise _Failure(one_line(error.message)) from None
    if descriptor.id != wanted:
        raise _Failure(f"asked for '{wanted}', the answer is another skill")
    if len(body.encode()) > MAX_BODY:
        raise _Failure(f"the body of '{wanted}' is over {MAX_BODY >> 20} MiB")
    extensions = data.get("extensions")
    return SkillDocument(descriptor, body, extensions if isinstance(extensions, dict) else {})


def _words(data: Any) -> dict[str, str]:
    """The collections' descriptions; counts are our own, from the list."""
    entries = data.get("collections") if isinstance(data, dict) else None
    if not isinstance(entries, builtins.list):
        raise _Failure("the answer has no list of 'collections'")
    words: dict[str, str] = {}
    for entry in entries:
        known = entry if isinstance(entry, dict) else {}
        path, told = known.get("path"), known.get("description")
        if isinstance(path, str) and isinstance(told, str) and told != f"{known.get('count')} skills":
            words.setdefault(path, _clean(told))
    return words


def _descriptor(entry: Any, where: str) -> SkillDescriptor:
    """A skill of the wire format; raises InvalidSkill or InvalidSkillId.

    The name is the ID's last segment, whatever the server calls it; a scope that nobody knows is remote.
    """
    if not isinstance(entry, dict):
        raise InvalidSkill(where, "not an object")
    text = _text(entry, "id", where)
    if len(text) > MAX_ID:
        raise InvalidSkillId(f"{text[:64]}…")
    skill_id = SkillId(text)
    _text(entry, "name", where, skill_id.name)
    scope = _text(entry, "scope", where, "remote")
    return SkillDescriptor(
        skill_id,
        description=_text(entry, "description", where),
        scope=SkillScope(scope) if scope in builtins.list(SkillScope) else SkillScope.REMOTE,
        requires_capabilities=_capabilities(entry, where),
        metadata=_metadata(entry, where),
    )


def _text(entry: dict[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = default if entry.get(key) is None else entry[key]
    if value is None:
        raise InvalidSkill(where, f"'{key}' is missing")
    if not isinstance(value, str):
        raise InvalidSkill(where, f"'{key}' is not text")
    return _clean(value)


def _capabilities(entry: dict[str, Any], where: str) -> tuple[str, ...]:
    value = entry.get("requires_capabilities") or []
    if not isinstance(value, builtins.list) or not all(isinstance(item, str) for item in value):
        raise InvalidSkill(where, "'requires_capabilities' is no list of texts")
    return tuple(_clean(item) for item in value)


def _metadata(entry: dict[str, Any], where: str) -> dict[str, str]:
    """Text to text; what is not text is written as JSON, as it is for files."""
    value = entry.get("metadata") or {}
    if not isinstance(value, dict):
        raise InvalidSkill(where, "'metadata' is no object")
    return {
        _clean(key): _clean(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False))
        for key, item in value.items()
    }


def _clean(text: str) -> str:
    """Text that can be written: JSON can hold halves of characters."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()

"""A source of the skills of a server, over HTTP: cached, revalidated, served stale while it is away [D28].

    source = HttpSkillSource("https://skills.example.com/api", BearerAuth(token))
    skills = await source.list(SkillFilter(collection="extraction"))

The list is fetched as a whole and filtered here; documents are cached by ID. Both are revalidated, by
ETag, after a TTL of `cache_ttl` seconds. Where that fails the stale value is served for another TTL, with a
warning; only without any value is it E200. A failure that was slow is cached for as long as it took, so
that a server that hangs is not waited for again and again.

Requests are single flight: each runs in a thread and an event loop of its own, and all that ask for the
same thing meanwhile, from whatever thread or loop, wait for its result.
"""

from __future__ import annotations

import asyncio
import builtins
import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from skillc import __version__
from skillc.errors import RepositoryUnavailable, SkillNotFound
from skillc.library import source as base
from skillc.library.http import wire
from skillc.remotes import (
    SETTING,
    BearerAuth,
    Failure,
    FileCache,
    FileEntry,
    FileListing,
    HeaderAuth,
    Hosts,
    StoredAuth,
    is_valid_header,
    parse_base_url,
    read_files,
)
from skillc.skills import SkillId
from skillc.startup import sha256_hex
from skillc.text import one_line

if TYPE_CHECKING:
    from skillc.remotes import Response

MAX_LIST = 64 << 20  # bytes of a response, decompressed
MAX_DOCUMENT = 8 << 20  # the same for one skill: a body of 1 MiB, escaped as JSON can be
MAX_DOCUMENTS = 256  # in the cache; the oldest is evicted first
AT_ONCE = 4  # files of a skill that are fetched at the same time
UNKNOWN = (400, 404, 405, 501)  # answers of a server that does not know an endpoint
SLOW = 1.0  # seconds; a failure that took longer is cached

log = logging.getLogger("skillc.library")

_MISSING: Any = object()


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of the API. A status in `statuses` means that it is `absent`, unless that is _MISSING."""

    path: str
    read: Callable[[Any], Any]
    limit: int
    absent: Any = _MISSING
    statuses: tuple[int, ...] = (404,)  # that mean that it is absent
    is_optional: bool = False  # whether what is no JSON means the same


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """The last good value or _MISSING, when it expires, and why it could not be revalidated."""

    value: Any
    etag: str = ""
    expires: float = 0.0
    error: str | None = None


_Flight = Future[CacheEntry]


class HttpSkillSource(base.SkillSource):
    """The skills of a server that speaks the Skills API: `/skills`, `/skills/{id}`, `/skill-collections`.

    `time_out` is for connecting and for each wait, in seconds; a response as a whole may take twice
    that. Nothing is fetched before the first use, and no thread or connection is held between uses. A
    redirect to another host is followed if `allow_hosts` has it, without credentials.
    """

    kind = "http"
    is_secure = False  # whether redirects lead to https alone

    def __init__(
        self,
        base_url: str,
        auth: BearerAuth | HeaderAuth | None = None,
        cache_ttl: float | timedelta = 60.0,
        *,
        time_out: float | timedelta = 10.0,
        name: str = "",
        allow_hosts: Iterable[str] = (),
    ) -> None:
        base.require_text(base_url, "base_url")
        if not isinstance(auth, BearerAuth | HeaderAuth | None):
            raise TypeError(f"auth must be a BearerAuth or a HeaderAuth, not {type(auth).__name__}")
        self.base_url, user, self._problem = parse_base_url(base_url)
        self.cache_ttl = base.to_seconds(cache_ttl, "cache_ttl")
        self.time_out = base.to_seconds(time_out, "time_out")
        self.name = name
        self._hosts = Hosts.around(self.base_url, allow_hosts, SETTING)
        self.quarantined = 0  # entries of the last list that can't be used
        self._credentials = dict([auth.header()]) if auth else user
        self._resend = not isinstance(auth, StoredAuth)
        if not all(is_valid_header(*header) for header in self._credentials.items()):
            self._problem = "the credentials can't be sent in a header"
        self._files = FileCache(self.base_url)
        self._list_path = "skills"  # of the resource with the list
        self._lock = threading.Lock()  # held for moments, never during a request
        self._cache: dict[str, CacheEntry] = {}
        self._flights: dict[str, _Flight] = {}

    def __repr__(self) -> str:
        return f"HttpSkillSource({self.base_url!r}, name={self.name!r})"

    async def list(self, filter: base.SkillFilter = base.ALL) -> builtins.list[base.SkillDescriptor]:
        listing = await self._list()
        return [skill for skill in listing.skills.values() if filter.matches(skill)]

    async def load(self, skill_id: SkillId) -> base.SkillDocument:
        skill_id = SkillId(skill_id)
        path = f"skills/{quote(skill_id, safe='')}"
        resource = Resource(path, partial(wire.read_document, skill_id), MAX_DOCUMENT, absent=None)
        document: base.SkillDocument | None = await self._get(resource)
        if document is None:
            raise SkillNotFound(skill_id)
        return document

    async def directory(self, skill_id: SkillId) -> str | None:
        """Return a folder with all files of a skill, verified; None if the server has its text alone."""
        skill_id = SkillId(skill_id)
        path = f"skills/{quote(skill_id, safe='')}/files"
        read = partial(read_files, skill_id)
        resource = Resource(path, read, MAX_LIST, absent=None, statuses=UNKNOWN)
        listing: FileListing | None = await self._get(resource)
        return await asyncio.to_thread(self._make_folder, skill_id, listing) if listing else None

    def _make_folder(self, skill_id: SkillId, listing: FileListing) -> str:
        """Return the folder with these files; those that are not at hand are fetched."""
        folder = self._files.find(skill_id, listing)
        if folder is not None:
            return folder
        contents = self._files.collect(skill_id, listing)
        missing = {file.digest: file for file in listing.files if file.digest not in contents}
        try:
            contents |= asyncio.run(self._fetch_files(skill_id, listing.version, [*missing.values()]))
        except Failure as error:
            raise RepositoryUnavailable(self.name or self.base_url, str(error)) from None
        return self._files.make(skill_id, listing, contents)

    async def _fetch_files(
        self, skill_id: SkillId, version: str, files: Sequence[FileEntry]
    ) -> dict[str, bytes]:
        """Fetch files, some at a time, over connections that are used again; raises Failure."""
        from skillc.remotes import fetch, open_client  # httpx2 is slow to import

        base_url = f"{self.base_url}/skills/{quote(skill_id, safe='')}/files"
        query = f"?version={quote(version, safe='')}" if version else ""
        headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": f"skillc/{__version__}"}
        contents: dict[str, bytes] = {}

        async with open_client(self.time_out) as client:

            async def take(file: FileEntry) -> None:
                url, limit = f"{base_url}/{quote(file.path)}{query}", max(file.size, 1)
                response = await fetch(
                    *(url, headers, self._credentials, self.time_out, limit),
                    hosts=self._hosts,
                    resend=self._resend,
                    client=client,
                )
                name = f"'{one_line(file.path)}' of '{skill_id}'"
                if response.status != 200:
                    raise Failure(f"status {response.status} for {name}")
                if f"sha256:{sha256_hex(response.data)}" != file.digest:
                    raise Failure(f"{name} has another digest than was listed")
                self._files.put(skill_id, file.digest, response.data)
                contents[file.digest] = response.data

            for start in range(0, len(files), AT_ONCE):
                await asyncio.gather(*map(take, files[start : start + AT_ONCE]))
        return contents

    def bodies_at_hand(self) -> dict[str, str]:
        with self._lock:
            values = [entry.value for entry in self._cache.values()]
        return {str(v.descriptor.id): v.body for v in values if isinstance(v, base.SkillDocument)}

    async def collections(self) -> builtins.list[base.SkillCollection]:
        """Return the collections of the listed skills, with the server's descriptions where it has some."""
        resource = Resource("skill-collections", wire.read_collections, MAX_LIST, absent={})
        listing, descriptions = await asyncio.gather(self._list(), self._get(resource))
        return base.derive_collections(listing.skills.values(), descriptions)

    async def refresh(self) -> bool:
        """Revalidate the list now; return whether it has changed. Documents are revalidated when used."""
        with self._lock:
            old = self._cache.get(self._list_path)
            self._cache = {path: replace(entry, expires=0.0) for path, entry in self._cache.items()}
        listing = await self._list()
        return old is None or old.value is _MISSING or old.value.skills != listing.skills

    async def cached_count(self) -> int | None:
        """Return the number of skills in the cached list; None before the first."""
        with self._lock:
            entry = self._cache.get(self._list_path)
        return len(entry.value.skills) if entry is not None and entry.value is not _MISSING else None

    @property
    def error(self) -> str | None:
        """The reason why a value in the cache could not be revalidated."""
        with self._lock:
            errors = (entry.error for entry in self._cache.values() if entry.value is not _MISSING)
            return next((error for error in errors if error), None)

    @property
    def status(self) -> str:
        """`ok`, or `stale` while a value in the cache could not be revalidated."""
        return "stale" if self.error else "ok"

    async def diagnostics(self) -> builtins.list[base.SourceDiagnostic]:
        """Return why entries of the list were skipped, and a warning where it is stale."""
        diagnostics = [*(await self._list()).diagnostics]
        error = self.error
        if error:
            message = f"could not be refreshed ({error}); the last good answer is served"
            diagnostics.append(base.SourceDiagnostic("", "E200", "warning", message))
        return diagnostics

    async def _list(self) -> wire.Listing:
        listing: wire.Listing = await self._get(Resource("skills", wire.read_listing, MAX_LIST))
        self.quarantined = listing.skipped
        return listing

    async def _get(self, resource: Resource) -> Any:
        """Return a resource's value: from the cache while it is fresh, else from a request."""
        with self._lock:
            entry = self._cache.get(resource.path)
            if entry is None or time.monotonic() >= entry.expires:
                flight = self._flights.get(resource.path) or self._start(resource, entry)
                entry = None
        if entry is None:
            entry = await asyncio.wrap_future(flight)
        if entry.value is _MISSING:
            raise RepositoryUnavailable(self.name or self.base_url, entry.error or "no answer")
        return entry.value

    def _start(self, resource: Resource, entry: CacheEntry | None) -> _Flight:
        """Start the request; all waiters share its result. The caller holds the lock."""
        flight = _Flight()
        flight.set_running_or_notify_cancel()
        self._flights[resource.path] = flight
        old = entry if entry is not None and entry.value is not _MISSING else None

        def work() -> None:
            try:
                asyncio.run(self._revalidate(resource, flight, old))
            except Exception as error:  # there was no event loop to be had
                if not flight.done():
                    self._finish(resource, flight, self._fall_back(resource, old, type(error).__name__))

        try:
            threading.Thread(target=work, name="skillc-http", daemon=True).start()
        except RuntimeError:
            del self._flights[resource.path]
            flight.set_result(self._fall_back(resource, old, "no thread can be started"))
        return flight

    async def _revalidate(self, resource: Resource, flight: _Flight, old: CacheEntry | None) -> None:
        """Ask the server and finish the flight, before the event loop is closed, which may take a while."""
        start = time.monotonic()
        try:
            if self._problem:
                raise Failure(self._problem)
            entry = await self._ask(resource, old)
        except Exception as error:
            reason = str(error) if isinstance(error, Failure) else type(error).__name__
            entry = self._fall_back(resource, old, reason, time.monotonic() - start)
        self._finish(resource, flight, entry)

    async def _ask(self, resource: Resource, old: CacheEntry | None) -> CacheEntry:
        """Return what the server has now; raises Failure."""
        return self._to_entry(resource, await self._send(resource, old.etag if old else ""), old)

    async def _send(self, resource: Resource, etag: str) -> Response:
        from skillc.remotes import fetch  # httpx2 is slow to import

        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        headers["User-Agent"] = f"skillc/{__version__}"
        if etag:
            headers["If-None-Match"] = etag
        url = resource.path if "://" in resource.path else f"{self.base_url}/{resource.path}"
        credentials, limit = self._credentials, resource.limit
        return await fetch(
            *(url, headers, credentials, self.time_out, limit),
            hosts=self._hosts,
            secure=self.is_secure,
            resend=self._resend,
        )

    def _to_entry(self, resource: Resource, response: Response, old: CacheEntry | None) -> CacheEntry:
        """Return the cache entry for a response; raise Failure for an unusable one."""
        expires = time.monotonic() + self.cache_ttl
        if response.status == 304 and old is not None and old.etag:
            return replace(old, expires=expires, error=None)
        if response.status in resource.statuses and resource.absent is not _MISSING:
            return CacheEntry(resource.absent, expires=expires)
        if response.status != 200:
            raise Failure(f"status {response.status}")
        try:
            data = json.loads(response.data)
        except (ValueError, RecursionError):
            if resource.is_optional:
                return CacheEntry(resource.absent, expires=expires)
            raise Failure("the answer is not JSON") from None
        return CacheEntry(resource.read(data), response.etag, expires)

    def _fall_back(
        self, resource: Resource, old: CacheEntry | None, reason: str, seconds: float = 0.0
    ) -> CacheEntry:
        """Return the stale entry for another TTL, or one that holds a failure; collections may be absent."""
        now = time.monotonic()
        if old is None and resource.absent != {}:
            return CacheEntry(_MISSING, expires=now + (seconds if seconds > SLOW else 0.0), error=reason)
        name = one_line(self.name or self.base_url)
        log.warning("repository '%s': %s not refreshed: %s", name, resource.path, reason)
        return replace(old or CacheEntry(resource.absent), expires=now + self.cache_ttl, error=reason)

    def _finish(self, resource: Resource, flight: _Flight, entry: CacheEntry) -> None:
        with self._lock:
            self._cache.pop(resource.path, None)
            if entry.value is not None:
                self._cache[resource.path] = entry
            documents = [path for path in self._cache if path.startswith("skills/")]
            for path in documents[:-MAX_DOCUMENTS]:
                del self._cache[path]
            self._flights.pop(resource.path, None)
        flight.set_result(entry)

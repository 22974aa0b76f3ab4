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
import builtins
import json
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote

from skillc import __version__
from skillc.errors import MissingExtra, RepositoryUnavailable, SkillNotFound
from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    derive_collections,
)
from skillc.library.http.auth import BearerAuth, HeaderAuth, sendable, taken_apart
from skillc.library.http.client import PATIENCE, Answer, Failure, fetch, reason_for
from skillc.library.http.wire import Shelf, read_document, read_shelf, read_words
from skillc.library.source import ALL, SkillSource, SourceDiagnostic
from skillc.skills import SkillId
from skillc.text import one_line

MAX_LIST = 64 << 20  # bytes of an answer, unpacked
MAX_DOCUMENT = 8 << 20  # the same for one skill: a body of 1 MiB, escaped as JSON can be
MAX_KEPT = 256  # documents; the one that was asked for longest ago goes first
SOON = 1.0  # seconds; a failure that took no longer is forgotten at once

log = logging.getLogger("skillc.library")

_NOTHING: Any = object()


@dataclass(frozen=True, slots=True)
class _Question:
    """Something to ask the server for; `absent` is what a 404 means, where it means anything."""

    path: str
    read: Callable[[Any], Any]
    limit: int
    absent: Any = _NOTHING


@dataclass(frozen=True, slots=True)
class _Kept:
    """The last good answer, or _NOTHING; until when it is to be given; why there is no newer one."""

    value: Any
    etag: str = ""
    until: float = 0.0
    error: str | None = None


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
        self.base_url, user, self._problem = taken_apart(base_url)
        self.cache_ttl = cache_ttl
        self.time_out = time_out
        self.name = name
        self.quarantined = 0  # entries of the last list that can't be used
        self._credentials = dict([auth.header()]) if auth else user
        if not all(sendable(*header) for header in self._credentials.items()):
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
        found = await self._ask(_Question(path, partial(read_document, wanted), MAX_DOCUMENT, absent=None))
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
        question = _Question("skill-collections", read_words, MAX_LIST, absent={})
        shelf, words = await asyncio.gather(self._shelf(), self._ask(question))
        return derive_collections(shelf.skills.values(), words)

    async def refresh(self) -> bool:
        """Ask for the list now; gives whether it has changed. Documents are asked for when next wanted."""
        with self._lock:
            old = self._kept.get("skills")
            self._kept = {path: replace(kept, until=0.0) for path, kept in self._kept.items()}
        shelf = await self._shelf()
        return old is None or old.value is _NOTHING or old.value.skills != shelf.skills

    async def cached_count(self) -> int | None:
        """How many skills the last good list has; None before the first."""
        with self._lock:
            kept = self._kept.get("skills")
        return len(kept.value.skills) if kept is not None and kept.value is not _NOTHING else None

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

    async def _shelf(self) -> Shelf:
        shelf: Shelf = await self._ask(_Question("skills", read_shelf, MAX_LIST))
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
                raise Failure(self._problem)
            answer = await self._get(question, old.etag if old else "")
            kept = self._judged(question, answer, old)
        except MissingExtra as error:
            with self._lock:
                del self._flights[question.path]
            flight.set_exception(error)
            return
        except Exception as error:
            reason = reason_for(error, self.time_out)
        if reason:
            kept = self._failed(question, old, reason, time.monotonic() - started)
        self._land(question, flight, kept)

    async def _get(self, question: _Question, etag: str) -> Answer:
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        headers["User-Agent"] = f"skillc/{__version__}"
        if etag:
            headers["If-None-Match"] = etag
        async with asyncio.timeout(self.time_out * PATIENCE):
            url = f"{self.base_url}/{question.path}"
            return await fetch(url, headers, self._credentials, self.time_out, question.limit)

    def _judged(self, question: _Question, answer: Answer, old: _Kept | None) -> _Kept:
        """What to keep of an answer; raises Failure for one that is of no use."""
        until = time.monotonic() + self.cache_ttl
        if answer.status == 304 and old is not None and old.etag:
            return replace(old, until=until, error=None)
        if answer.status == 404 and question.absent is not _NOTHING:
            return _Kept(question.absent, until=until)
        if answer.status != 200:
            raise Failure(f"status {answer.status}")
        try:
            data = json.loads(answer.data)
        except (ValueError, RecursionError):
            raise Failure("the answer is not JSON") from None
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

"""Keep values of a remote: fresh for a TTL, then asked for again, served stale while it is away [D28].

    cache = Cache("company", ttl=60.0)
    listing = await cache.get("skills", remote.list)

Where a value can't be fetched again, the stale one is served for another TTL, with a warning; only without
any is it E200. A failure that was slow is cached for as long as it took, so that a remote that hangs is not
waited for again and again. Requests are single flight: each runs in a thread of its own, and all that ask for
the same thing meanwhile, from whatever thread or loop, wait for its result. A value can have a copy on disk.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any

from skillc import atomic, paths
from skillc.errors import RepositoryUnavailable
from skillc.remotes.protocol import Answer, Failure
from skillc.text import one_line

MAX_DOCUMENTS = 256  # entries that are not kept for good; the oldest is evicted first
MAX_COPY = 64 << 20  # bytes of a copy on disk
SLOW = 1.0  # seconds; a failure that took longer is cached

log = logging.getLogger("skillc.library")


@dataclass(frozen=True, slots=True)
class Entry:
    """The last good answer, when it expires, and why it could not be fetched again."""

    answer: Answer | None
    expires: float = 0.0
    error: str | None = None
    is_document: bool = False


@dataclass(frozen=True, slots=True)
class DiskCopy:
    """A copy of a value on disk, as JSON, for its owner alone. A cache that can't be written keeps none."""

    path: str
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]  # raises ValueError, TypeError or KeyError for what it can't use

    def read(self) -> tuple[Answer | None, float]:
        """Return the value and its age in seconds; None where there is none that can be read."""
        try:
            value = self.decode(json.loads(paths.read_regular(self.path, MAX_COPY)))
            age = time.time() - os.path.getmtime(self.path)
        except (OSError, ValueError, RecursionError, TypeError, KeyError):
            return None, 0.0
        return Answer(value), age if age >= 0 else float("inf")  # a clock that was set back

    def write(self, value: Any) -> None:
        try:
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            atomic.write(self.path, json.dumps(self.encode(value)).encode(), private=True)
        except OSError as error:
            log.warning("the cache can't be written: %s", error.strerror)


@dataclass(frozen=True, slots=True)
class _Question:
    """What to do for a key: `default` is what counts where a first value can't be fetched."""

    key: str
    ask: Callable[[Answer | None], Answer]
    default: Answer | None
    is_document: bool
    copy: DiskCopy | None


class Cache:
    """The values of one remote, which errors call by its `name`."""

    def __init__(self, name: str, ttl: float) -> None:
        self.name = name
        self.ttl = ttl
        self._lock = threading.Lock()  # held for moments, never during a request
        self._entries: dict[str, Entry] = {}
        self._flights: dict[str, Future[Entry]] = {}
        self._is_forced = False  # whether copies on disk do not count, however new they are

    async def get(
        self,
        key: str,
        ask: Callable[[Answer | None], Answer],
        *,
        default: Answer | None = None,
        is_document: bool = False,
        copy: DiskCopy | None = None,
    ) -> Any:
        """Return a value: from the cache while it is fresh, else what `ask` returns, given the last answer.

        A value None is not cached. Raises RepositoryUnavailable where there is no value at all.
        """
        question = _Question(key, ask, default, is_document, copy)
        with self._lock:
            last = self._entries.get(key)
            is_fresh = last is not None and time.monotonic() < last.expires
            flight = None if is_fresh else self._flights.get(key) or self._start(question, last)
        shared: asyncio.Future[Entry] | None = asyncio.wrap_future(flight) if flight else None
        entry = await shared if shared else last
        assert entry is not None  # without one it was fetched
        if entry.answer is None:
            raise RepositoryUnavailable(self.name, entry.error or "no answer")
        return entry.answer.value

    def peek(self, key: str) -> Any:
        """Return the last value, however old; None where there is none. Asks nothing."""
        with self._lock:
            entry = self._entries.get(key)
        return entry.answer.value if entry and entry.answer else None

    def values(self) -> list[Any]:
        with self._lock:
            return [entry.answer.value for entry in self._entries.values() if entry.answer]

    def expire(self) -> None:
        """Have every value fetched again when it is next used."""
        with self._lock:
            self._is_forced = True
            self._entries = {key: replace(entry, expires=0.0) for key, entry in self._entries.items()}

    @property
    def error(self) -> str | None:
        """The reason why a value could not be fetched again."""
        with self._lock:
            errors = (entry.error for entry in self._entries.values() if entry.answer)
            return next(filter(None, errors), None)

    def _start(self, question: _Question, entry: Entry | None) -> Future[Entry]:
        """Start the request; all waiters share its result. The caller holds the lock."""
        flight = Future[Entry]()
        flight.set_running_or_notify_cancel()
        self._flights[question.key] = flight
        last = entry.answer if entry else None

        def work() -> None:
            self._finish(question, flight, self._revalidate(question, last))

        try:
            threading.Thread(target=work, name="skillc-remote", daemon=True).start()
        except RuntimeError:
            del self._flights[question.key]
            flight.set_result(self._fall_back(question, last, "no thread can be started"))
        return flight

    def _revalidate(self, question: _Question, last: Answer | None) -> Entry:
        start = time.monotonic()
        try:
            if last is None and question.copy is not None:
                last, age = question.copy.read()
                if last is not None and age < self.ttl and not self._is_forced:
                    return Entry(last, start + self.ttl - age)
            answer = question.ask(last)
            if question.copy is not None and answer is not last:
                question.copy.write(answer.value)
        except Exception as error:
            reason = str(error) if isinstance(error, Failure) else type(error).__name__
            return self._fall_back(question, last, reason, time.monotonic() - start)
        self._is_forced = False
        return Entry(answer, time.monotonic() + self.ttl, None, question.is_document)

    def _fall_back(
        self, question: _Question, last: Answer | None, reason: str, seconds: float = 0.0
    ) -> Entry:
        """Return the stale entry for another TTL, or one that holds a failure."""
        now, answer = time.monotonic(), last or question.default
        if answer is None:
            return Entry(None, now + (seconds if seconds > SLOW else 0.0), reason)
        log.warning("repository '%s': %s not refreshed: %s", one_line(self.name), question.key, reason)
        return Entry(answer, now + self.ttl, reason, question.is_document)

    def _finish(self, question: _Question, flight: Future[Entry], entry: Entry) -> None:
        with self._lock:
            self._entries.pop(question.key, None)
            if entry.answer is None or entry.answer.value is not None:
                self._entries[question.key] = entry
            documents = [key for key, each in self._entries.items() if each.is_document]
            for key in documents[:-MAX_DOCUMENTS]:
                del self._entries[key]
            self._flights.pop(question.key, None)
        flight.set_result(entry)

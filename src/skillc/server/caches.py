"""Keep what takes long to make: values of a bounded size, and lists as JSON until something in them changes.

A list depends on what is below its prefix and on the permissions of the caller, not on who it is.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Generic, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from skillc.registry import Caller, Registry
from skillc.server.responses import etag_of, respond, respond_tagged

MAX_BYTES = 32 << 20  # of all lists that a process keeps; the longest unused goes first
MAX_SECONDS = 60.0  # policies may depend on the time
MAX_CHANGES = 1000  # that are looked through; after more, a list is made anew
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Listing:
    """A list as it is sent; `revision` is the change up to which it is right."""

    body: bytes
    etag: str
    revision: int
    made_at: float


class Cache(Generic[T]):
    """Values by key, for many threads. The longest unused go first when all together are over `limit`.

    `measure` tells the size of a value; without it, each counts as one.
    """

    def __init__(self, limit: int, measure: Callable[[T], int] = lambda value: 1) -> None:
        self._limit = limit
        self._measure = measure
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._lock = threading.Lock()
        self._making = threading.Lock()

    def get(
        self, key: Hashable, make: Callable[[], T], renew: Callable[[T], T | None] = lambda value: value
    ) -> T:
        """Return a value, or make it: one at a time, so that clients can't take all processors.

        `renew` returns None for a value that is not good any more.
        """
        value = self._find(key, renew)
        if value is None:
            with self._making:
                value = self._find(key, renew)
                if value is None:
                    self._values[key] = value = make()
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            while sum(map(self._measure, self._values.values())) > self._limit:
                self._values.popitem(last=False)
        return value

    def _find(self, key: Hashable, renew: Callable[[T], T | None]) -> T | None:
        value = self._values.get(key)
        return None if value is None else renew(value)


class Listings:
    """Lists by kind, prefix and permissions."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._lists: Cache[Listing] = Cache(MAX_BYTES, lambda listing: len(listing.body))

    def get(self, kind: Hashable, caller: Caller, prefix: str, make: Callable[[], Any]) -> Listing:
        """Return a list that is right at this moment; `make` returns its value. Blocks."""

        def make_listing() -> Listing:
            revision, time = self._registry.revision(), monotonic()
            body = bytes(respond(make()).body)
            return Listing(body, etag_of(body), revision, time)

        key = kind, prefix, caller.permissions
        return self._lists.get(key, make_listing, lambda listing: self._renew(listing, prefix))

    def respond(
        self, request: Request, kind: Hashable, caller: Caller, prefix: str, make: Callable[[], Any]
    ) -> Response:
        """Return a response with a list, or 304 where the client has it already. Blocks."""
        listing = self.get(kind, caller, prefix, make)
        return respond_tagged(request, listing.etag, listing.body)

    def _renew(self, listing: Listing, prefix: str) -> Listing | None:
        """Return a list of which nothing has changed."""
        if monotonic() - listing.made_at > MAX_SECONDS:
            return None
        revision = self._registry.revision()
        if revision == listing.revision:
            return listing
        changes = self._registry.log.read(listing.revision, MAX_CHANGES)
        is_other = revision < listing.revision or len(changes) == MAX_CHANGES  # a store that was restored
        if is_other or any(_concerns(change.skill, prefix) for change in changes):
            return None
        return replace(listing, revision=revision)


def _concerns(skill_id: str, prefix: str) -> bool:
    """Return whether a change of a skill may be one of a list; changes of accounts have no skill."""
    return bool(skill_id) and (not prefix or skill_id == prefix or skill_id.startswith(f"{prefix}/"))

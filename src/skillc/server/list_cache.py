"""Keep long lists that clients ask for again and again, as JSON, until something that is in them changes.

A list depends on what is below its prefix and on the permissions of the caller, not on who it is.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from skillc.registry import Caller, Registry
from skillc.server.responses import HEADERS, respond, unchanged
from skillc.startup import sha256_hex

MAX_BYTES = 32 << 20  # of all lists that a process keeps; the longest unused goes first
MAX_SECONDS = 60.0  # policies may depend on the time
MAX_CHANGES = 1000  # that are looked through; after more, a list is made anew


@dataclass(frozen=True, slots=True)
class Listing:
    """A list as it is sent; `revision` is the change up to which it is right."""

    body: bytes
    etag: str
    revision: int
    made_at: float


class Listings:
    """Lists by kind, prefix and permissions. They can be asked for from many threads."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._lists: OrderedDict[Hashable, Listing] = OrderedDict()
        self._lock = threading.Lock()
        self._making = threading.Lock()  # one is made at a time

    def get(self, kind: Hashable, caller: Caller, prefix: str, make: Callable[[], Any]) -> Listing:
        """Return a list that is right at this moment; `make` returns its value. Blocks."""
        key = kind, prefix, caller.permissions
        if listing := self._find(key, prefix):
            return listing
        with self._making:
            if listing := self._find(key, prefix):
                return listing
            revision, time = self._registry.revision(), monotonic()
            body = bytes(respond(make()).body)
            listing = Listing(body, f'"{sha256_hex(body)[:32]}"', revision, time)
            self._keep(key, listing)
            return listing

    def _find(self, key: Hashable, prefix: str) -> Listing | None:
        listing = self._lists.get(key)
        if listing is None or monotonic() - listing.made_at > MAX_SECONDS:
            return None
        revision = self._registry.revision()
        if revision != listing.revision:
            changes = self._registry.log.read(listing.revision, MAX_CHANGES)
            is_other = revision < listing.revision or len(changes) == MAX_CHANGES  # a store that was restored
            if is_other or any(_concerns(change.skill, prefix) for change in changes):
                return None
            listing = replace(listing, revision=revision)
        self._keep(key, listing)
        return listing

    def _keep(self, key: Hashable, listing: Listing) -> None:
        with self._lock:
            self._lists[key] = listing
            self._lists.move_to_end(key)
            while sum(len(each.body) for each in self._lists.values()) > MAX_BYTES:
                self._lists.popitem(last=False)


def respond_listing(request: Request, listing: Listing) -> Response:
    """Return a response, or 304 where the client has the list already."""
    if not_modified := unchanged(request, listing.etag):
        return not_modified
    return Response(listing.body, 200, HEADERS | {"ETag": listing.etag}, "application/json")


def _concerns(skill_id: str, prefix: str) -> bool:
    """Return whether a change of a skill may be one of a list; changes of accounts have no skill."""
    return bool(skill_id) and (not prefix or skill_id == prefix or skill_id.startswith(f"{prefix}/"))

"""Remember what was read of a registry while a feed tells what changes, so that most requests ask no store.

What is remembered belongs to a skill, to all skills below a prefix, or to the accounts. It is dropped when
this process changes such a skill, when the feed tells of a change, when the feed did not hear of the store
for two seconds, after a minute, and when it is the longest unused of more than 4,096 owners or 64 MiB.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from time import monotonic
from typing import TypeVar

from skillc.registry.feed import Feed
from skillc.registry.model.model import Change

MAX_OWNERS = 4096
MAX_BYTES = 64 << 20
MAX_SECONDS = 60.0  # policies may depend on the time
ACCOUNTS = ""  # the owner of what depends on grants and tokens; no skill has an empty ID

T = TypeVar("T")


def _owners_of(skill_id: str) -> list[str]:
    """Return what a change of a skill concerns; accounts are in no list.

    >>> _owners_of("payments/refunds"), _owners_of(ACCOUNTS)
    (['payments/refunds', '/', 'payments/', 'payments/refunds/'], [''])
    """
    words = skill_id.split("/") if skill_id else []
    return [skill_id, *("/".join((*words[:count], "")) or "/" for count in range(len(words) + 1) if words)]


class Cache:
    """Values by owner and key. Without a feed it holds nothing."""

    def __init__(self) -> None:
        self._feed: Feed | None = None
        self._lock = threading.Lock()
        self._owners: OrderedDict[str, dict[Hashable, tuple[object, int, float]]] = OrderedDict()
        self._size = 0
        self._generation = 0  # counts what was dropped: what was read before is not kept

    def follow(self, feed: Feed) -> None:
        feed.subscribe(self._hear)
        self._feed = feed

    def recall(self, owner: str, key: Hashable) -> object | None:
        """Return what is remembered; None without it. It asks nothing and does not wait."""
        if self._feed is None or not self._feed.is_fresh():
            return None
        with self._lock:
            value, _, time = self._owners.get(owner, {}).get(key, (None, 0, 0.0))
            if value is None or monotonic() - time > MAX_SECONDS:
                return None
            self._owners.move_to_end(owner)
            return value

    def remember(
        self,
        owner: str,
        key: Hashable,
        read: Callable[[], T],
        measure: Callable[[T], int] = lambda value: 1024,
    ) -> T:
        """Return what is remembered or what `read` returns; `measure` tells about how many bytes it takes."""
        value = self.recall(owner, key)
        if value is not None:
            return value  # type: ignore[return-value]  # a key has one type
        generation, time = self._generation, monotonic()
        value = read()
        if self._feed is not None and self._feed.is_fresh():
            self._keep(owner, key, (value, measure(value), time), generation)
        return value

    def drop(self, *skills: str) -> None:
        """Forget what some skills, or the accounts, are part of."""
        with self._lock:
            self._generation += 1
            for owner in {owner for skill_id in skills for owner in _owners_of(skill_id)}:
                self._remove(owner)

    def clear(self) -> None:
        with self._lock:
            self._generation += 1
            self._owners.clear()
            self._size = 0

    def _keep(self, owner: str, key: Hashable, entry: tuple[object, int, float], generation: int) -> None:
        with self._lock:
            if generation != self._generation or entry[1] > MAX_BYTES:
                return
            entries = self._owners.setdefault(owner, {})
            self._owners.move_to_end(owner)
            self._size += entry[1] - entries.get(key, (None, 0, 0.0))[1]
            entries[key] = entry
            while len(self._owners) > MAX_OWNERS or self._size > MAX_BYTES:
                self._remove(next(iter(self._owners)))

    def _remove(self, owner: str) -> None:
        self._size -= sum(size for _, size, _ in self._owners.pop(owner, {}).values())

    def _hear(self, changes: Sequence[Change] | None) -> None:
        if changes is None:
            self.clear()
        else:
            self.drop(*{change.skill for change in changes})

"""Keep values that take long to make."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Cache(Generic[T]):
    """Values by key, for many threads. The longest unused go first when all together are over `limit`.

    `measure` tells the size of a value; without it, each counts as one.
    """

    def __init__(self, limit: int, measure: Callable[[T], int] = lambda value: 1) -> None:
        self._limit = limit
        self._measure = measure
        self._values: OrderedDict[Hashable, T] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        self._making = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return a value, or make it: one at a time, so that clients can't take all processors."""
        for value in self._take(key):
            return value
        with self._making:
            for value in self._take(key):  # another thread made it meanwhile
                return value
            value = make()
            self._keep(key, value)
        return value

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def _take(self, key: Hashable) -> list[T]:
        """Return a value in a list, which is empty without it: None may be a value."""
        with self._lock:
            if key not in self._values:
                return []
            self._values.move_to_end(key)
            return [self._values[key]]

    def _keep(self, key: Hashable, value: T) -> None:
        with self._lock:
            self._values[key] = value
            self._size += self._measure(value)
            while self._size > self._limit:
                self._size -= self._measure(self._values.popitem(last=False)[1])

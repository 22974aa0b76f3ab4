"""Count the skills of every collection, and keep the counts current from the log.

    counts = CollectionCounts(registry)
    counts.count(caller)  # {"payments": 12, "payments/eu": 3}

Skills count that every reader of their prefix may see: what waits for a review, or what a policy hides, does
not, whoever asks. It holds the IDs of all skills, about 100 bytes each.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from time import monotonic

from skillc.registry.feed import Mark
from skillc.registry.model.access import Caller
from skillc.registry.model.model import Role
from skillc.registry.reader import MAX_IDS, Reader

HIDDEN_SECONDS = 60.0  # after which hidden skills are looked at again: policies may depend on the time


class CollectionCounts:
    """How many skills each collection of a registry has. It can be asked from many threads."""

    def __init__(self, registry: Reader) -> None:
        self._registry = registry
        self._lock = threading.Lock()
        self._mark: Mark | None = None
        self._looked_at = 0.0  # when hidden skills were looked at last
        self._visible: set[str] = set()
        self._hidden: set[str] = set()
        self._counts: dict[str, int] = {}
        self._paths: list[str] = []  # sorted

    def count(self, caller: Caller) -> dict[str, int]:
        """Return every collection that a caller may read with the number of skills below it, sorted."""
        prefixes = caller.narrow_prefix(Role.READER, "")
        with self._lock:
            self._refresh()
            if "" in prefixes:
                return {path: self._counts[path] for path in self._paths}
            counts: dict[str, int] = {}
            for prefix in prefixes:
                counts |= self._count_below(prefix)
            for prefix in prefixes:
                total = self._counts.get(prefix, 0) + (prefix in self._visible)
                for path in _parents(prefix) if total else ():
                    counts[path] = counts.get(path, 0) + total
        return dict(sorted(counts.items()))

    def _count_below(self, prefix: str) -> dict[str, int]:
        inside = self._paths[bisect_left(self._paths, f"{prefix}/") : bisect_left(self._paths, f"{prefix}0")]
        return {path: self._counts[path] for path in (prefix, *inside) if path in self._counts}

    def _refresh(self) -> None:
        """Take over what changed since the last time; an outage changes nothing."""
        while self._mark is None or (changes := self._registry.log.read_behind(self._mark)) is None:
            self._mark = None  # until all is counted
            mark = self._registry.log.find_end()
            self._count_all()
            self._mark = mark
        ids, mark = {change.skill for change in changes}, self._mark
        while changes:
            mark = Mark.behind(changes[-1])
            changes = self._registry.log.read_behind(mark) or []
            ids |= {change.skill for change in changes}
        is_time = monotonic() - self._looked_at > HIDDEN_SECONDS
        self._update((ids | self._hidden if is_time else ids) - {""})
        self._mark = mark
        if is_time:
            self._looked_at = monotonic()

    def _count_all(self) -> None:
        self._visible, self._hidden, self._counts = set(), set(), {}
        self._looked_at = monotonic()
        self._add(self._registry.list_visible())
        after = ""
        while page := self._registry.list_ids(after, MAX_IDS):
            self._hidden.update(skill_id for skill_id in page if skill_id not in self._visible)
            after = page[-1]

    def _update(self, ids: set[str]) -> None:
        if not ids:
            return
        visible = self._registry.find_visible(ids)
        self._hidden = (self._hidden - ids) | (ids - visible)
        gone = (ids - visible) & self._visible
        self._visible -= gone
        self._change(gone, -1)
        self._add(visible - self._visible)

    def _add(self, ids: Iterable[str]) -> None:
        self._visible.update(ids := list(ids))
        self._change(ids, 1)

    def _change(self, ids: Iterable[str], step: int) -> None:
        for folder, count in Counter(skill_id.rpartition("/")[0] for skill_id in ids).items():
            for path in (folder, *_parents(folder)) if folder else ():
                self._counts[path] = self._counts.get(path, 0) + step * count
                if not self._counts[path]:
                    del self._counts[path]
        self._paths = sorted(self._counts)


def _parents(path: str) -> Iterator[str]:
    """Give the collections above a path, the nearest first."""
    while path := path.rpartition("/")[0]:
        yield path

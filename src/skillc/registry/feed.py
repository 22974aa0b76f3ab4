"""Follow the log of a registry: learn of every change, whichever process made it, within a second.

A thread waits for the store to tell of a change (PostgreSQL notifies; SQLite is asked ten times a second). It
looks at the log at least twice a second, because notifications get lost. It goes on after any outage.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import monotonic

from skillc.contract import encode
from skillc.errors import SkillcError
from skillc.registry.model.model import Change
from skillc.registry.store import Store, Watch, tables

POLL_SECONDS = 0.5  # between two looks at the log, at most
RETRY_SECONDS = 0.5  # after an outage
FRESH_SECONDS = 2.0  # without a look, after which nothing is certain
SILENT_SECONDS = 6.0  # without a look or an error, after which the store is out of reach
PAGE = 1000  # changes that are read at once

Listener = Callable[[Sequence[Change] | None], None]  # None: the log is another one, so forget everything


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a log: behind the entry with this number and checksum, or at the start.

    The checksum tells that a store was restored from a backup, or is another one.
    """

    sequence: int = 0
    checksum: str = ""

    @classmethod
    def behind(cls, change: Change) -> Mark:
        text = json.dumps(encode(change), sort_keys=True)
        return cls(change.sequence, hashlib.sha256(text.encode()).hexdigest()[:16])


class Log:
    """The log of a store, for programs that follow it: all of it, whatever a caller may see."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, since: int, limit: int = PAGE) -> list[Change]:
        """Return the changes behind a number, oldest first."""
        with self._store.read() as connection:
            return tables.read_changes(connection, since, limit)

    def read_behind(self, mark: Mark, limit: int = PAGE) -> list[Change] | None:
        """Return the changes behind a place, oldest first; None where the log has no such place."""
        changes = self.read(mark.sequence - 1, limit + 1)
        if not mark.sequence:
            return changes[:limit]
        return changes[1:] if changes and Mark.behind(changes[0]) == mark else None

    def find_end(self) -> Mark:
        """Return the place behind the last change."""
        with self._store.read() as connection:
            changes = tables.read_changes(connection, tables.read_last_sequence(connection) - 1, 1)
        return Mark.behind(changes[-1]) if changes else Mark()

    def find_time(self, time: datetime) -> int:
        """Return the number of the last change up to a time; 0 for none."""
        with self._store.read() as connection:
            return tables.read_last_sequence(connection, time)


class Feed:
    """A thread that follows a log and calls its listeners with what is new. They must not block or raise."""

    def __init__(self, store: Store, log: Log) -> None:
        self._store = store
        self._log = log
        self._listeners: list[Listener] = []
        self._condition = threading.Condition()
        self._mark: Mark | None = None
        self._watch: Watch | None = None
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="skillc-feed", daemon=True)
        self._looked_at = float("-inf")
        self.error = ""  # why the log can't be read at the moment

    @property
    def sequence(self) -> int:
        """The number of the last change that the listeners were told of; -1 before the first look."""
        return -1 if self._mark is None else self._mark.sequence

    def subscribe(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def start(self) -> None:
        self._thread.start()

    def is_fresh(self) -> bool:
        """Return whether every change up to a moment ago is known."""
        return monotonic() - self._looked_at < FRESH_SECONDS

    def outage(self) -> str | None:
        """Return why the store is out of reach, and "" where it is not; None before the first look."""
        if self.error or self._looked_at == float("-inf"):
            return self.error or None
        silence = monotonic() - self._looked_at
        return f"it has not answered for {silence:.0f} s" if silence > SILENT_SECONDS else ""

    def wait(self, sequence: int, seconds: float) -> bool:
        """Wait until a change is known; return whether it is."""
        with self._condition:
            return self._condition.wait_for(lambda: self.sequence >= sequence, seconds)

    def close(self) -> None:
        self._closed.set()
        if self._watch is not None:
            self._watch.wake()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(POLL_SECONDS + RETRY_SECONDS)

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                self._follow()
            except Exception as error:
                self.error = error.line() if isinstance(error, SkillcError) else repr(error)
                self._closed.wait(RETRY_SECONDS)

    def _follow(self) -> None:
        self._watch = watch = self._store.watch()
        try:
            while not self._closed.is_set():
                self._look()
                watch.wait(POLL_SECONDS)
        finally:
            self._watch = None
            watch.close()

    def _look(self) -> None:
        start = monotonic()
        if self._mark is None:
            self._looked_at = start
            self._advance(self._log.find_end(), None)
        while (changes := self._log.read_behind(self._mark or Mark())) != []:
            if changes is None:
                self._advance(self._log.find_end(), None)
            else:
                self._advance(Mark.behind(changes[-1]), changes)
        self._looked_at, self.error = start, ""

    def _advance(self, mark: Mark, changes: Sequence[Change] | None) -> None:
        for listener in self._listeners:
            listener(changes)
        with self._condition:
            self._mark, self.error = mark, ""
            self._condition.notify_all()

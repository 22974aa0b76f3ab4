"""The feed: every change is known at once, in order, also after an outage and in another log."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from skillc.registry import SYSTEM
from skillc.registry.blobs import open_blobs
from skillc.registry.feed import Feed, Log, Mark
from skillc.registry.model import Change
from skillc.registry.store import open_store
from tests.registry.conftest import Clock, Team

WORKER = Path(__file__).parent / "worker.py"
SOON = 20.0  # seconds; a change takes a fraction of one


class Ear:
    """Keeps what a feed tells: numbers, or None where all is to be forgotten."""

    def __init__(self, feed: Feed) -> None:
        self.numbers: list[int | None] = []
        feed.subscribe(self._hear)

    def _hear(self, changes: Sequence[Change] | None) -> None:
        self.numbers += [None] if changes is None else [change.sequence for change in changes]


def test_changes_of_this_process(registry: Team) -> None:
    """[SURFACES: Registry model] a feed starts at the end of the log and tells each change once, in order."""
    registry.release("1.0.0")
    ear = Ear(registry.feed)
    registry.follow()
    assert registry.feed.wait(1, SOON)
    for number in range(2, 12):
        registry.release(f"{number}.0.0")
    assert registry.feed.wait(11, SOON)
    assert ear.numbers == [None, *range(2, 12)]
    assert registry.feed.is_fresh()
    assert registry.follow() is registry.feed
    registry.feed.close()
    registry.release("20.0.0")
    assert not registry.feed.wait(12, 0.1)


def test_changes_of_another_process(registry: Team, store_url: str, tmp_path: Path) -> None:
    """[SURFACES: Registry model] what another process publishes is told, too."""
    registry.follow()
    words = [sys.executable, str(WORKER), store_url, str(tmp_path / "blobs"), "publish", "other", "3"]
    done = subprocess.run(words, input="go\n", capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.count("published") == 3
    assert registry.feed.wait(3, SOON)


def test_many_at_once(registry: Team) -> None:
    """[SURFACES: Registry model] more changes than are read at once come in order."""
    registry.release("1.0.0")
    registry.feed._mark = Mark()
    ear = Ear(registry.feed)
    with registry._store.write() as connection:
        from skillc.registry.store import tables

        change = tables.Transaction(connection, SYSTEM, registry.now())
        for _ in range(2500):
            change.record("test")
    registry.follow()
    assert registry.feed.wait(2501, SOON)
    assert ear.numbers == [*range(1, 2502)]


def test_a_mark_tells_logs_apart(registry: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] a place in a log is not found in another one, or in a shorter one."""
    assert registry.log.find_end() == Mark()
    assert registry.log.read_behind(Mark()) == []
    registry.release("1.0.0")
    mark = registry.log.find_end()
    assert mark.sequence == 1
    assert registry.log.read_behind(mark) == []
    registry.release("2.0.0")
    assert [change.sequence for change in registry.log.read_behind(mark) or []] == [2]
    assert registry.log.read_behind(Mark(1, "another")) is None
    assert registry.log.read_behind(Mark(9, mark.checksum)) is None
    clock.move(days=1)
    registry.release("3.0.0")
    assert registry.log.find_time(clock.now) == 3
    clock.move(hours=-1)
    assert registry.log.find_time(clock.now) == 2


def test_a_restored_store(tmp_path: Path, clock: Clock) -> None:
    """[SURFACES: Registry model] a log that lost its end is another one: listeners forget everything."""
    path, copy = tmp_path / "registry.db", tmp_path / "copy.db"
    with Team(open_store(str(path)), open_blobs(str(tmp_path / "blobs")), clock) as registry:
        registry.release("1.0.0")
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        registry.release("2.0.0")
        ear = Ear(registry.feed)
        registry.follow()
        assert registry.feed.wait(2, SOON)
        with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(path)) as target:
            source.backup(target)
        clock.move(seconds=1)
        registry.release("1.5.0")
        registry.release("1.6.0")
        assert registry.feed.wait(3, SOON)
        assert ear.numbers[:2] == [None, None]
        assert set(ear.numbers[2:]) <= {2, 3}


def test_a_feed_survives_a_bug(registry: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] an error that no one thought of delays a feed, and does not end it."""
    reads = iter([RuntimeError("boom")])
    read = Log.read

    def fail_once(log: Log, since: int, limit: int = 1000) -> list[Change]:
        for error in reads:
            raise error
        return read(log, since, limit)

    monkeypatch.setattr(Log, "read", fail_once)
    registry.follow()
    registry.release("1.0.0")
    assert registry.feed.wait(1, SOON)
    assert next(reads, None) is None

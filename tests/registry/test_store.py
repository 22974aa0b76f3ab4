"""The stores: many publishers at once, processes that are killed, outages, migrations."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from datetime import date
from pathlib import Path

import pytest

from skillc.errors import InvalidOption, RegistryUnavailable, VersionExists
from skillc.registry import SYSTEM, Finder, Registry, Role, open_registry
from skillc.registry.blobs import open_blobs
from skillc.registry.store import open_store, postgres, sqlite
from skillc.registry.store.database import Connection, Store
from skillc.registry.store.migrations import MIGRATIONS, migrate
from skillc.registry.usage import MissSum
from tests.registry.conftest import Clock, Team, package
from tests.support.postgres import Cluster
from tests.support.s3 import BUCKET, S3

DUMPS = Path(__file__).parent / "dumps"
WORKER = Path(__file__).parent / "worker.py"
SOON = 20.0  # seconds; a change takes a fraction of one


def start(url: str, blobs: Path | str, action: str, name: str, count: int) -> subprocess.Popen[str]:
    words = [sys.executable, str(WORKER), url, str(blobs), action, name, str(count)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def finish(process: subprocess.Popen[str]) -> list[str]:
    output, _ = process.communicate("go\n", timeout=120)
    return output.splitlines()


def check_whole(registry: Registry) -> None:
    """Every version can be read with all its files, and the log has one entry for each."""
    published = [
        (c.skill, c.version) for c in registry.changes(SYSTEM, limit=10_000) if c.action == "publish"
    ]
    versions = [version for skill in registry.skills(SYSTEM, limit=10_000) for version in skill.versions]
    assert sorted(published) == sorted((str(version.skill), version.version) for version in versions)
    for version in versions:
        assert registry.read_archive(SYSTEM, version)
        files = registry.files(SYSTEM, version)
        assert files
        assert all(len(registry.read_file(SYSTEM, version, file.path)) == file.size for file in files)
    sequence = [change.sequence for change in registry.changes(SYSTEM, limit=10_000)]
    assert sequence == [*range(1, len(sequence) + 1)]


@pytest.mark.slow
def test_threads_that_publish_at_once(registry: Team) -> None:
    """[SURFACES: Registry model] of many with one number, one has it; without numbers, each has its own."""
    barrier = threading.Barrier(12)

    def publish(name: int) -> list[str]:
        results = []
        barrier.wait()
        for number in range(4):
            try:
                registry.release(f"1.{number}.0", text=f"{name}")
                results.append(f"1.{number}.0")
            except VersionExists:
                pass
            results.append(registry.release("", "team/counted", text=f"{name} {number}").version)
        return results

    with ThreadPoolExecutor(12) as pool:
        results = Counter(version for versions in pool.map(publish, range(12)) for version in versions)
    assert results == Counter([f"1.{n}.0" for n in range(4)] + [f"0.1.{n}" for n in range(48)])
    check_whole(registry)


@pytest.mark.slow
def test_processes_that_publish_at_once(store_url: str, tmp_path: Path, registry: Team) -> None:
    """[SURFACES: Registry model] the same between processes."""
    workers = [start(store_url, tmp_path / "blobs", "publish", f"p{n}", 8) for n in range(3)]
    workers += [start(store_url, tmp_path / "blobs", "number", f"n{n}", 8) for n in range(3)]
    with ThreadPoolExecutor(len(workers)) as pool:
        lines = [line for output in pool.map(finish, workers) for line in output]
    assert len(lines) == 48
    published = Counter(line for line in lines if line.startswith("published"))
    assert set(published.values()) == {1}
    check_whole(registry)
    assert len(registry.skill(SYSTEM, "team/skill").versions) == len(published)


@pytest.mark.slow
def test_killed_while_publishing(store_url: str, tmp_path: Path, registry: Team) -> None:
    """[SURFACES: Registry model] whenever SIGKILL comes, a version is there whole or not at all."""
    process = start(store_url, tmp_path / "blobs", "die", "", 0)
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        for step in range(100):
            process.stdin.write(f"{step}\n")
            process.stdin.flush()
            line = process.stdout.readline()
            check_whole(registry)
            if line != "killed\n":
                break
            assert registry.skills(SYSTEM) == []
        process.stdin.close()
    assert line == "published 0.1.0\n"
    assert step > 10
    assert registry.release("9.0.0", "team/skill").version == "9.0.0"


def test_a_writer_that_raises_leaves_nothing(registry: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] an error undoes all of it; what a reader sees does not change."""
    registry.release("1.0.0")

    def fail(*args: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("skillc.registry.store.tables.set_tag", fail)
    with pytest.raises(RuntimeError):
        registry.release("2.0.0")
    monkeypatch.undo()
    assert [version.version for version in registry.skill(SYSTEM, "payments/refunds").versions] == ["1.0.0"]
    check_whole(registry)
    assert registry.release("2.0.0").version == "2.0.0"
    with registry._store.read() as connection:
        count = "SELECT count(*) FROM versions"
        before = connection.execute(count)
        registry.release("3.0.0")
        assert connection.execute(count) == before
    with registry._store.read() as connection:
        assert connection.execute(count) == [(3,)]


def test_one_first_admin(new_url: str, tmp_path: Path) -> None:
    """[SURFACES: Registry model] servers that start at once migrate once and make one admin."""
    barrier = threading.Barrier(6)

    def start_server(_: int) -> bool:
        barrier.wait()
        with open_registry(new_url, str(tmp_path / "blobs")) as made:
            return made.accounts.create_first_admin() is not None

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(start_server, range(6))) == [False] * 5 + [True]


@pytest.mark.slow
def test_processes_on_postgresql_and_s3(cluster: Cluster, s3: S3) -> None:
    """[SURFACES: Registry model] four processes on one database and one bucket, one killed: all is whole."""
    url, blobs = cluster.create_schema(), f"s3://{BUCKET}/team"
    workers = [start(url, blobs, "number", f"n{n}", 10) for n in range(4)]
    victim = workers.pop()
    assert victim.stdin is not None
    assert victim.stdout is not None
    with ThreadPoolExecutor(len(workers)) as pool:
        outputs = pool.map(finish, workers)
        victim.stdin.write("go\n")
        victim.stdin.flush()
        lines = [victim.stdout.readline(), victim.stdout.readline()]
        victim.kill()
        lines += victim.communicate()[0].splitlines(keepends=True)
        lines += [f"{line}\n" for output in outputs for line in output]
    with Registry(open_store(url), open_blobs(blobs)) as registry:
        check_whole(registry)
        versions = [f"published {each.version}\n" for each in registry.skill(SYSTEM, "team/skill").versions]
    assert len(set(lines)) == len(lines)
    # What was killed may have published one version that it had no time to print.
    assert set(lines) <= set(versions)
    assert len(versions) - len(lines) in (0, 1)


# Backups


@pytest.mark.slow
def test_backup_and_restore(store_cluster: Cluster | None, tmp_path: Path) -> None:
    """[SURFACES: Registry model] a copy of the store and then of the blobs, beside publishers, is whole."""
    url = store_cluster.create_database("") if store_cluster else str(tmp_path / "registry.db")
    is_over = threading.Event()

    def publish_on(registry: Team) -> None:
        while not is_over.is_set():
            registry.release(text=str(time.monotonic_ns()))

    with (
        Team(open_store(url), open_blobs(str(tmp_path / "blobs"))) as registry,
        ThreadPoolExecutor(1) as pool,
    ):
        registry.release("1.0.0")
        busy = pool.submit(publish_on, registry)
        try:
            if store_cluster:
                copy = store_cluster.create_database(store_cluster.dump(url))
            else:
                copy = str(tmp_path / "copy.db")
                with closing(sqlite3.connect(url)) as source, closing(sqlite3.connect(copy)) as target:
                    source.backup(target)
            shutil.copytree(tmp_path / "blobs", tmp_path / "copied", ignore=shutil.ignore_patterns("*#*"))
        finally:
            is_over.set()
        busy.result()
        written = len(registry.skill(SYSTEM, "payments/refunds").versions)
    with open_registry(copy, str(tmp_path / "copied")) as restored_one:
        check_whole(restored_one)
        assert 1 <= len(restored_one.skill(SYSTEM, "payments/refunds").versions) <= written


# Outages


def test_postgresql_that_is_down(cluster: Cluster, capfd: pytest.CaptureFixture[str]) -> None:
    """[SURFACES: Registry model] at the start, one error says why there is no connection."""
    with pytest.raises(RegistryUnavailable, match="Connection refused"):
        open_store("postgresql://me@127.0.0.1:1/x")
    assert capfd.readouterr().err == ""


def crash_within(registry: Registry, cluster: Cluster) -> None:
    with registry._store.write() as connection:
        connection.execute("UPDATE versions SET yanked = ?", "half")
        cluster.stop()
        connection.execute("SELECT 1")


@pytest.mark.slow
def test_postgresql_stops_and_starts(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[SURFACES: Registry model] without its database it is E092, and then goes on without a restart.

    A transaction that it crashes within leaves nothing. The feed and the index say what is wrong, and what is
    indexed is found meanwhile.
    """
    monkeypatch.setattr(postgres, "WAIT_SECONDS", 0.5)
    with Team(open_store(cluster.create_schema()), open_blobs(str(tmp_path / "blobs"))) as registry:
        finder = Finder(registry, str(tmp_path / "index"))
        finder.start()
        registry.release("1.0.0")
        assert registry.feed.wait(1, SOON)
        assert finder.wait(1, SOON)
        try:
            with pytest.raises(RegistryUnavailable):
                crash_within(registry, cluster)
            for operation in (
                lambda: registry.release("2.0.0"),
                lambda: registry.skill(SYSTEM, "payments/refunds"),
                lambda: registry.accounts.create_first_admin(),
                finder.refresh,
            ):
                with pytest.raises(RegistryUnavailable) as caught:
                    operation()
                assert caught.value.line().startswith("error[E092]: registry 'postgresql://")
            end = time.monotonic() + 2 * SOON
            while time.monotonic() < end and not (registry.feed.error and finder.error):
                time.sleep(0.05)
            assert "E092" in registry.feed.error
            assert "E092" in finder.error
            assert not registry.feed.is_fresh()
            assert registry.outage() == registry.feed.error
            assert [skill.id for skill in finder.find(SYSTEM, "refunds")] == ["payments/refunds"]
        finally:
            cluster.start()
        while time.monotonic() < end + SOON:  # a connection of its own may take longer than half a second
            with suppress(RegistryUnavailable):
                assert registry.release("2.0.0").version == "2.0.0"
                break
        assert registry.feed.wait(2, SOON)
        assert finder.wait(2, SOON)
        assert (registry.outage(), finder.error) == ("", "")
        finder.close()
        assert not any(version.yanked for version in registry.skill(SYSTEM, "payments/refunds").versions)
        check_whole(registry)


def test_no_such_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] a server that is not there is one line, without the password."""
    monkeypatch.setattr(postgres, "WAIT_SECONDS", 0.2)
    with pytest.raises(RegistryUnavailable) as caught:
        open_store(f"postgresql://ana:geheim@/registry?host={tmp_path}")
    assert "geheim" not in caught.value.text()
    assert "ana" not in caught.value.text()
    with pytest.raises(RegistryUnavailable) as caught:
        open_store("postgresql://ana:geheim@[broken")
    assert "geheim" not in caught.value.text()


def test_no_such_file(tmp_path: Path) -> None:
    """[SURFACES: Registry model] a file that can't be a store is E092, an address of no kind is E100."""
    (tmp_path / "text").write_text("no database, but text that is long enough to be read as one" * 50)
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "text", tmp_path / "folder", tmp_path / "text" / "below"):
        with pytest.raises(RegistryUnavailable) as caught:
            open_store(str(path))
        assert str(path) in caught.value.line()
    for address in ("mysql://127.0.0.1/x", "sqlite://", ""):
        with pytest.raises(InvalidOption):
            open_store(address)


def fill(registry: Team) -> None:
    for number in range(1, 200):
        registry.release(f"1.{number}.0", text=f"{number}", note="y" * 2000)


def test_a_full_disk(tmp_path: Path) -> None:
    """[SURFACES: Registry model] a database that can't grow is E092, and what was there stays."""
    with Team(open_store(str(tmp_path / "r.db")), open_blobs(str(tmp_path / "blobs"))) as registry:
        registry.release("1.0.0")
        with registry._store.read() as connection:
            ((pages,),) = connection.execute("PRAGMA page_count")
            connection.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(RegistryUnavailable, match="full"):
            fill(registry)
        check_whole(registry)


# Migrations


@contextmanager
def restored(cluster: Cluster | None, tmp_path: Path, number: int = 1) -> Iterator[str]:
    """The address of a store made from the dump of a migration."""
    kind = "postgresql" if cluster else "sqlite"
    text = (DUMPS / f"{number:04}.{kind}.sql").read_text()
    if cluster:
        yield cluster.create_database(text)
        return
    with sqlite3.connect(tmp_path / "old.db") as connection:
        connection.executescript(text)
    connection.close()
    yield str(tmp_path / "old.db")


def schema(store: Store) -> list[object]:
    """What a store has: tables and their columns, in words of its own."""
    with store.read() as connection:
        if store.text_type == "TEXT":
            return [*connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 2")]
        columns = "table_name, column_name, data_type, collation_name, is_nullable"
        where = "table_schema = current_schema()"
        return [
            *connection.execute(
                f"SELECT {columns} FROM information_schema.columns WHERE {where} ORDER BY 1, 2"
            ),
            *connection.execute(
                "SELECT replace(indexdef, current_schema() || '.', '') FROM pg_indexes "
                "WHERE schemaname = current_schema() ORDER BY 1"
            ),
        ]


def test_a_store_of_the_first_migration(
    store_cluster: Cluster | None, tmp_path: Path, new_url: str, clock: Clock
) -> None:
    """[SURFACES: Registry model] a store from a dump of the first migration opens, with all that it held."""
    blobs = open_blobs(str(tmp_path / "blobs"))
    with restored(store_cluster, tmp_path) as url, Registry(open_store(url), blobs, clock) as registry:
        (skill,) = registry.skills(SYSTEM)
        assert [(v.version, v.yanked, v.note) for v in skill.versions] == [
            ("1.1.0", "it pays twice", "déjà vu 🦊"),
            ("1.0.0", None, ""),
        ]
        assert skill.tags == {"latest": "1.1.0", "stable": "1.0.0"}
        assert [file.path for file in registry.files(SYSTEM, skill.resolve())] == [
            "SKILL.md",
            "scripts/run.sh",
        ]
        grants = [(grant.subject, grant.role, grant.prefix) for grant in registry.accounts.grants(SYSTEM)]
        assert grants == [("admin", Role.ADMIN, ""), ("ana", Role.PUBLISHER, "payments")]
        assert [change.sequence for change in registry.changes(SYSTEM)] == [*range(1, 10)]
        secret = "skc_00c0ffee00c0ffee_" + "A" * 43
        assert registry.accounts.authenticate(secret).subject == "ana"
        registry.restore(SYSTEM, "payments/deleted")
        assert registry.publish(SYSTEM, package("payments/refunds")).version == "1.1.1"
        fresh = open_store(new_url)
        assert schema(fresh) == schema(registry._store)
        fresh.close()


def test_a_store_of_the_third_migration(store_cluster: Cluster | None, tmp_path: Path) -> None:
    """[SURFACES: Registry model] reviews, audits and counts of a dump of the third migration are there."""
    blobs = open_blobs(str(tmp_path / "blobs"))
    with restored(store_cluster, tmp_path, 3) as url, Registry(open_store(url), blobs) as registry:
        (waiting,) = registry.queue(SYSTEM)
        assert (waiting.skill, waiting.status, waiting.audit) == ("payments/waiting", "pending", "note")
        assert (registry.audit(SYSTEM, waiting) or {})["findings"] == [{"level": "note"}]
        stats = registry.usage.stats(SYSTEM, since=date(2020, 1, 1))
        assert (stats.count, stats.misses) == (3, (MissSum("", "teleport", 1),))
        assert registry.review(SYSTEM, "payments/waiting", "0.1.0", approve=True).status == "approved"


def test_a_store_of_the_fourth_migration(store_cluster: Cluster | None, tmp_path: Path) -> None:
    """[SURFACES: Registry model] names and origins of a dump of the fourth migration are there."""
    blobs = open_blobs(str(tmp_path / "blobs"))
    with restored(store_cluster, tmp_path, 4) as url, Registry(open_store(url), blobs) as registry:
        ids = ["payments/refunds", "payments/deleted", "payments/waiting"]
        assert registry.read_names("", ids) == {"payments/refunds": "refunds", "payments/deleted": "deleted"}
        assert all(map(registry.was_published_here, ids))


def test_a_store_without_names_and_origins(store_cluster: Cluster | None, tmp_path: Path) -> None:
    """[SURFACES: Registry model] names and origins of an older store follow from what it published first."""

    def publish(
        connection: Connection, skill_id: str, subject: str, token: str = "", **columns: object
    ) -> None:
        ((number,),) = connection.execute("SELECT max(sequence) + 1 FROM changes")
        change = number, number, subject, token, "publish", skill_id, f"1.0.{number}", "{}"
        connection.execute("INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?, ?)", *change)
        if columns.pop("is_gone", False):
            return
        connection.execute("INSERT INTO skills (id) VALUES (?) ON CONFLICT (id) DO NOTHING", skill_id)
        values: dict[str, object] = {"skill": skill_id, "digest": "", "frontmatter": "{}"}
        values |= {"archive": "", "archive_size": 0, "published_at": number, "published_by": subject}
        values |= {"version": f"1.0.{number}", "note": "", "sequence": number, **columns}
        marks = ", ".join("?" * len(values))
        query = f"INSERT INTO versions ({', '.join(values)}) VALUES ({marks})"
        connection.execute(query, *values.values())

    with restored(store_cluster, tmp_path, 3) as url:
        old = open_unmigrated(url)
        with old.write() as connection:
            publish(connection, "b/pdf", "ana")
            publish(connection, "a/pdf", "ana", published_at=0)  # a clock that went back: it was first
            publish(connection, "b/pdf", "mirror of https://evil.example")
            publish(connection, "c/pdf", "mirror of https://example.org", yanked="bad")
            publish(connection, "c/pdf", "ana")
            publish(connection, "b/waiting", "ana", status="pending")
            publish(connection, "d/person", "mirror of a person", "00c0ffee00c0ffee")
            publish(connection, "gone/here", "ana", is_gone=True)
            publish(connection, "gone/mirrored", "mirror of https://example.org", is_gone=True)
        with Registry(open_store(url), open_blobs(str(tmp_path / "blobs"))) as registry:
            ids = ["a/pdf", "b/pdf", "c/pdf", "b/waiting", "payments/refunds", "payments/deleted"]
            expected = {"a/pdf": "pdf", "b/pdf": "b-pdf", "c/pdf": "c-pdf", "payments/refunds": "refunds"}
            assert registry.read_names("", ids) == {**expected, "payments/deleted": "deleted"}
            assert registry.read_names("b", ids) == {"b/pdf": "pdf"}
            here = ["a/pdf", "b/pdf", "b/waiting", "d/person", "gone/here", "payments/deleted"]
            assert all(map(registry.was_published_here, here))
            assert not any(map(registry.was_published_here, ["c/pdf", "gone/mirrored", "nothing"]))
            with old.write() as connection:  # the older program runs beside, until it is upgraded
                publish(connection, "e/pdf", "ana")
                publish(connection, "f/pdf", "mirror of https://example.org")
            assert registry.read_names("", ["e/pdf", "f/pdf"]) == {}
            registry.collect(SYSTEM)
            assert registry.read_names("", ["e/pdf", "f/pdf"]) == {"e/pdf": "e-pdf", "f/pdf": "f-pdf"}
            with old.write() as connection:
                publish(connection, "g/pdf", "ana")
        old.close()
        open_store(url).close()  # as a start does
        with Registry(open_store(url), open_blobs(str(tmp_path / "blobs"))) as registry:
            assert registry.read_names("", ["g/pdf"]) == {"g/pdf": "g-pdf"}
            assert [*map(registry.was_published_here, ["e/pdf", "f/pdf", "g/pdf"])] == [True, False, True]


def open_unmigrated(url: str) -> Store:
    """Open a store as a program did that knew three migrations."""
    kind = postgres.PostgresStore if "://" in url else sqlite.SqliteStore
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{kind.__module__}.migrate", lambda store: migrate(store, MIGRATIONS[:3]))
        return kind(url)


def test_migrations_go_forwards(new_url: str) -> None:
    """[SURFACES: Registry model] a new migration runs once, whole or not at all; a newer store is refused."""
    store = open_store(new_url)
    more = (*MIGRATIONS, ("CREATE TABLE more (a TEXT)", "INSERT INTO more (a) VALUES ('x')"))
    broken = (*more, ("CREATE TABLE broken (a TEXT)", "INSERT INTO nothing (a) VALUES ('x')"))
    with pytest.raises(RegistryUnavailable):
        migrate(store, broken)
    for _ in range(2):
        migrate(store, more)
    with store.read() as connection:
        assert connection.execute("SELECT a FROM more") == [("x",)]
        numbers = [(number,) for number in range(1, len(more) + 1)]
        assert connection.execute("SELECT number FROM migrations ORDER BY 1") == numbers
    store.close()
    with pytest.raises(RegistryUnavailable, match="a newer skillc wrote it"):
        open_store(new_url)


def test_text_is_sorted_bytewise(store_url: str) -> None:
    """[SURFACES: Registry model] both stores sort IDs in one way, whatever the language of the machine."""
    store = open_store(store_url)
    words = ["a", "a-b", "a/b", "a0", "ab", "b"]
    with store.write() as connection:
        connection.execute_many("INSERT INTO skills (id) VALUES (?)", [(word,) for word in reversed(words)])
    with store.read() as connection:
        assert [word for (word,) in connection.execute("SELECT id FROM skills ORDER BY id")] == words
    store.close()

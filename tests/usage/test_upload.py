"""`skc sync --to`: counts of use for a registry, and nothing else."""

from __future__ import annotations

import json
import shutil
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from skillc.registry import SYSTEM, Role
from skillc.registry.usage import MissSum, SectionUse
from tests.conftest import World
from tests.support.http import Stub, page
from tests.support.team import Team

TODAY = datetime.now(UTC).date()


@pytest.fixture
def eve(world: World, team: Team) -> World:
    """A world that may read the registry, and has a skill of it."""
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": team.token("eve", Role.READER)})
    team.publish("payments/refunds", {"banks.md": "# Banks\n\n## Iban\n\nDigits.\n"})
    world.ok("add", f"{team.url}/payments/refunds", "--yes")
    return world


def sync(world: World, url: str, *words: str) -> Any:
    return world.json("sync", "--to", url, *words)


def rows(world: World, url: str, *words: str) -> set[tuple[Any, ...]]:
    """What would be sent: command or query, file, section, count."""
    counts = sync(world, url, "--dry-run", *words)["counts"]
    assert all((each["day"], each["skill"]) == (TODAY.isoformat(), "payments/refunds") for each in counts)
    names = ("command", "query", "file", "section", "count")
    return {tuple(each.get(name, "") for name in names) for each in counts if each.get("command") != "build"}


def use(world: World, count: int = 1) -> None:
    for _ in range(count):
        world.ok("show", "refunds", "--section", "Iban", "--file", "banks.md")


@pytest.mark.slow
def test_what_is_counted(eve: World, team: Team) -> None:
    """[SURFACES: Registry] sections, files and commands count; failures and other skills do not.

    The searches that found nothing are sent with --with-queries alone.
    """
    eve.skill("private")
    eve.ok("show", "private", "--section", "Usage")
    use(eve, 2)
    eve.ok("open", "refunds", "banks.md")
    eve.ok("search", "refunds", "digits")
    eve.ok("search", "refunds", "password of the boss")
    eve.fails("E020", "show", "refunds", "--section", "Secret plan")
    assert rows(eve, team.url) == {
        ("show", "", "banks.md", "Iban", 2),
        ("open", "", "banks.md", "", 1),
        ("search", "", "", "", 2),
        ("", "", "", "", 1),
    }
    text = eve.ok("sync", "--to", team.url, "--dry-run", "--format", "json").stdout
    for secret in ("boss", "private", "Secret", str(eve.root), "digits"):
        assert secret not in text
    eve.ok("search", "refunds", "chargeback")
    eve.ok("search", "refunds", "digits")
    assert ("", "chargeback", "", "", 1) in rows(eve, team.url, "--with-queries")
    assert not any("digits" in row for row in rows(eve, team.url, "--with-queries"))
    assert ("", "", "", "", 2) in rows(eve, team.url)


def test_all_projects_of_the_machine(eve: World, team: Team) -> None:
    """[SURFACES: Registry] several projects, the home and a repository are one sum, but not those that are
    gone.
    """
    use(eve)
    other = eve.root / "other"
    (other / ".skillc").mkdir(parents=True)
    eve.ok("add", f"{team.url}/payments/refunds", "--yes", cwd=other)
    eve.ok("add", f"{team.url}/payments/refunds", "--yes", "--global")
    eve.ok("show", "refunds", "--section", "Iban", "--file", "banks.md", cwd=other)
    eve.ok("show", "refunds", "--section", "Iban", "--file", "banks.md", cwd=eve.home)
    third = eve.root / "third"
    (third / ".skillc").mkdir(parents=True)
    eve.ok("repo", "add", "team", team.url, cwd=third)
    eve.ok("show", "payments/refunds", "--section", "Iban", "--file", "banks.md", cwd=third)
    assert ("show", "", "banks.md", "Iban", 3) in rows(eve, team.url)
    counts = eve.json("sync", "--to", team.url, "--dry-run", cwd=third)
    assert {each["count"] for each in counts["counts"] if each.get("command") == "show"} == {4}
    (other / "skills-lock.json").write_text("{")
    assert ("show", "", "banks.md", "Iban", 2) in rows(eve, team.url)
    shutil.rmtree(other)
    assert ("show", "", "banks.md", "Iban", 2) in rows(eve, team.url)


@pytest.fixture
def notes(eve: World, team: Team, stub: Stub) -> World:
    """The same skill as of a registry that takes counts and keeps a record of what it gets."""
    lock = eve.project / "skills-lock.json"
    lock.write_text(lock.read_text().replace(team.url, stub.url))
    stub.gives(page({"rows": 1, "ignored": 0}))
    return eve


def batches(stub: Stub) -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in stub.requests if request.path == "/usage"]


def test_what_was_sent_is_not_sent_again(notes: World, stub: Stub, team: Team) -> None:
    """[SURFACES: Registry] a day is sent when it changed, as a whole; the machine has one random name.

    Registries can't tell that two names are one machine.
    """
    use(notes)
    assert sync(notes, stub.url)["rows"] == 1
    assert "Nothing new" in notes.ok("sync", "--to", stub.url).stdout
    use(notes)
    assert "Sent 1 count of 1 day to" in notes.ok("sync", "--to", stub.url).stdout
    first, second = batches(stub)
    assert first["machine"] == second["machine"]
    assert len(first["machine"]) == 32
    shows = [[c["count"] for c in batch["counts"] if c["command"] == "show"] for batch in (first, second)]
    assert shows == [[1], [2]]
    assert (notes.home / ".skillc" / "usage.json").stat().st_mode & 0o777 == 0o600
    use(notes)
    sync(notes, stub.url)
    lock = notes.project / "skills-lock.json"
    lock.write_text(lock.read_text().replace(stub.url, f"{stub.url}/second"))
    sync(notes, f"{stub.url}/second")
    machines = {json.loads(request.body)["machine"] for request in stub.requests}
    assert len(machines) == 2


def test_a_note_without_a_digest(notes: World, stub: Stub) -> None:
    """[D64] what an older version noted counts; the new note has a digest, and a change of it is E071."""
    path = notes.home / ".skillc" / "usage.json"
    note = {stub.url: {"machine": "of old", "days": {}}}
    path.write_text(json.dumps({"version": 1, "registries": note}))
    use(notes)
    sync(notes, stub.url)
    assert [batch["machine"] for batch in batches(stub)] == ["of old"]
    path.write_text(path.read_text().replace("of old", "other"))
    notes.fails("E071", "sync", "--to", stub.url)


def test_offline_nothing_is_lost(notes: World, stub: Stub) -> None:
    """[SURFACES: Registry] what could not be sent is sent the next time; an answer without numbers is a
    receipt.
    """
    use(notes)
    stub.gives(page({"error": {"code": "E092", "message": "closed"}}, 500))
    notes.fails("E092", "sync", "--to", stub.url)
    stub.requests.clear()
    stub.gives(page({"rows": 1, "ignored": 0}))
    sync(notes, stub.url)
    assert len(batches(stub)) == 1
    use(notes)
    stub.gives(page(b"[1]"))
    assert sync(notes, stub.url)["ignored"] == 0


def test_days_that_a_registry_takes(notes: World, stub: Stub) -> None:
    """[SURFACES: Registry] each of 20 days is a request; a failure keeps the days before it."""
    use(notes)
    (log,) = (notes.runtime / "refunds").rglob("logs.db")
    change_day(log, 30, TODAY - timedelta(days=19))
    use(notes)
    change_day(log, 31, TODAY - timedelta(days=20))
    use(notes)
    answers = [page({"rows": 1, "ignored": 0}), page({"error": {"code": "E092", "message": "x"}}, 500)]
    stub.answer = lambda request: [answers.pop(0)]
    notes.fails("E092", "sync", "--to", stub.url)
    stub.gives(page({"rows": 1, "ignored": 0}))
    sync(notes, stub.url)
    days = [batch["counts"][0]["day"] for batch in batches(stub)]
    assert days == [(TODAY - timedelta(days=19)).isoformat(), TODAY.isoformat(), TODAY.isoformat()]


def change_day(log: Path, seconds: int, day: Any) -> None:
    """Move all accesses of today that are in a log to another day."""
    connection = sqlite3.connect(log)
    with connection:
        connection.execute(
            "UPDATE access_log SET timestamp = ? WHERE timestamp >= ?",
            (f"{day.isoformat()}T12:00:{seconds}Z", TODAY.isoformat()),
        )
        tables = ("access_kind", "access_place", "access_day", "access_week", "access_mark")
        for table in tables:  # counts of the old days
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.close()


def test_with_queries_after_without(notes: World, stub: Stub) -> None:
    """[SURFACES: Registry] a day that was sent without texts stays so: its searches would count twice."""
    notes.ok("search", "refunds", "chargeback")
    sync(notes, stub.url)
    notes.ok("search", "refunds", "chargeback")
    sync(notes, stub.url, "--with-queries")
    assert [batch["misses"][0].get("query") for batch in batches(stub)] == [None, None]
    assert [batch["misses"][0]["count"] for batch in batches(stub)] == [1, 2]


def test_mistakes(notes: World, stub: Stub) -> None:
    """[SURFACES: Registry] options that do not go together are E100; a damaged note is E071.

    Without a skill of the registry nothing is sent, and it is not even asked.
    """
    for words in (
        ("--with-queries",),
        ("refunds", "--to", stub.url),
        ("--project", ".", "--to", stub.url),
        ("--to", "http://elsewhere.example"),
    ):
        notes.fails("E100", "sync", *words)
    (notes.home / ".skillc" / "usage.json").write_text('{"version": 1, "registries": []}')
    use(notes)
    notes.fails("E071", "sync", "--to", stub.url)
    (notes.home / ".skillc" / "usage.json").unlink()
    notes.ok("remove", "refunds")
    assert "No skill of" in notes.ok("sync", "--to", stub.url).stdout
    assert stub.requests == []


def test_a_real_registry(eve: World, team: Team) -> None:
    """[SURFACES: Registry] the registry adds up what machines send; what is sent twice counts once.

    Counts of a skill that was deleted are ignored; without a token it is E090.
    """
    use(eve, 2)
    eve.ok("search", "refunds", "chargeback")
    first = sync(eve, team.url)
    assert (first["rows"], first["ignored"], first["days"]) == (3, 0, [TODAY.isoformat()])
    use(eve)
    sync(eve, team.url)
    (eve.home / ".skillc" / "usage.json").unlink()  # as if it were another machine
    sync(eve, team.url, "--with-queries")
    stats = team.registry.usage.stats(SYSTEM, "payments/refunds")
    assert (stats.machines, stats.count) == (2, 8)
    assert stats.sections == (SectionUse("payments/refunds", "banks.md", "Iban", 6),)
    assert set(stats.misses) == {
        MissSum("payments/refunds", "", 1),
        MissSum("payments/refunds", "chargeback", 1),
    }
    team.registry.delete(SYSTEM, "payments/refunds")
    use(eve)
    assert sync(eve, team.url)["ignored"] == 3
    eve.ok("logout", team.url)
    use(eve)
    eve.fails("E090", "sync", "--to", team.url)

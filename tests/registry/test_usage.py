"""Usage from many machines: what is taken, what it adds up to, and who is told."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import astuple
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, strategies as st

from skillc.contract import encode
from skillc.errors import InvalidParameter, RegistryRefused
from skillc.registry import SYSTEM, Batch, Count, Role
from skillc.registry.model import Caller, Permission
from skillc.registry.usage import MAX_ROWS, Miss
from tests.registry.conftest import Clock, Team
from tests.support.cases import each

TODAY = date(2026, 11, 16)
ONE, TWO = "1" * 32, "2" * 32


def count(skill: str = "payments/refunds", number: int = 1, day: date = TODAY, **fields: str) -> Count:
    return Count(day, skill, fields.pop("command", "show"), number, **fields)


def rows(sums: Iterable[Any]) -> list[tuple[Any, ...]]:
    return [astuple(each) for each in sums]


@pytest.fixture
def team(registry: Team) -> Team:
    for skill_id in ("payments/refunds", "payments/invoices", "legal/privacy"):
        registry.release("1.0.0", skill_id)
    return registry


def test_sums(team: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] counts of machines add up: by day, skill, section and command."""
    team.usage.record(
        SYSTEM,
        Batch(
            ONE,
            (
                count(number=3, section="Steps", file="SKILL.md"),
                count(number=2, section="Fees"),
                count(day=TODAY - timedelta(days=1), command="open", file="fees.md"),
                count("legal/privacy", 4),
            ),
            (Miss(TODAY, 2, "payments/refunds"), Miss(TODAY, 1, "", "teleport")),
        ),
    )
    team.usage.record(
        SYSTEM, Batch(TWO, (count(number=5, section="Fees"),), (Miss(TODAY, 1, "", "teleport"),))
    )
    stats = team.usage.stats(SYSTEM)
    assert (stats.count, stats.machines) == (15, 2)
    assert rows(stats.days) == [(TODAY - timedelta(days=1), 1), (TODAY, 14)]
    assert rows(stats.skills) == [("payments/refunds", 11), ("legal/privacy", 4)]
    assert rows(stats.sections) == [
        ("payments/refunds", "", "Fees", 7),
        ("payments/refunds", "SKILL.md", "Steps", 3),
        ("payments/refunds", "fees.md", "", 1),
    ]
    assert rows(stats.commands) == [("show", 14), ("open", 1)]
    assert rows(stats.misses) == [("", "teleport", 2), ("payments/refunds", "", 2)]
    one = team.usage.stats(SYSTEM, "payments/refunds", TODAY, limit=1)
    assert (one.count, rows(one.skills), len(one.sections)) == (10, [("payments/refunds", 10)], 1)
    assert team.usage.stats(SYSTEM, "payments").count == 11


def test_sent_twice_counts_once(team: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] a batch that comes again is not added; days and JSON of a batch."""
    batch = Batch(ONE, (count(number=3),), (Miss(TODAY, 2),))
    for _ in range(3):
        assert team.usage.record(SYSTEM, batch).rows == 2
    assert team.usage.stats(SYSTEM).count == 3
    team.usage.record(SYSTEM, Batch(ONE, (count(number=5),)))
    team.usage.record(SYSTEM, batch)
    stats = team.usage.stats(SYSTEM)
    assert (stats.count, rows(stats.misses)) == (5, [("", "", 2)])
    for days in (-30, 2, 365_000):
        with pytest.raises(InvalidParameter, match="day"):
            team.usage.record(SYSTEM, Batch(ONE, (count(day=TODAY + timedelta(days=days)),)))
    before = team.usage.stats(SYSTEM).count
    for days in (-20, -10, 1):
        team.usage.record(SYSTEM, Batch(ONE, (count(day=TODAY + timedelta(days=days)),)))
    assert team.usage.stats(SYSTEM).count == before + 3
    sent = Batch(
        ONE, (count(file="a.md", section="Ü"), count()), (Miss(TODAY, 2), Miss(TODAY, 1, "a/b", "q"))
    )
    assert Batch.parse(json.loads(json.dumps(encode(sent)))) == sent
    assert Batch.parse({"machine": ONE}) == Batch(ONE)


def test_each_caller_its_own(team: Team) -> None:
    """[SURFACES: Registry model] a reader sends and sees counts of the skills it may read, and no others."""
    ana = Caller("ana", (Permission(Role.READER, "payments"),))
    everything = Batch(
        ONE,
        (count(), count("legal/privacy"), count("payments/nothing"), count("payments/invoices")),
        (Miss(TODAY, 1, "", "secret words"),),
    )
    receipt = team.usage.record(ana, everything)
    assert encode(receipt) == {"rows": 3, "ignored": 2}
    team.usage.record(SYSTEM, everything)
    stats = team.usage.stats(ana)
    assert {row.skill for row in stats.skills} == {"payments/refunds", "payments/invoices"}
    assert (stats.count, stats.misses) == (2, ())
    for refused in (
        lambda: team.usage.stats(ana, "legal"),
        lambda: team.usage.record(Caller("none"), everything),
    ):
        with pytest.raises(RegistryRefused):
            refused()
    many = Caller("bo", tuple(Permission(Role.READER, f"team{n}") for n in range(400)))
    assert team.usage.stats(many).count == 0
    team.delete(SYSTEM, "payments/refunds")
    assert rows(team.usage.stats(ana).skills) == [("payments/invoices", 1)]


def test_what_is_kept(team: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] after 30 days machines are not told apart, after 90 queries are gone."""
    for machine in (ONE, TWO):
        team.usage.record(SYSTEM, Batch(machine, (count(number=2),), (Miss(TODAY, 1, "", "teleport"),)))
    clock.move(days=31)
    team.usage.record(SYSTEM, Batch(ONE, (count(day=clock.now.date()),)))
    for _ in range(2):
        team.collect(SYSTEM)
    stats = team.usage.stats(SYSTEM)
    assert (stats.count, stats.machines, rows(stats.misses)) == (5, 1, [("", "teleport", 2)])
    clock.move(days=61)
    team.collect(SYSTEM)
    assert team.usage.stats(SYSTEM).misses == ()
    assert team.usage.stats(SYSTEM).count == 5
    team.delete(SYSTEM, "payments/refunds")
    clock.move(days=31)
    team.collect(SYSTEM)
    with team._store.read() as connection:
        assert connection.execute("SELECT count(*) FROM usage") == [(0,)]
    with pytest.raises(RegistryRefused):
        team.usage.collect(Caller("ana", (Permission(Role.ADMIN, "payments"),)))


def test_rows_are_bounded(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] a machine can't fill the store: too many rows a day are refused whole."""
    monkeypatch.setattr("skillc.registry.usage.MAX_ROWS", 3)
    rows = tuple(count(section=f"s{n}") for n in range(5))
    team.usage.record(SYSTEM, Batch(ONE, rows[:3]))
    team.usage.record(SYSTEM, Batch(ONE, rows[:3]))
    with pytest.raises(InvalidParameter, match="3 rows"):
        team.usage.record(SYSTEM, Batch(ONE, rows[3:]))
    assert team.usage.stats(SYSTEM).count == 3
    team.usage.record(SYSTEM, Batch(TWO, rows[3:]))
    assert team.usage.stats(SYSTEM).count == 5


ROW = {"day": "2026-11-16", "skill": "a/b", "command": "show", "count": 1}


@each(
    "value",
    [
        None,
        [],
        {},
        {"machine": "host.example.org"},
        {"machine": ONE.upper() + "x"},
        {"machine": ONE, "counts": {}},
        {"machine": ONE, "counts": [1]},
        {"machine": ONE, "counts": [ROW] * (MAX_ROWS + 1)},
        *(
            {"machine": ONE, "counts": [ROW | change]}
            for change in (
                {"count": 0},
                {"count": True},
                {"count": 1.5},
                {"count": 10**12},
                {"day": "yesterday"},
                {"day": 20261116},
                {"day": None},
                {"skill": "../b"},
                {"skill": ""},
                {"skill": 1},
                {"command": "rm -rf"},
                {"command": ""},
                {"section": "x" * 301},
                {"section": "\0"},
                {"file": "\ud800"},
                {"query": "text"},
                {"hostname": "x"},
            )
        ),
        {"machine": ONE, "misses": [{"day": "2026-11-16", "count": 1, "query": "x" * 501}]},
        {"machine": ONE, "misses": [{"day": "2026-11-16", "count": 1, "skill": "/"}]},
    ],
)
def test_a_hostile_batch(value: Any) -> None:
    """[SURFACES: Registry model] what is no batch is refused with the place of the fault."""
    with pytest.raises(InvalidParameter):
        Batch.parse(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(),
    lambda inner: (
        st.lists(inner) | st.dictionaries(st.sampled_from([*ROW, "machine", "counts", "misses"]), inner)
    ),
)


@given(JSON)
def test_any_json(value: Any) -> None:
    """[SURFACES: Registry model] whatever comes, it is a batch or an error of ours."""
    wrapped = {"machine": ONE, "counts": [value], "misses": [value]}
    for data in (value, wrapped):
        try:
            assert isinstance(Batch.parse(data), Batch)
        except InvalidParameter:
            pass

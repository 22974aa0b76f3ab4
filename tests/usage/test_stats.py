"""`skc stats`: every grouping and filter, from logs of any origin."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from skillc.cli import AGENT_VARIABLES
from skillc.errors import InvalidFilter, InvalidQueryType
from skillc.library import Skill, resolve, stored_skills
from skillc.usage import (
    GROUPS,
    Filters,
    compute_stats,
    count_by_day,
    find_reads,
    parse_age as age_in_days,
    prune_log,
)
from skillc.usage.log import INSERT, connect
from skillc.usage.schema import create_tables, has_counts
from tests.conftest import World
from tests.support.cases import each
from tests.support.examples import examples
from tests.support.terminal import show_on_terminal
from tests.usage.conftest import PLAIN

NOW = datetime.now(UTC)
Row = tuple[str, str, dict[str, Any], str | None, str]  # time, command, arguments, error, cwd


@pytest.fixture
def skill(world: World) -> Skill:
    world.skill("pdf")
    return resolve("pdf", str(world.project))


def log_of(skill: Skill) -> Path:
    path = Path(skill.runtime()) / ".skillc-meta" / "logs.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def forget(skill: Skill) -> None:
    for path in log_of(skill).parent.glob("logs.db*"):
        path.unlink()


def insert(connection: sqlite3.Connection, skill: Skill, rows: list[Row]) -> None:
    connection.execute("BEGIN")
    for time, command, arguments, error, cwd in rows:
        row = (time, "run", command, skill.name, skill.source, cwd, json.dumps(arguments), error)
        connection.execute(INSERT, row)
    connection.commit()


def note(skill: Skill, rows: list[Row]) -> None:
    """Add rows to a skill's log."""
    with closing(connect(str(log_of(skill)))) as connection:
        create_tables(connection)
        insert(connection, skill, rows)


def note_as_others_do(skill: Skill, rows: list[Row]) -> None:
    """The same by a program that knows nothing of our counts."""
    with closing(sqlite3.connect(log_of(skill))) as connection:
        connection.execute(PLAIN)
        insert(connection, skill, rows)


@pytest.fixture
def noted(skill: Skill) -> Skill:
    """A skill with all kinds of accesses."""
    note(skill, ROWS)
    return skill


ROWS: list[Row] = [
    ("2026-03-01T09:00:00Z", "show", {"section": "Forms", "file": "SKILL.md"}, None, "/w/a"),
    ("2026-03-01T09:00:01Z", "show", {"section": "Forms", "file": "SKILL.md"}, None, "/w/a"),
    ("2026-03-01T09:00:02Z", "show", {"section": "Zebra", "file": "A.md"}, None, "/w/a/b"),
    ("2026-03-01T23:59:59Z", "show", {"section": "Alpha", "file": "SKILL.md"}, None, "/w/ab"),
    ("2026-03-02T00:00:00Z", "show", {"section": "Gone", "file": None}, "section not found: 'Gone'", "/w/a"),
    ("2026-03-02T00:00:00Z", "show", {"section": "Gone", "file": None}, "section not found: 'Gone'", "/w/a"),
    ("2026-03-02T12:00:00Z", "open", {"path": "A.md"}, None, "/w/b"),
    ("2026-03-02T12:00:01Z", "open", {"path": "nothing"}, "file not found: 'nothing'", "/w/b"),
    ("2026-03-03T00:00:00Z", "search", {"query": "b", "result_count": 1}, None, "/w/b"),
    ("2026-03-03T00:00:00Z", "search", {"query": "a", "result_count": 0}, None, "/w/b"),
    ("2026-03-03T00:00:00Z", "search", {"query": "c", "result_count": 2}, None, "/w/b"),
    ("2026-03-03T00:00:01Z", "search", {"query": "c", "result_count": 3}, None, "/w/b"),
    ("2026-03-03T00:00:02Z", "search", {"query": "d", "result_count": 0}, "index unusable", "/w/b"),
    ("2026-03-04T10:00:00Z", "outline", {"level": None}, None, "/w/c"),
    ("2026-03-04T10:00:00Z", "future", {"what": ["ever"]}, None, "/w/c"),
]


# Groups


def test_groups(world: World, skill: Skill) -> None:
    """[RFC-0003] the JSON of each group; without a log, or without a row that passes, it is empty."""
    expected = plain(ROWS, Filters())
    nothing: Any = {"commands": {}, "summary": dict.fromkeys(expected["summary"], 0)}
    for group in GROUPS:
        first = world.json("stats", "pdf", "--group-by", group)
        assert (first["data"], first["period"]) == (nothing.get(group, []), {"start": None, "end": None})
    assert world.json("stats")["data"]["total_accesses"] == 0
    note(skill, ROWS)
    for group in GROUPS:
        assert world.json("stats", "pdf", "--group-by", group) == {
            "skill": "pdf",
            "skill_path": skill.source,
            "query": group,
            "filters": {"since": None, "until": None, "projects": []},
            "period": {"start": "2026-03-01T09:00:00Z", "end": "2026-03-04T10:00:00Z"},
            "data": expected[group],
        }
        for found in (
            Filters.parse("/", "2099-01-01"),
            Filters.parse("/", None, "1999-01-01"),
            Filters.parse("/", "2026-04-01", "2026-02-01"),
            Filters.parse("/", None, None, ["/nowhere"]),
        ):
            stats = compute_stats(skill, group, found)
            assert (stats.data, stats.start, stats.end) == (nothing.get(group, []), None, None)


@each("group", ["searches", "Summary", "", "section", "all"])
def test_unknown_group(world: World, skill: Skill, group: str) -> None:
    """[RFC-0003] [RFC-0005] [RFC-0004:C-LOGGING] E030 with the word that was given."""
    for name in (["pdf"], []):
        stderr = world.fails("E030", "stats", *name, "--group-by", group).stderr
        assert stderr.startswith(f"error[E030]: invalid query type: '{group}'\nhint: ")
    with pytest.raises(InvalidQueryType):
        compute_stats(skill, group)


def test_rows_that_others_wrote(world: World, skill: Skill) -> None:
    """[RFC-0003] arguments that are no JSON, or other JSON, and times that are none, are still accesses."""
    path = log_of(skill)
    note(skill, [])
    strange = ["", "{", "[1]", '"text"', '{"section": 5, "file": {}}', '{"section": "\\ud800"}', "[" * 5000]
    with closing(sqlite3.connect(path)) as connection:
        for args in strange:
            row = ("soon", "r", "show", "pdf", "x", "/w", args, None)
            connection.execute(INSERT, row)
        connection.execute(
            INSERT, ("2026-01-01T10:00:00.123456+00:00", "", "show", "", "", "/w", b"\xff", "")
        )
        connection.commit()
    totals = {"total_accesses": 8, "unique_sections": 1, "unique_files": 0, "error_count": 0}
    assert compute_stats(skill).data == totals
    assert compute_stats(skill, "sections").data == [{"section": "?", "file": "", "count": 1}]
    assert count_by_day([skill]) == [("2026-01-01", 1)]
    assert compute_stats(skill, "commands", Filters.parse("/", "2026-01-01T10:00:00Z")).data == {"show": 1}
    for words in (
        ["--group-by", "sections"],
        ["--group-by", "errors", "--format", "json"],
        ["--html", "x.html"],
    ):
        world.ok("stats", "pdf", *words)


# Filters


@each(
    ("since", "until", "count"),
    [
        ("2026-03-01", None, 15),
        ("2026-03-02", None, 11),
        (None, "2026-03-02", 6),
        ("2026-03-02", "2026-03-02", 2),
        ("2026-03-01T23:59:59Z", "2026-03-02T00:00:00Z", 3),
        ("2026-03-02T00:00:01Z", None, 9),
        (None, "2026-03-01T23:59:58Z", 3),
        ("2026-03-02T01:00:00+01:00", "2026-03-01T19:00:00-05:00", 2),
        ("2026-03-02t00:00:00z", "2026-03-02 00:00:00Z", 2),
        ("2026-03-01T23:59:59.0Z", "2026-03-01T23:59:59.999Z", 1),
        ("2026-03-01T23:59:59.001Z", "2026-03-02T00:00:00Z", 2),
        ("2026-03-01T23:59:58.9999999999Z", "2026-03-01T23:59:59Z", 1),
        ("2026-03-01T23:59:60Z", "2026-03-01T23:59:60Z", 2),
        ("2026-03-02T12:00:01-00:00", "2026-03-02T12:00:01+00:00", 1),
        ("0001-01-01", "9999-12-31T23:59:59Z", 15),
        ("9999-12-31T23:59:59Z", None, 0),
        (None, "0001-01-01", 0),
    ],
)
def test_times(noted: Skill, since: str | None, until: str | None, count: int) -> None:
    """[RFC-0003] dates and RFC 3339, both ends inclusive; a part of a second is not the second before it."""
    found = Filters.parse("/", since, until)
    assert compute_stats(noted, "summary", found).data["total_accesses"] == count
    assert sum(compute_stats(noted, "commands", found).data.values()) == count
    assert sum(entry["count"] for entry in compute_stats(noted, "projects", found).data) == count
    assert sum(number for _, number in count_by_day([noted], found)) == count


@each(
    "time",
    [
        *("yesterday", "", " 2026-03-01", "2026-3-1", "20260301", "2026-W10-1", "2026-13-01", "2026-02-30"),
        *("2026-03-01T25:00:00Z", "2026-03-01T10:00:00", "2026-03-01T10:00Z", "2026-03-01T10:00:00+25:00"),
        *("2026-03-01T10:00:00.Z", "0001-01-01T00:00:00+14:00", "10000-01-01", "٢٠٢٦-٠٣-٠١", "90d"),
    ],
)
def test_bad_times(world: World, skill: Skill, time: str) -> None:
    """[RFC-0003] [RFC-0005] E031 for what is no time, and what to write instead."""
    for since, until in ((time, None), (None, time)):
        with pytest.raises(InvalidFilter) as caught:
            Filters.parse("/", since, until)
        assert caught.value.message == f"invalid filter: '{time}'"
        assert caught.value.details.startswith("hint: write a date (2026-")
    if time == "yesterday":
        for option in ("--since", "--until"):
            stderr = world.fails("E031", "stats", "pdf", option, time).stderr
            assert stderr.startswith("error[E031]: invalid filter: 'yesterday'\nhint: write a date")


def test_filters_reads_and_a_move(world: World, skill: Skill) -> None:
    """[RFC-0003] an answer tells its filters and period; what was read; the log moves with the project."""
    note(skill, ROWS)
    words = ("--since", "2026-03-01T10:00:00+01:00", "--project", ".", "--project", "/w/a")
    found = world.json("stats", "pdf", *words)
    assert found["filters"] == {
        "since": "2026-03-01T09:00:00Z",
        "until": None,
        "projects": [str(world.project), "/w/a"],
    }
    assert found["period"] == {"start": "2026-03-01T09:00:00Z", "end": "2026-03-02T00:00:00Z"}
    shown, opened = find_reads(skill)
    assert shown == {("Forms", "SKILL.md"), ("Zebra", "A.md"), ("Alpha", "SKILL.md")}
    assert opened == {"A.md"}
    assert find_reads(skill, Filters.parse("/", "2026-03-03")) == (set(), set())
    moved = world.root / "moved"
    world.project.rename(moved)
    result = world.json("stats", "pdf", cwd=moved)
    assert result["skill_path"] == str(moved / ".skillc" / "skills" / "pdf")
    assert result["data"]["total_accesses"] == 15


def test_projects(world: World, skill: Skill) -> None:
    """[RFC-0003] the directory or below, canonical; not one that begins alike; repeated means any."""
    work = world.root / "work"
    names = ["app", "app/src", "app/src/deep", "app2", "app-old", "ap", "apple", "App"]
    for name in names:
        (work / name).mkdir(parents=True)
    (world.root / "link").symlink_to(work / "app")
    note(skill, [("2026-03-01T09:00:00Z", "outline", {}, None, str(work / name)) for name in names])

    def found(*projects: str) -> set[str]:
        words = [word for project in projects for word in ("--project", project)]
        data = world.json("stats", "pdf", "--group-by", "projects", *words)["data"]
        return {os.path.relpath(entry["project"], work) for entry in data}

    app = {"app", "app/src", "app/src/deep"}
    assert found(str(work / "app")) == app
    assert found(f"{work}/app/") == app
    assert found(f"{work}//app/./src/..") == app
    assert found(str(world.root / "link")) == app
    assert found("../work/app") == app
    assert found(str(work / "app" / "src")) == {"app/src", "app/src/deep"}
    assert found(str(work / "app2"), str(work / "app" / "src" / "deep")) == {"app2", "app/src/deep"}
    assert found(str(work / "app"), str(work / "app" / "src")) == app
    assert found(str(work)) == set(names)
    assert found("/") >= set(names)
    assert found(str(work / "nothing")) == set()
    stderr = world.fails("E031", "stats", "pdf", "--project=").stderr
    assert stderr == "error[E031]: invalid filter: 'a project is a directory, not nothing'\n"


def test_a_broken_log(world: World, skill: Skill) -> None:
    """[RFC-0003] [RFC-0005] a log that can't be read is told."""
    log_of(skill).write_bytes(b"garbage " * 999)
    result = world.ok("stats", "pdf")
    assert result.stderr == f"warning[W005]: skipped: {log_of(skill)} (it can't be read as an access log)\n"
    assert "total accesses          0" in result.stdout


# Every count against a plain one

START = datetime(2026, 2, 20, tzinfo=UTC)
SECTIONS = [{"section": s, "file": f} for s in ("A", "b", "ä") for f in ("x.md", "Y.md")]
ARGUMENTS: dict[str, list[dict[str, Any]]] = {
    "show": SECTIONS,
    "open": [{"path": "x.md"}, {"path": "z.txt"}],
    "search": [{"query": "q", "result_count": n} for n in (0, 1)] + [{"query": "Q", "result_count": 0}],
    "outline": [{"level": None}],
}
PLACES = ["/w/a", "/w/a/b", "/w/ab", "/w", "/w/a\u00e4", "/v", "/"]
# Seconds from START over five weeks; the ends of days and weeks come often.
seconds = st.one_of(
    st.integers(0, 35 * 86400),
    st.builds(lambda day, by: day * 86400 + by, st.integers(0, 35), st.integers(-1, 1)),
)
accesses = st.builds(
    lambda second, command, pick, error, cwd: (
        stamp(second),
        command,
        ARGUMENTS[command][pick % len(ARGUMENTS[command])],
        error,
        cwd,
    ),
    seconds,
    st.sampled_from(sorted(ARGUMENTS)),
    st.integers(0, 11),
    st.none() | st.none() | st.sampled_from(["e", "f"]),
    st.sampled_from(PLACES),
)
all_filters = st.builds(
    Filters,
    st.none() | seconds.map(lambda second: stamp(second)),
    st.none() | seconds.map(lambda second: stamp(second)),
    st.lists(st.sampled_from([*PLACES, "/nowhere"]), max_size=3).map(tuple),
)


def stamp(second: int) -> str:
    return (START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%SZ")


def plain(rows: list[Row], found: Filters) -> dict[str, Any]:
    """Every group, counted row by row."""
    kept = [
        row
        for row in rows
        if (found.since or "") <= row[0] <= (found.until or "9999")
        and (not found.projects or any(Path(row[4]).is_relative_to(project) for project in found.projects))
    ]
    good = [row for row in kept if row[3] is None]
    sections: Counter[tuple[str, str]] = Counter(
        (a["section"], a["file"]) for _, command, a, _, _ in good if command == "show"
    )
    files = Counter(a.get("file") or a["path"] for _, c, a, _, _ in good if c in ("show", "open"))
    searches = Counter(a["query"] for _, command, a, _, _ in kept if command == "search")
    results: dict[str, list[int]] = {}
    for _, command, a, _, _ in good:
        if command == "search":
            results.setdefault(a["query"], []).append(a["result_count"])
    errors = Counter(
        (a.get("section") or a.get("query") or a.get("path") or "", command, error)
        for _, command, a, error, _ in kept
        if error
    )
    days = Counter(row[0][:10] for row in kept)
    return {
        "summary": {
            "total_accesses": len(kept),
            "unique_sections": len(sections),
            "unique_files": len(files),
            "error_count": sum(errors.values()),
        },
        "sections": [
            {"section": s, "file": f, "count": n}
            for (s, f), n in sorted(sections.items(), key=lambda i: (-i[1], i[0][1], i[0][0]))
        ],
        "files": [{"file": f, "count": n} for f, n in sorted(files.items(), key=lambda i: (-i[1], i[0]))],
        "commands": dict(Counter(row[1] for row in kept)),
        "projects": [
            {"project": p, "count": n}
            for p, n in sorted(Counter(row[4] for row in kept).items(), key=lambda i: (-i[1], i[0]))
        ],
        "errors": [
            {"target": t, "command": c, "error": e, "count": n}
            for (t, c, e), n in sorted(errors.items(), key=lambda i: (-i[1], i[0]))
        ],
        "search": [
            {
                "query": q,
                "count": n,
                "results": max(results.get(q, ()), default=None),
                "empty": results.get(q, []).count(0),
            }
            for q, n in sorted(searches.items(), key=lambda i: (-i[1], i[0]))
        ],
        "offers": [],
        "period": (min((r[0] for r in kept), default=None), max((r[0] for r in kept), default=None)),
        "days": days,
    }


def check(skill: Skill, rows: list[Row], found: Filters) -> None:
    """Every group, every day and the period are what plain counting says."""
    expected = plain(rows, found)
    for group in GROUPS:
        stats = compute_stats(skill, group, found)
        assert stats.data == expected[group], group
        assert (stats.start, stats.end) == expected["period"], group
        assert stats.diagnostics == ()
    days = count_by_day([skill], found)
    assert {day: count for day, count in days if count} == expected["days"]
    assert [day for day, _ in days] == sorted({day for day, _ in days})


@pytest.mark.slow
@examples(60)
@given(st.lists(accesses, max_size=60), st.lists(all_filters, min_size=1, max_size=4))
def test_counts_are_right(skill: Skill, rows: list[Row], several: list[Filters]) -> None:
    """[RFC-0003] for any rows and filters, what the tables of counts say is what the rows say."""
    forget(skill)
    note(skill, rows[:20])
    note(skill, rows[20:])
    for found in (Filters(), *several):
        check(skill, rows, found)


@pytest.mark.slow
@examples(25)
@given(st.lists(accesses, max_size=40), all_filters, st.integers(0, 40))
def test_logs_of_other_programs(skill: Skill, rows: list[Row], found: Filters, before: int) -> None:
    """[RFC-0003] a log without our tables gets them, once, and keeps them when others write on."""
    forget(skill)
    note_as_others_do(skill, rows[:before])
    check(skill, rows[:before], found)
    with closing(sqlite3.connect(log_of(skill))) as connection:
        assert has_counts(connection)
        insert(connection, skill, rows[before:])
    check(skill, rows, found)


def test_counts_that_are_damaged(skill: Skill) -> None:
    """[RFC-0003] damaged counts are counted anew, in as many steps as there are rows."""
    note(skill, ROWS)
    for damage in (
        *("DROP TABLE access_day", "DROP TABLE access_kind", "DROP TABLE access_mark"),
        *("DELETE FROM access_mark", "UPDATE access_mark SET last = last + 1"),
        "UPDATE access_mark SET last = 'x'",
        "CREATE TRIGGER access_counted AFTER INSERT ON access_log BEGIN SELECT 1; END",
        "DROP INDEX access_log_time",
    ):
        with closing(sqlite3.connect(log_of(skill))) as connection:
            connection.executescript(damage)
        check(skill, ROWS, Filters())
        check(skill, ROWS, Filters("2026-03-01T09:00:01Z", None, ("/w/a", "/w/b")))
    with closing(sqlite3.connect(log_of(skill))) as connection:
        connection.execute("UPDATE access_log SET id = -4611686018427387904 WHERE id = 1")
        connection.execute("UPDATE access_mark SET last = 'x'")
        connection.commit()
    check(skill, ROWS, Filters())


@pytest.mark.slow
@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize("folded", [False, True])
def test_read_only_logs(
    world: World, skill: Skill, unprivileged: tuple[str, ...], folded: bool, foreign: bool
) -> None:
    """[RFC-0003] a log that can't be written is read all the same, with what is still in the WAL."""
    (note_as_others_do if foreign else note)(skill, ROWS)
    if not folded and not foreign:  # as a process leaves it that ends without closing
        code = (
            "import os, sys; from skillc.usage.log import append_row;"
            " append_row(sys.argv[1], sys.argv[2:]); os._exit(0)"
        )
        row = ["2026-03-05T00:00:00Z", "r", "outline", "pdf", skill.source, "/w", "{}", ""]
        subprocess.run([sys.executable, "-c", code, str(log_of(skill)), *row], env=world.env, check=True)
    meta = log_of(skill).parent
    for path in [*meta.iterdir(), meta]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    for words in ([], ["--project", "/w"], ["--since", "2026-03-01T09:00:01Z"]):
        result = world.skc("stats", "pdf", *words, "--format", "json", prefix=unprivileged)
        assert (result.returncode, result.stderr) == (0, "")
        total = json.loads(result.stdout)["data"]["total_accesses"]
        assert total == 15 - ("--since" in words) + (not folded and not foreign)
    pruned = world.skc("stats", "pdf", "--prune", "1d", prefix=unprivileged)
    assert pruned.returncode == 1
    assert re.fullmatch(r"error\[E999\]: '.*logs.db' can't be pruned: .*\n", pruned.stderr)


# Whose accesses


def test_a_project_and_the_home_have_it(world: World) -> None:
    """[D13a] [RFC-0003] the project's skill counts its own log, and of the global one only its own."""
    world.skill("pdf")
    world.ok("build", "pdf", "--global")
    world.ok("outline", "pdf")
    world.skill("pdf", store=world.global_store)
    for _ in range(3):
        world.ok("outline", "pdf", cwd=world.home)
    mine = resolve("pdf", str(world.project))
    theirs = resolve("pdf", str(world.home))
    every = Filters(every=True)
    assert compute_stats(mine, "commands").data == {"outline": 1}
    assert compute_stats(mine, "commands", every).data == {"build": 1, "outline": 1}
    assert compute_stats(theirs, "commands", every).data == {"outline": 3}
    assert compute_stats([mine, theirs], "commands", every).data == {"outline": 4, "build": 1}


@pytest.mark.slow
def test_people_are_counted_apart(world: World) -> None:
    """[RFC-0003] what an author does is not use: build, lint, stats, and what is typed at a terminal."""
    world.skill("pdf")
    for words in (["build", "pdf"], ["lint", "pdf"], ["stats", "pdf"], ["outline", "pdf"]):
        world.ok(*words)
    person = dict.fromkeys(AGENT_VARIABLES, "")
    show_on_terminal(world, "show", "pdf", "--section", "Usage", env=person, has_input=True)
    show_on_terminal(world, "show", "pdf", "--section", "Usgae", env=person, has_input=True)
    agent = {**person, "CLAUDECODE": "1"}
    show_on_terminal(world, "sources", "pdf", env=agent, has_input=True)

    def data(group: str, *words: str) -> Any:
        return world.json("stats", "pdf", "--group-by", group, *words)["data"]

    assert data("commands") == {"outline": 1, "sources": 1}
    assert data("summary")["error_count"] == 0
    assert data("sections") == []
    everything = data("commands", "--all")
    assert everything["terminal show"] == 2
    assert everything["build"] == everything["lint"] == 1
    assert data("sections", "--all") == [{"section": "Usage", "file": "SKILL.md", "count": 1}]
    days = Filters.parse("/", "2026-01-01T00:00:01Z")  # whole days and parts of one
    assert compute_stats(resolve("pdf", str(world.project)), "commands", days).data == {
        "outline": 1,
        "sources": 1,
    }


def test_all_skills(world: World, noted: Skill) -> None:
    """[RFC-0003] without a skill: the totals of all, as JSON and as text with each skill's share.

    Skills that were not used are one line, and `--limit` lists them.
    """
    world.skill("other", store=world.global_store)
    for name in ("brown", "green"):
        world.skill(name)
    note(resolve("other", str(world.project)), ROWS[:3])
    value = world.json("stats")
    assert (value["skill"], value["skill_path"]) == (None, None)
    # a section of one skill is not that of another
    counts = {"total_accesses": 18, "unique_sections": 5, "unique_files": 4, "error_count": 4}
    assert value["data"] == counts
    sections = ("--group-by", "sections")
    first = {"skill": "pdf", "section": "Forms", "file": "SKILL.md", "count": 2}
    assert world.json("stats", *sections)["data"][0] == first
    lines = world.ok("stats").stdout.splitlines()
    assert lines[:5] == [
        "Summary of all skills, 2026-03-01T09:00:00Z to 2026-03-04T10:00:00Z",
        "  total accesses         18",
        "  unique sections         5",
        "  unique files            4",
        "  error count             4",
    ]
    last = "skills without use: --limit 4 lists all"
    assert lines[6:] == ["  15  pdf", "   3  other", "  18 in all", f"  2 {last}"]
    assert world.ok("stats", "--limit", "3").stdout.splitlines()[8:] == [
        "   0  brown",
        "  18 in all",
        f"  1 {last.replace('skills', 'skill')}",
    ]
    assert world.ok("stats", "-l", "4").stdout.endswith("   0  brown\n   0  green\n  18 in all\n")
    assert world.ok("stats", *sections, "--limit", "1").stdout.splitlines()[1:] == [
        "  2  pdf  Forms  SKILL.md",
        "  7 in all",
        "  4 more: --limit 5 shows them, too",
    ]
    assert len(world.json("stats", *sections, "--limit", "1")["data"]) == 5  # JSON has them all
    assert compute_stats(list(stored_skills(str(world.project)))).data["total_accesses"] == 18


# For people


def test_text(world: World, skill: Skill) -> None:
    """[RFC-0003] [D60] text says what the JSON says, then the total; no bars without a terminal.

    There are 50 rows where no limit is given; what agents sent begins no line.
    """
    note(skill, ROWS)
    period = "2026-03-01T09:00:00Z to 2026-03-04T10:00:00Z"
    assert world.ok("stats", "pdf", "--group-by", "sections").stdout == (
        f"Sections of 'pdf', {period}\n"
        "  2  Forms  SKILL.md\n  1  Zebra  A.md\n  1  Alpha  SKILL.md\n  4 in all\n"
    )
    assert world.ok("stats", "pdf", "--group-by", "errors", "--until", "2026-03-02T23:59:59Z").stdout == (
        "Errors of 'pdf', 2026-03-01T09:00:00Z to 2026-03-02T12:00:01Z\n"
        "  2  Gone  show  section not found: 'Gone'\n"
        "  1  nothing  open  file not found: 'nothing'\n"
        "  3 in all\n"
    )
    assert (
        world.ok("stats", "pdf", "--group-by", "search", "--since", "2027-01-01").stdout
        == "Search of 'pdf'\n  nothing yet\n"
    )
    forget(skill)
    names = [{"section": f"Part {number}", "file": "SKILL.md"} for number in range(60)]
    note(skill, [("2026-03-01T09:00:00Z", "show", name, None, "/w/a") for name in names])
    lines = world.ok("stats", "pdf", "--group-by", "sections").stdout.splitlines()
    assert len(lines) == 1 + 50 + 2
    assert lines[-2:] == ["  60 in all", "  10 more: --limit 60 shows them, too"]
    note(skill, [("2026-03-01T09:00:00Z", "search", {"query": "a\n\x1b[31mb\r"}, None, "/w")])
    searches = world.ok("stats", "pdf", "--group-by", "search").stdout.splitlines()
    assert searches[1] == "  1  a\\n\\x1b[31mb\\r"


@pytest.mark.slow
def test_results_of_searches(world: World) -> None:
    """[RFC-0003] searches with their counts, and those that found nothing: as text, JSON and on the page."""
    world.skill("pdf")
    world.fails("E002", "search", "pdf", "text")
    world.ok("build", "pdf")
    for query in ("text", "text", "zebra", "text zebra"):
        world.ok("search", "pdf", query)
    (world.store / "pdf" / "SKILL.md").write_text("---\nname: pdf\ndescription: d\n---\n# pdf\n\nGone.\n")
    world.ok("build", "pdf")
    world.ok("search", "pdf", "text")
    assert world.ok("stats", "pdf", "--group-by", "search").stdout.splitlines()[1:] == [
        "  4  text  (up to 2 results, none in 1 of 4)",
        "  1  text zebra  (no results)",
        "  1  zebra  (no results)",
        "  6 in all",
    ]
    assert world.json("stats", "pdf", "--group-by", "search")["data"] == [
        {"query": "text", "count": 4, "results": 2, "empty": 1},
        {"query": "text zebra", "count": 1, "results": 0, "empty": 1},
        {"query": "zebra", "count": 1, "results": 0, "empty": 1},
    ]
    world.ok("stats", "pdf", "--html", "page.html")
    assert "<small><bdi>no results</bdi></small>" in (world.project / "page.html").read_text()


def test_result_counts_of_other_writers(skill: Skill) -> None:
    """[RFC-0003] a count that is none is not known."""
    for count in ("many", None, True, 1.5, [3]):
        found = {"query": repr(count), "result_count": count}
        note(skill, [("2026-03-01T09:00:00Z", "search", found, None, "/w")])
    rows = compute_stats(skill, "search").data
    assert [(row["count"], row["results"], row["empty"]) for row in rows] == [(1, None, 0)] * 5


def on_a_terminal(world: World, *words: str, columns: int = 60, **env: str) -> str:
    """What `skc stats` shows on a terminal of so many columns."""
    return show_on_terminal(world, "stats", *words, columns=columns, env={"NO_COLOR": "1"} | env)


@pytest.mark.slow
def test_bars(world: World, skill: Skill) -> None:
    """[RFC-0003] on a terminal: bars in proportion, as wide as it is, the longest labels cut."""
    rows: list[Row] = [
        ("2026-03-01T09:00:00Z", "search", {"query": query}, None, "/w")
        for query, count in (("forms", 40), ("日本語", 20), ("long " * 30, 10), ("rare", 1))
        for _ in range(count)
    ]
    note(skill, rows)
    lines = [line for line in on_a_terminal(world, "pdf", "--group-by", "search").splitlines() if "█" in line]
    assert [line.count("█") for line in lines] == [12, 6, 3, 1]
    assert len(lines[0]) <= 60
    assert lines[0].index("█") == lines[2].index("█") == lines[3].index("█")
    assert lines[1].index("█") == lines[0].index("█") - 3  # letters that take two cells each
    assert "long long" in lines[2]
    assert "…" in lines[2]
    narrow = on_a_terminal(world, "pdf", "--group-by", "search", columns=20)
    assert "█" not in narrow
    assert "forms" in narrow
    assert "█" in on_a_terminal(world, "pdf", "--group-by", "search", columns=0)
    assert "█" in on_a_terminal(world)


@pytest.mark.slow
def test_a_terminal_that_is_not_utf8(world: World, skill: Skill) -> None:
    """[RFC-0003] bars of what it has, and letters that it hasn't written out."""
    note(skill, [("2026-03-01T09:00:00Z", "search", {"query": "日"}, None, "/w")])
    words = ("pdf", "--group-by", "search")
    for encoding in ("ascii", "latin-1", "cp1252"):
        shown = on_a_terminal(world, *words, PYTHONIOENCODING=encoding)
        assert "\\u65e5" in shown
        assert "#" * 20 in shown
        assert "\\u2588" not in shown
        (row,) = world.json("stats", *words, env={"PYTHONIOENCODING": encoding})["data"]
        assert row["query"] == "日"


# Pruning


def ago(**age: int) -> str:
    return (NOW - timedelta(**age)).strftime("%Y-%m-%dT%H:%M:%SZ")


def sums(skill: Skill) -> set[int]:
    """How many accesses each table says there are, once the new ones are counted."""
    with closing(connect(str(log_of(skill)))) as connection:
        create_tables(connection)
        return {
            connection.execute(f"SELECT coalesce(sum({what}), 0) FROM {table} WHERE {where}").fetchone()[0]
            for what, table, where in (
                ("1", "access_log", "1"),
                ("count", "access_day", "place = 0"),
                ("count", "access_day", "place > 0"),
                ("count", "access_week", "place = 0"),
                ("count", "access_week", "place > 0"),
            )
        }


@each(
    ("age", "left"),
    [("90d", 5), ("89d", 4), ("12w", 4), ("3m", 5), ("1y", 6), ("2y", 7), ("0d", 1), ("99999y", 7)],
)
def test_prune(world: World, skill: Skill, age: str, left: int) -> None:
    """[RFC-0003] what is older than so many whole days goes, from the rows and from every count."""
    forget(skill)
    days = (0, 1, 30, 80, 90, 100, 400)
    rows: list[Row] = [(ago(days=n), "show", {"section": str(n), "file": "f"}, None, f"/w/{n}") for n in days]
    note(skill, rows)
    entries = "1 entry" if left == 6 else f"{7 - left} entries"
    assert world.ok("stats", "--prune", age).stdout == f"Removed {entries} of 1 skill\n"
    assert sums(skill) == {left}
    assert len(compute_stats(skill, "sections").data) == len(compute_stats(skill, "projects").data) == left
    check(skill, rows[:left], Filters())
    assert world.ok("stats", "--prune", age).stdout == "Removed 0 entries of 1 skill\n"
    with closing(sqlite3.connect(log_of(skill))) as connection:
        for table in ("access_kind", "access_place"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (left,)


def test_rows_after_a_prune_of_all(world: World, skill: Skill) -> None:
    """[RFC-0003] new rows get the numbers of removed ones, and are counted all the same."""
    old: list[Row] = [(ago(days=50 + n), "outline", {"level": None}, None, "/w") for n in range(4)]
    note(skill, old)
    assert world.ok("stats", "--prune", "30d").stdout == "Removed 4 entries of 1 skill\n"
    new: list[Row] = [(ago(hours=1), "outline", {"level": None}, None, "/w")] * 2
    note(skill, new)
    check(skill, new, Filters())
    assert sums(skill) == {2}


@each("age", ["", "d", "90", "90x", "-1d", "1.5y", "90 d", "x90d", "９d", "123456d", "1e3d"])
def test_prune_nonsense(world: World, noted: Skill, age: str) -> None:
    """[RFC-0003] [RFC-0005] E031 for what is no age, and nothing is removed."""
    with pytest.raises(InvalidFilter) as caught:
        age_in_days(age)
    assert caught.value.message == f"invalid filter: '{age}'"
    assert caught.value.details == "hint: write an age: 90d, 12w, 6m or 2y"
    if age in ("", "90x"):
        assert world.fails("E031", "stats", f"--prune={age}").stderr == f"{caught.value.text()}\n"
        assert sums(noted) == {15}


def test_prune_one_skill(world: World, noted: Skill) -> None:
    """[RFC-0003] [RFC-0005] only the one that is named, which is noted; as JSON too; a filter is refused."""
    world.skill("other")
    other = resolve("other", str(world.project))
    note(other, ROWS)
    for words in (["--since", "2026-01-01"], ["--project", "."], ["--html", "x.html"]):
        world.fails("E100", "stats", "pdf", "--prune", "1d", *words)
    assert sums(noted) == {15}
    assert world.json("stats", "pdf", "--prune", "1d") == {"removed": {"pdf": 15}}
    assert sums(noted) == {1}
    assert sums(other) == {15}


@pytest.mark.slow
@examples(25)
@given(st.lists(accesses, max_size=40), st.integers(0, 40), all_filters)
def test_prune_any(skill: Skill, rows: list[Row], days: int, found: Filters) -> None:
    """[RFC-0003] wherever in a week the cut is made, the counts are those of the rows that stay."""
    forget(skill)
    note(skill, rows)
    cut = START + timedelta(days=days)
    removed = prune_log(str(log_of(skill)), (datetime.now(UTC).date() - cut.date()).days)
    left = [row for row in rows if row[0] >= stamp(days * 86400)]
    assert removed == len(rows) - len(left)
    check(skill, left, found)
    assert sums(skill) == {len(left)}


@pytest.mark.slow
def test_prune_shortens_the_file(world: World, skill: Skill) -> None:
    """[RFC-0003] the room is given back, and other processes write meanwhile and after."""
    rows: list[Row] = [(ago(days=n % 400), "show", {"section": str(n)}, None, "/w") for n in range(30_000)]
    note(skill, rows)
    path = log_of(skill)
    before = path.stat().st_size
    writer = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import os, sys\n"
            "from skillc.library import resolve\n"
            "from skillc.usage import record_access\n"
            "skill = resolve('pdf', os.getcwd())\n"
            "for n in range(300): assert record_access(skill, 'outline', {}, None, os.getcwd()) == ()",
        ],
        cwd=world.project,
        env=world.env,
    )
    world.ok("stats", "--prune", "30d")
    assert writer.wait(timeout=60) == 0
    world.ok("outline", "pdf")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert path.stat().st_size < before / 4
    assert sums(skill) == {sum(n % 400 <= 30 for n in range(30_000)) + 301}
    assert not (world.project / ".skillc" / "logs").exists()

"""`skc sync`: accesses that were logged beside a project go to where they belong."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from skillc.library import resolve
from skillc.usage import compute_stats, sync_logs
from skillc.usage.log import COLUMNS, INSERT
from tests.conftest import World
from tests.usage.conftest import PLAIN

NOTHING = "No local logs to sync\n"


def fallback(project: Path, name: str = "pdf") -> Path:
    return project / ".skillc" / "logs" / name / ".skillc-meta" / "logs.db"


def primary(runtime: Path, name: str = "pdf") -> Path:
    return runtime / name / ".skillc-meta" / "logs.db"


def rows(path: Path) -> list[tuple[str | None, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT {COLUMNS} FROM access_log ORDER BY id").fetchall()


def entry(
    number: int, name: str = "pdf", folder: str = "/gone/pdf", cwd: str = "/w"
) -> tuple[str | None, ...]:
    return (f"2026-03-01T10:00:{number:02}Z", "run", "outline", name, folder, cwd, "{}", None)


def leave(project: Path, name: str, entries: list[tuple[str | None, ...]]) -> Path:
    """A fallback log as another program would have left it."""
    path = fallback(project, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(PLAIN)
        connection.executemany(INSERT, entries)
        connection.commit()
    return path


def in_the_way(world: World) -> Path:
    """A file where the runtime store belongs, so that logs go to the fallback."""
    path = world.runtime
    path.write_text("in the way")
    return path


def test_sync(world: World) -> None:
    """[RFC-0007] what a session left goes into the skill's log, exactly as it was; the local log goes."""
    world.skill("pdf")
    obstacle = in_the_way(world)
    for words in (["outline", "pdf"], ["sources", "pdf"]):
        world.ok(*words, env={"SKC_RUN_ID": "session"})
    world.fails("E021", "open", "pdf", "nothing")
    left = rows(fallback(world.project))
    assert [row[2] for row in left] == ["outline", "sources", "open"]
    obstacle.unlink()
    result = world.ok("sync")
    assert (result.stdout, result.stderr) == ("Synced 3 entries for 'pdf' (local logs removed)\n", "")
    assert rows(primary(world.runtime)) == left
    assert not fallback(world.project).parent.parent.exists()
    assert world.ok("sync").stdout == NOTHING
    skill = resolve("pdf", str(world.project))
    assert compute_stats(skill).data["total_accesses"] == 3
    assert compute_stats(skill, "errors").data[0]["target"] == "nothing"


def test_nothing_to_do(world: World) -> None:
    """[RFC-0007] [RFC-0005] no logs directory, an empty one, one with other things in it.

    Of several only the one that is named; E040 where it has nothing.
    """
    assert world.ok("sync").stdout == NOTHING
    (world.project / ".skillc" / "logs" / "pdf" / ".skillc-meta").mkdir(parents=True)
    (world.project / ".skillc" / "logs" / "file").touch()
    assert world.ok("sync").stdout == NOTHING
    assert world.ok("sync", "--project", "/nonexistent").stdout == NOTHING
    assert world.json("sync") == {"synced": [], "failed": [], "dry_run": False}
    for name, count in (("pdf", 2), ("rust", 3)):
        world.skill(name)
        leave(world.project, name, [entry(n, name) for n in range(count)])
    assert world.ok("sync", "rust").stdout == "Synced 3 entries for 'rust' (local logs removed)\n"
    assert fallback(world.project, "pdf").exists()
    for name in ("rust", "nowhere", "../pdf", "", "."):
        assert world.fails("E040", "sync", name).stderr == "error[E040]: no local logs found\n"
    assert world.fails("E040", "sync", "rust", "--dry-run").stderr == "error[E040]: no local logs found\n"
    assert len(rows(fallback(world.project, "pdf"))) == 2


def test_several_and_json(world: World) -> None:
    """[RFC-0007] by name, which may be any, on one line; as JSON; --project names another directory."""
    for name, count in (("rust", 47), ("cuda", 12)):
        world.skill(name)
        leave(world.project, name, [entry(n, name) for n in range(count)])
    elsewhere = world.root / "elsewhere"
    elsewhere.mkdir()
    assert world.json("sync", "--project", str(world.project), "--dry-run", cwd=elsewhere) == {
        "synced": [
            {"id": "cuda", "skill": "cuda", "entries": 12},
            {"id": "rust", "skill": "rust", "entries": 47},
        ],
        "failed": [],
        "dry_run": True,
    }
    name = "a\n\x1b[31mb"
    leave(world.project, name, [entry(0, name)])
    leave(world.project, os.fsdecode(b"caf\xe9"), [entry(0)])
    assert world.ok("sync", "--project", "../project", cwd=elsewhere).stdout == (
        "Synced 1 entry for 'a\\n\\x1b[31mb' (local logs removed)\n"
        "Synced 1 entry for 'caf\\udce9' (local logs removed)\n"
        "Synced 12 entries for 'cuda' (local logs removed)\n"
        "Synced 47 entries for 'rust' (local logs removed)\n"
    )


def test_rows_that_are_there(world: World) -> None:
    """[RFC-0007] moved entries are skipped, equal ones are not lost; --dry-run moves nothing."""
    world.skill("pdf")
    twice = [entry(0), entry(0), entry(1)]
    leave(world.project, "pdf", twice)
    assert world.ok("sync").stdout == "Synced 3 entries for 'pdf' (local logs removed)\n"
    leave(world.project, "pdf", twice)
    assert world.ok("sync").stdout == "Synced 0 entries for 'pdf' (local logs removed)\n"
    leave(world.project, "pdf", [entry(0), entry(0), entry(0), entry(2)])
    assert world.ok("sync").stdout == "Synced 2 entries for 'pdf' (local logs removed)\n"
    assert sorted(rows(primary(world.runtime))) == sorted([*[entry(0)] * 3, entry(1), entry(2)])
    assert compute_stats(resolve("pdf", str(world.project))).data["total_accesses"] == 5
    path = leave(world.project, "pdf", [entry(10 + n) for n in range(3)])
    before = path.read_bytes()
    for _ in range(2):
        assert world.ok("sync", "--dry-run").stdout == "Would sync 3 entries for 'pdf'\n"
        assert world.ok("sync", "pdf", "--dry-run").stdout == "Would sync 3 entries for 'pdf'\n"
    assert path.read_bytes() == before
    assert len(rows(primary(world.runtime))) == 5
    world.ok("sync")
    leave(world.project, "pdf", [entry(10 + n) for n in range(5)])
    assert world.ok("sync", "--dry-run").stdout == "Would sync 2 entries for 'pdf'\n"
    assert world.ok("sync").stdout == "Synced 2 entries for 'pdf' (local logs removed)\n"


def test_each_skill_alone(world: World) -> None:
    """[RFC-0007] [RFC-0005] one that can't be read (E042) or written (E041) keeps no other; status 1."""
    for name in ("a", "b", "c", "d"):
        world.skill(name)
        leave(world.project, name, [entry(n, name) for n in range(2)])
    fallback(world.project, "b").write_bytes(b"garbage " * 1000)
    primary(world.runtime, "c").parent.mkdir(parents=True)
    primary(world.runtime, "c").mkdir()
    result = world.skc("sync")
    assert result.returncode == 1
    assert result.stdout == (
        "Synced 2 entries for 'a' (local logs removed)\nSynced 2 entries for 'd' (local logs removed)\n"
    )
    assert result.stderr == (
        f"error[E042]: sync source not readable: '{fallback(world.project, 'b')}'\n"
        f"error[E041]: sync destination not writable: '{primary(world.runtime, 'c')}'\n"
    )
    assert fallback(world.project, "b").read_bytes() == b"garbage " * 1000
    assert len(rows(fallback(world.project, "c"))) == 2
    again = world.skc("sync", "--format", "json")
    assert again.returncode == 1
    assert [error["code"] for error in json.loads(again.stdout)["failed"]] == ["E042", "E041"]
    assert json.loads(again.stdout)["synced"] == []


def test_a_destination_that_is_no_log(world: World) -> None:
    """[RFC-0007] [RFC-0005] E041, also by a dry run, and nothing is lost."""
    world.skill("pdf")
    leave(world.project, "pdf", [entry(0)])
    path = primary(world.runtime)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"garbage " * 1000)
    world.fails("E041", "sync")
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE access_log (what)")
    world.fails("E041", "sync")
    world.fails("E041", "sync", "--dry-run")
    assert rows(fallback(world.project)) == [entry(0)]


def test_closed_files(world: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0007] [RFC-0005] E041 for a destination that is not writable, E042 for a source that is not
    readable.
    """
    world.skill("pdf")
    world.ok("build", "pdf")
    leave(world.project, "pdf", [entry(0)])
    meta = primary(world.runtime).parent
    for path in [*meta.iterdir(), meta]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    stderr = world.fails("E041", "sync", prefix=unprivileged).stderr
    assert stderr == f"error[E041]: sync destination not writable: '{primary(world.runtime)}'\n"
    assert rows(fallback(world.project)) == [entry(0)]
    fallback(world.project).chmod(0)
    stderr = world.fails("E042", "sync", prefix=unprivileged).stderr
    assert stderr == f"error[E042]: sync source not readable: '{fallback(world.project)}'\n"


@pytest.mark.slow
def test_read_only_source(world: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0007] a local log that can't be removed: its entries arrive, once, and it is said."""
    world.skill("pdf", store=world.global_store)
    leave(world.project, "pdf", [entry(0)])
    logs = world.project / ".skillc" / "logs"
    for path in [*logs.rglob("*"), logs]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    for moved in ("1 entry", "0 entries"):
        stderr = world.fails("E999", "sync", prefix=unprivileged).stderr
        assert stderr == (f"error[E999]: synced {moved} for 'pdf', but '{logs / 'pdf'}' can't be removed\n")
    assert rows(primary(world.home / ".skillc" / "runtime")) == [entry(0)]


def test_an_empty_log(world: World) -> None:
    """[RFC-0007] what a process leaves that was killed before it could write."""
    world.skill("pdf")
    path = fallback(world.project)
    for has_header in (False, True):
        path.parent.mkdir(parents=True)
        path.touch()
        if has_header:
            with closing(sqlite3.connect(path)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
        assert world.ok("sync").stdout == "Synced 0 entries for 'pdf' (local logs removed)\n"
        assert not path.exists()


# Where entries belong


def test_skills_that_vanished(world: World) -> None:
    """[RFC-0007] the log of a skill that is gone is in its project or the home; others need neither."""
    gone = world.root / "other" / ".skillc" / "skills" / "pdf"
    gone.parent.mkdir(parents=True)
    leave(
        world.project, "pdf", [entry(0, folder=str(gone)), entry(1, folder="/gone/pdf"), entry(2, folder="")]
    )
    assert world.ok("sync").stdout == "Synced 3 entries for 'pdf' (local logs removed)\n"
    assert rows(primary(world.root / "other" / ".skillc" / "runtime")) == [entry(0, folder=str(gone))]
    assert len(rows(primary(world.home / ".skillc" / "runtime"))) == 2
    world.skill("rust")
    leave(world.project, "pdf", [entry(0)])
    leave(world.project, "rust", [entry(0, "rust")])
    result = world.skc("sync", env={"HOME": ""})
    assert result.returncode == 1
    assert result.stdout == "Synced 1 entry for 'rust' (local logs removed)\n"
    assert result.stderr == "error[E999]: there is no home directory; set HOME or SKILLC_HOME\n"
    assert rows(fallback(world.project, "pdf")) == [entry(0)]


def test_a_linked_skill(world: World) -> None:
    """[RFC-0007] a store's link to a folder elsewhere: the log is the store's."""
    folder = world.skill("pdf", store=world.root / "lib")
    (world.store / "pdf").symlink_to(folder)
    obstacle = in_the_way(world)
    world.ok("outline", "pdf")
    obstacle.unlink()
    world.ok("sync")
    world.ok("outline", "pdf")
    assert len(rows(primary(world.runtime))) == 2


def test_skills_of_one_name(world: World) -> None:
    """[D13a] [RFC-0007] entries go to the log of each skill, which is where its runtime is."""
    world.skill("pdf")
    world.ok("build", "pdf", "--global")
    leave(world.project, "pdf", [entry(0)])
    world.ok("sync")
    assert entry(0) in rows(primary(world.home / ".skillc" / "runtime"))
    assert not primary(world.runtime).exists()
    shutil.rmtree(world.home / ".skillc" / "runtime")
    mine = world.skill("pdf")
    theirs = world.skill("pdf", store=world.global_store)
    leave(world.project, "pdf", [entry(0, folder=str(mine)), entry(1, folder=str(theirs))])
    assert world.ok("sync").stdout == "Synced 2 entries for 'pdf' (local logs removed)\n"
    assert rows(primary(world.runtime)) == [entry(0, folder=str(mine))]
    assert rows(primary(world.home / ".skillc" / "runtime")) == [entry(1, folder=str(theirs))]


def test_into_a_log_of_others(world: World) -> None:
    """[RFC-0007] a log that another program made takes them too."""
    world.skill("pdf")
    path = primary(world.runtime)
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(PLAIN)
        connection.execute(INSERT, entry(0))
        connection.commit()
    leave(world.project, "pdf", [entry(0), entry(1)])
    assert world.ok("sync").stdout == "Synced 1 entry for 'pdf' (local logs removed)\n"
    assert rows(path) == [entry(0), entry(1)]
    assert compute_stats(resolve("pdf", str(world.project))).data["total_accesses"] == 2


@pytest.mark.slow
def test_while_others_write(world: World) -> None:
    """[RFC-0007] agents write to the local log while it is moved, again and again: no entry is lost."""
    world.skill("pdf", store=world.global_store)
    code = (
        "import os, sys\n"
        "from skillc.usage import log\n"
        "row = ['2026-03-01T10:00:00Z', None, 'outline', 'pdf', '/gone', '/w', '{}', None]\n"
        "for number in range(150):\n"
        "    row[1] = f'{sys.argv[1]}-{number}'\n"
        "    log._append_to_fallback(os.getcwd(), 'pdf', tuple(row))\n"
    )
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(n)], cwd=world.project, env=world.env, stderr=subprocess.PIPE
        )
        for n in range(4)
    ]
    moved = 0
    while any(writer.poll() is None for writer in writers):
        result = sync_logs(str(world.project))
        assert not result.failures
        moved += sum(log.entries for log in result.synced)
    for writer in writers:
        assert writer.communicate()[1] == b""
        assert writer.returncode == 0
    moved += sum(log.entries for log in sync_logs(str(world.project)).synced)
    found = rows(primary(world.home / ".skillc" / "runtime"))
    assert len(found) == moved == 600
    assert len({row[1] for row in found}) == 600


def test_killed_on_the_way(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D11] [RFC-0007] ended between copying and removing: the next sync moves nothing twice."""
    world.skill("pdf")
    leave(world.project, "pdf", [entry(0), entry(0), entry(1)])

    def killed(path: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("skillc.atomic.discard", killed)
        with pytest.raises(KeyboardInterrupt):
            sync_logs(str(world.project))
    assert world.ok("sync").stdout == "Synced 0 entries for 'pdf' (local logs removed)\n"
    assert len(rows(primary(world.runtime))) == 3

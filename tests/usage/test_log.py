"""The access log: what is written, where, and that it never stands in the way."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from skillc.compiler.build import build_skill
from skillc.errors import SkillcError
from skillc.library import resolve
from skillc.usage import record_access, run_logged
from skillc.usage.log import WAL_LIMIT, connect, encode_arguments
from skillc.usage.schema import create_tables
from tests.conftest import World
from tests.support.cases import each
from tests.support.forks import start_skc

COLUMNS = ["id", "timestamp", "run_id", "command", "skill", "skill_path", "cwd", "args", "error"]
LOGGING_DISABLED = "warning[W002]: logging disabled; run 'skc sync' after session to merge logs\n"
STALE = "warning[W003]: stale local logs for 'pdf'; run 'skc sync' to upload\n"


@pytest.fixture
def skill(world: World) -> Path:
    folder = world.skill("pdf")
    (folder / "notes.txt").write_text("notes\n")
    return folder


def primary(world: World, name: str = "pdf") -> Path:
    return world.runtime / name / ".skillc-meta" / "logs.db"


def fallback(project: Path, name: str = "pdf") -> Path:
    return project / ".skillc" / "logs" / name / ".skillc-meta" / "logs.db"


def rows(path: Path) -> list[dict[str, Any]]:
    """What a log holds, read as another program would."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute("SELECT * FROM access_log ORDER BY id")]


def counted(path: Path) -> int:
    """How many accesses the counts beside the rows say there are, once the new ones are counted."""
    with closing(connect(str(path))) as connection:
        create_tables(connection)
        (days,) = connection.execute("SELECT sum(count) FROM access_day WHERE place = 0").fetchone()
        (weeks,) = connection.execute("SELECT sum(count) FROM access_week WHERE place = 0").fetchone()
        assert days == weeks
        return int(days)


# What is written


def test_a_row(world: World, skill: Path) -> None:
    """[RFC-0007] the columns of a row, and what is in them; `list`, `init`, `sync` and `stats` leave none."""
    build_skill(resolve("pdf", str(world.project)))
    for command in ("list", "init", "sync", "stats"):
        world.ok(command)
    before = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    world.ok("show", "pdf", "--section", "USAGE")
    after = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    (row,) = rows(primary(world))
    assert list(row) == COLUMNS
    assert before <= row["timestamp"] <= after
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", row["timestamp"])
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{4}", row["run_id"])
    assert row["run_id"][:16] == re.sub("[-:]", "", row["timestamp"])
    assert row["command"] == "show"
    assert row["skill"] == "pdf"
    assert row["skill_path"] == str(skill)
    assert row["cwd"] == str(world.project)
    assert json.loads(row["args"]) == {"section": "Usage", "file": "SKILL.md"}
    assert row["error"] is None


def test_messages_of_failures(world: World, skill: Path) -> None:
    """[RFC-0004:C-LOGGING] [RFC-0005] [RFC-0007] an error's message is kept: no index, empty query, the
    system's.
    """
    world.fails("E002", "search", "pdf", "text")
    world.fails("E004", "search", "pdf", " ")
    assert [(json.loads(row["args"]), row["error"]) for row in rows(primary(world))] == [
        (
            {"query": "text", "result_count": 0},
            "search index unusable; run 'skc build pdf' to rebuild",
        ),
        ({"query": " ", "result_count": 0}, "empty query"),
    ]
    found = resolve("pdf", str(world.project))

    def fail() -> None:
        raise PermissionError(13, "Permission denied", "/x")

    with pytest.raises(PermissionError):
        run_logged(found, "show", {}, str(world.project), fail)
    assert rows(primary(world))[-1]["error"] == "'/x': Permission denied"


@each(
    ("code", "words"),
    [
        ("E020", ["show", "pdf", "--section", "Nothing"]),
        ("E021", ["open", "pdf", "nothing.md"]),
        ("E012", ["open", "pdf", "../../../x"]),
        ("E022", ["sources", "pdf", "--dir", "nothing"]),
        ("E030", ["stats", "pdf", "--group-by", "searches"]),
        ("E031", ["stats", "pdf", "--since", "yesterday"]),
        ("E031", ["stats", "pdf", "--prune", "soon"]),
    ],
)
def test_failures(world: World, skill: Path, code: str, words: list[str]) -> None:
    """[RFC-0007] [RFC-0005] failures are logged too, with their message."""
    build_skill(resolve("pdf", str(world.project)))
    stderr = world.fails(code, *words).stderr
    row = rows(primary(world))[-1]
    assert row["command"] == words[0]
    assert stderr.startswith(f"error[{code}]: {row['error']}\n")


def test_what_meets_no_skill(world: World, skill: Path) -> None:
    """[RFC-0007] what does not get as far as a skill is not logged."""
    (world.store / "empty").mkdir()
    world.fails("E001", "show", "nowhere", "--section", "x")
    world.fails("E010", "outline", "empty")
    world.fails("E100", "show", "pdf")
    world.fails("E100", "outline", "pdf", "--level", "9")
    assert not primary(world).exists()
    assert not (world.project / ".skillc" / "logs").exists()
    assert not (world.home / ".skillc").exists()


def test_run_id(world: World, skill: Path) -> None:
    """[RFC-0007] SKC_RUN_ID names the session; a log that was removed or replaced is noticed."""
    world.ok("outline", "pdf", env={"SKC_RUN_ID": "my session"})
    world.ok("outline", "pdf", env={"SKC_RUN_ID": ""})
    world.ok("outline", "pdf", env={"SKC_RUN_ID": os.fsdecode(b"bytes \xff")})
    first, second, third = (row["run_id"] for row in rows(primary(world)))
    assert first == "my session"
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{4}", second)
    assert third == "bytes \\udcff"
    found = resolve("pdf", str(world.project))
    for path in primary(world).parent.glob("logs.db*"):
        path.unlink()
    for _ in range(3):
        assert record_access(found, "show", {}, None, str(world.project)) == ()
        assert len(rows(primary(world))) == 1
        for path in primary(world).parent.glob("logs.db*"):
            path.unlink()


def test_canonical_paths(world: World, skill: Path) -> None:
    """[RFC-0007] symlinks are resolved; the name is the directory's, whatever SKILL.md says."""
    elsewhere = world.skill("real", "---\nname: other\ndescription: d\n---\n# X\n", store=world.root / "lib")
    (world.store / "linked").symlink_to(elsewhere)
    (world.root / "link").symlink_to(world.project)
    (world.project / "sub").mkdir()
    world.ok("outline", "linked", cwd=world.root / "link" / "sub" / ".." / "sub")
    (row,) = rows(primary(world, "linked"))
    assert (row["skill"], row["skill_path"], row["cwd"]) == (
        "linked",
        str(elsewhere),
        str(world.project / "sub"),
    )


def test_where_a_folder_is_logged(world: World) -> None:
    """[RFC-0007] a folder in no store has its log in the home, or, without one, in the fallback."""
    folder = world.skill("other", store=world.root / "lib")
    world.ok("outline", str(folder))
    (row,) = rows(world.home / ".skillc" / "runtime" / "other" / ".skillc-meta" / "logs.db")
    assert row["skill_path"] == str(folder)
    world.skill("pdf")
    assert world.ok("outline", "pdf", env={"HOME": ""}).stderr == ""
    assert len(rows(primary(world))) == 1
    assert "total accesses          1" in world.ok("stats", "pdf", env={"HOME": ""}).stdout
    result = world.skc("outline", str(folder), env={"HOME": ""})
    assert "Traceback" not in result.stderr
    assert len(rows(fallback(world.project, "other"))) == 1


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text(), max_size=5))
def test_arguments_are_json(arguments: dict[str, str | int | bool | None]) -> None:
    """[RFC-0007] whatever was given, `args` is a JSON object that says it."""
    assert json.loads(encode_arguments(arguments)) == arguments


def test_bytes_that_are_no_text(world: World, skill: Path) -> None:
    """[RFC-0007] [RFC-0003] arguments, names and directories in no encoding are logged all the same.

    The filter of `stats` writes such a directory as the log does.
    """
    build_skill(resolve("pdf", str(world.project)))
    strange = os.fsdecode(b"caf\xe9")
    (world.project / strange).mkdir()
    world.fails("E020", "show", "pdf", "--section", strange, cwd=world.project / strange)
    (row,) = rows(primary(world))
    assert row["cwd"] == f"{world.project}/caf\\udce9"
    assert json.loads(row["args"])["section"] == "caf\\udce9"
    assert row["error"] == "section not found: 'caf\\udce9'"
    words = ("stats", "pdf", "--group-by", "errors", "--project", str(world.project / strange))
    assert world.json(*words)["data"] == [
        {"target": "caf\\udce9", "command": "show", "error": row["error"], "count": 1}
    ]


def modes(folder: Path) -> dict[str, int]:
    """The rights to the files of a log, by name."""
    return {path.name: path.stat().st_mode & 0o777 for path in folder.glob("logs.db*")}


PRIVATE = dict.fromkeys(("logs.db", "logs.db-wal", "logs.db-shm"), 0o600)


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_a_log_is_private(world: World, skill: Path) -> None:
    """[RFC-0007] other users can't read what a person searched for, nor enter the log's folder at home.

    So is a fallback log, and the folder of all of them, also one that was open.
    """
    world.skill("own", store=world.global_store)
    for name in ("pdf", "own"):
        world.ok("outline", name)
    assert modes(primary(world).parent) == PRIVATE
    folder = world.home / ".skillc" / "runtime" / "own" / ".skillc-meta"
    assert modes(folder) == PRIVATE
    assert folder.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(world.runtime)
    world.runtime.write_text("in the way")
    folder = world.project / ".skillc" / "logs"
    folder.mkdir(parents=True, mode=0o755)
    world.ok("outline", "pdf")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert modes(fallback(world.project).parent) == PRIVATE


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_an_open_log_is_closed(world: World, skill: Path) -> None:
    """[RFC-0007] a log that an older program made for all to read is closed when its owner opens it."""
    world.ok("build", "pdf")
    world.ok("search", "pdf", "secret")
    for words in (("search", "pdf", "more"), ("stats", "pdf")):
        for path in primary(world).parent.glob("logs.db*"):
            path.chmod(0o644)
        world.process(*words)  # with no connection that is open already
        assert set(modes(primary(world).parent).values()) == {0o600}
    assert len(rows(primary(world))) >= 2


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_no_other_file_is_closed(world: World, skill: Path) -> None:
    """[RFC-0007] a link in place of a log changes no rights where it leads."""
    target = world.project / "shared.db"
    target.touch()
    target.chmod(0o644)
    primary(world).parent.mkdir(parents=True)
    primary(world).symlink_to(target)
    world.skc("outline", "pdf")
    assert target.stat().st_mode & 0o777 == 0o644


def test_an_empty_file_and_builds(world: World, skill: Path) -> None:
    """[RFC-0007] [D11] an empty file becomes the log; no build takes rows away."""
    world.ok("outline", "pdf")
    world.ok("build", "pdf")
    world.ok("build", "pdf", "--force")
    assert [row["command"] for row in rows(primary(world))] == ["outline", "build", "build"]
    for path in primary(world).parent.glob("logs.db*"):
        path.unlink()
    primary(world).touch()
    assert world.ok("stats", "pdf").stderr == ""
    world.ok("outline", "pdf")
    assert [row["command"] for row in rows(primary(world))] == ["stats", "outline"]


# Where it can't be written


@pytest.fixture
def elsewhere(world: World, skill: Path) -> Path:
    """A directory of the project to work in."""
    directory = world.project / "work"
    directory.mkdir()
    return directory


def test_read_only_runtime(world: World, skill: Path, elsewhere: Path, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0007] [RFC-0005] the fallback is below the working directory; nothing is said, nothing is lost.

    Where that can't be written either it is W002, exactly, also before an error; the command goes on.
    """
    world.ok("build", "pdf")
    here = ("pdf", "--section", "Usage")
    before = world.ok("show", *here).stdout
    read_only(primary(world).parent)
    result = world.skc("show", *here, cwd=elsewhere, prefix=unprivileged)
    assert (result.returncode, result.stdout, result.stderr) == (0, before, "")
    (row,) = rows(fallback(elsewhere))
    assert list(row) == COLUMNS
    assert (row["command"], row["cwd"]) == ("show", str(elsewhere))
    assert len(rows(primary(world))) == 2
    read_only(world.project / ".skillc")
    read_only(elsewhere)
    result = world.skc("outline", "pdf", cwd=elsewhere, prefix=unprivileged)
    assert (result.returncode, result.stdout) == (0, "SKILL.md\n  # pdf\n  ## Usage\n")
    assert result.stderr == LOGGING_DISABLED
    failed = world.fails("E021", "open", "pdf", "x", cwd=elsewhere, prefix=unprivileged)
    assert failed.stderr == f"{LOGGING_DISABLED}error[E021]: file not found: 'x'\n"


def read_only(directory: Path) -> None:
    for path in [*directory.rglob("*"), directory]:
        path.chmod(0o555 if path.is_dir() else 0o444)


def test_a_file_in_place_of_a_directory(world: World, skill: Path) -> None:
    """[RFC-0007] a file stands where the log's directories belong."""
    for number, place in enumerate(("runtime", "runtime/pdf", "runtime/pdf/.skillc-meta")):
        path = world.project / ".skillc" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("in the way")
        assert world.ok("outline", "pdf").stderr == ""
        assert len(rows(fallback(world.project))) == number + 1
        path.unlink()


def test_fallback_and_nothing(world: World, skill: Path) -> None:
    """[RFC-0007] [RFC-0005] an access makes the fallback young again; with a file in place of both it is
    W002.
    """
    (world.project / ".skillc" / "runtime").write_text("in the way")
    world.ok("outline", "pdf")
    os.utime(fallback(world.project), (1e9, 1e9))
    assert world.ok("outline", "pdf").stderr == STALE
    assert world.ok("outline", "pdf").stderr == ""
    assert len(rows(fallback(world.project))) == 3
    shutil.rmtree(world.project / ".skillc" / "logs")
    (world.project / ".skillc" / "logs").write_text("in the way")
    assert world.ok("outline", "pdf").stderr == LOGGING_DISABLED


OTHER_SCHEMAS = {
    "wrong columns": "CREATE TABLE access_log (id INTEGER PRIMARY KEY, what TEXT)",
    "a view": "CREATE TABLE t (x); CREATE VIEW access_log AS SELECT * FROM t",
    "a check": (
        "CREATE TABLE access_log (timestamp CHECK (0), run_id, command, skill, skill_path, cwd, args, error)"
    ),
    "a trigger that can't run": (
        "CREATE TABLE access_log (timestamp, run_id, command, skill, skill_path, cwd, args, error);"
        "CREATE TRIGGER t AFTER INSERT ON access_log BEGIN INSERT INTO nowhere VALUES (1); END"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("what", ["garbage", "a directory", "half a log", *OTHER_SCHEMAS])
def test_an_unusable_log(world: World, skill: Path, what: str) -> None:
    """[RFC-0007] whatever stands in place of the log: commands go on, and the row is in the fallback."""
    log = primary(world)
    log.parent.mkdir(parents=True)
    if what == "a directory":
        log.mkdir()
    elif what == "garbage":
        log.write_bytes(b"garbage " * 1000)
    elif what == "half a log":
        for _ in range(3):
            world.ok("outline", "pdf")
        with closing(sqlite3.connect(log)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        log.write_bytes(log.read_bytes()[:2048] + os.urandom(8000))
    else:
        with closing(sqlite3.connect(log)) as connection:
            connection.executescript(OTHER_SCHEMAS[what])
    result = world.ok("outline", "pdf")
    assert result.stdout == "SKILL.md\n  # pdf\n  ## Usage\n"
    planted = what in ("a directory", "a view", "a trigger that can't run")
    assert result.stderr.startswith("warning[W006]: the log " if planted else "")
    assert result.stderr.count("\n") == planted
    assert len(rows(fallback(world.project))) == 1
    for words in (
        ["stats", "pdf"],
        ["stats", "pdf", "--html", "page.html"],
        ["stats", "pdf", "--prune", "1d"],
    ):
        said = world.skc(*words)
        assert "Traceback" not in said.stderr
        assert (said.returncode == 0) == ("error[" not in said.stderr)


def test_stale(world: World, skill: Path) -> None:
    """[RFC-0007] [RFC-0005] W003, exactly, for a fallback log that is older than an hour."""
    world.skill("other")
    fallback(world.project).parent.mkdir(parents=True)
    fallback(world.project).touch()
    for minutes, is_stale in ((59, False), (61, True), (60 * 24 * 400, True)):
        old = time.time() - minutes * 60
        os.utime(fallback(world.project), (old, old))
        assert world.ok("outline", "pdf").stderr == (STALE if is_stale else "")
        assert world.ok("outline", "other").stderr == ""


# Many at once


def crowd(world: World, numbers: range) -> None:
    """Run so many processes at once, all of which must end well and say nothing."""
    commands = [["show", "pdf", "--section", "Usage"], ["outline", "pdf"], ["open", "pdf", "notes.txt"]]
    processes = [
        start_skc(
            commands[number % 3],
            cwd=world.project,
            env=world.env | {"SKC_RUN_ID": str(number)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for number in numbers
    ]
    for process in processes:
        _, stderr = process.communicate(timeout=100)
        assert (process.returncode, stderr) == (0, b"")


@pytest.mark.slow
def test_64_processes(world: World, skill: Path) -> None:
    """[RFC-0007] of 64 at once, half of them with a new log, no row is lost, and none hears of a lock."""
    world.ok("build", "pdf")
    for path in primary(world).parent.glob("logs.db*"):
        path.unlink()
    crowd(world, range(32))
    crowd(world, range(32, 64))
    found = [row["run_id"] for row in rows(primary(world))]
    assert sorted(found, key=int) == [str(number) for number in range(64)]
    assert counted(primary(world)) == 64
    assert not (world.project / ".skillc" / "logs").exists()


# Children of one process that has loaded everything note accesses; each ends as `skc` does.
CHILDREN = textwrap.dedent(
    """
    import os, sys
    from skillc.library import resolve
    from skillc.usage import log
    skill = resolve("pdf", os.getcwd())
    def child(many):
        read, write = os.pipe()
        pid = os.fork()
        if pid:
            os.close(write)
            return pid, read
        for number in range(many):
            assert not log.record_access(skill, "show", {"section": str(number)}, None, os.getcwd())
            os.write(write, b".")
        os._exit(0)
    """
)


@pytest.mark.slow
def test_the_wal_stays_small(world: World, skill: Path) -> None:
    """[RFC-0007] after 200 accesses of 200 processes all rows are there, and the WAL is folded back."""
    code = f"{CHILDREN}\nfor _ in range(200): os.waitpid(child(1)[0], 0)"
    subprocess.run([sys.executable, "-c", code], cwd=world.project, env=world.env, check=True)
    wal = Path(f"{primary(world)}-wal")
    assert wal.stat().st_size < 2 * WAL_LIMIT <= 1 << 20
    assert primary(world).stat().st_size > 0
    assert len(rows(primary(world))) == counted(primary(world)) == 200


@pytest.mark.slow
def test_killed_while_logging(world: World, skill: Path) -> None:
    """[RFC-0007] [D11] SIGKILL at any time: what was noted stays, and the log goes on."""
    code = CHILDREN + textwrap.dedent(
        """
        import random, signal
        rng = random.Random(5)
        noted = 0
        for _ in range(20):
            children = [child(10_000) for _ in range(2)]
            for _, read in children:
                noted += sum(len(os.read(read, 1)) for _ in range(rng.randrange(1, 10)))
            for pid, _ in children:
                os.kill(pid, signal.SIGKILL)
            for pid, read in children:
                os.waitpid(pid, 0)
                with open(read, "rb") as pipe:
                    noted += len(pipe.read())
        print(noted)
        """
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=world.project,
        env=world.env,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert result.stderr == ""
    noted = int(result.stdout)
    assert noted >= 40
    assert world.ok("outline", "pdf").stderr == ""
    with closing(sqlite3.connect(primary(world))) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    kept = len(rows(primary(world)))
    assert noted + 1 <= kept <= noted + 1 + 40  # a row may be there whose writer could not say so
    assert counted(primary(world)) == kept
    assert not (world.project / ".skillc" / "logs").exists()


def test_never_raises(world: World, skill: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0007] not even what nobody thought of makes a command fail."""

    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("skillc.usage.log.append_row", fail)
    found = resolve("pdf", str(world.project))
    (diagnostic,) = record_access(found, "show", {}, None, str(world.project))
    assert diagnostic.line() + "\n" == LOGGING_DISABLED
    with pytest.raises(SkillcError) as caught:
        run_logged(found, "show", {}, str(world.project), lambda: (_ for _ in ()).throw(SkillcError("x")))
    assert caught.value.diagnostics == (diagnostic,)

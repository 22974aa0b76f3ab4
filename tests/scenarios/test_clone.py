"""A project that was cloned: what its author put into `.skillc` reaches nothing outside of it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from mcp import Client

from skillc.mcp import create_server
from skillc.workspace import Workspace
from tests.conftest import World
from tests.support.cases import each

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
LOOP = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
COLUMNS = "timestamp, run_id, command, skill, skill_path, cwd, args, error"


@pytest.fixture
def log(world: World) -> Path:
    """The place of the log of a skill that was built."""
    world.skill("pdf")
    world.ok("build", "pdf")
    path = world.runtime / "pdf" / ".skillc-meta" / "logs.db"
    for name in path.parent.glob("logs.db*"):
        name.unlink()
    return path


def plant(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


# --- Logs --------------------------------------------------------------------------------------------

TRIGGERS = {
    "another table": "CREATE TABLE other (x); CREATE TRIGGER t AFTER INSERT ON access_log BEGIN "
    "INSERT INTO other VALUES (1); END",
    "no end": f"CREATE TRIGGER t AFTER INSERT ON access_log BEGIN {LOOP}; END",
    "no end, by our name": f"CREATE TRIGGER access_counted AFTER INSERT ON access_log BEGIN {LOOP}; END",
    "a view": f"CREATE VIEW access_day AS {LOOP}",
    "a virtual table": "CREATE VIRTUAL TABLE access_day USING fts5(x)",
    "a column": "CREATE TABLE access_day (x, y AS (hex(zeroblob(1000))))",
}


@pytest.mark.slow
@each("what", TRIGGERS)
def test_log_with_code(world: World, log: Path, what: str) -> None:
    """[RFC-0007] nothing that a log holds is run; the access goes to the fallback."""
    for path in log.parent.glob("logs.db*"):
        path.unlink()
    shutil.rmtree(world.project / ".skillc" / "logs", ignore_errors=True)
    plant(log, f"CREATE TABLE access_log ({COLUMNS}); {TRIGGERS[what]};")
    before = log.read_bytes()
    run = world.ok("show", "pdf", "--section", "Usage")
    assert "Text." in run.stdout
    assert log.read_bytes() == before
    assert run.stderr.startswith("warning[W006]: ") or what == "no end, by our name"
    assert (world.project / ".skillc" / "logs" / "pdf").is_dir()
    for words in (["stats", "pdf"], ["sync"], ["stats", "pdf", "--prune", "1d"]):
        assert "Traceback" not in world.skc(*words).stderr


@pytest.mark.slow
@pytest.mark.parametrize("place", ["logs.db", "logs.db-wal", ".skillc-meta", "pdf", "runtime"])
def test_log_by_a_link(world: World, log: Path, place: str) -> None:
    """[RFC-0007] a link on the way to the log is not followed: another database gets no row."""
    elsewhere = world.root / "elsewhere"
    target = elsewhere / "pdf" / ".skillc-meta"
    target.mkdir(parents=True)
    plant(target / "logs.db", f"CREATE TABLE access_log ({COLUMNS}); CREATE TABLE mine (x);")
    (target / "logs.db-wal").write_bytes(b"mine")
    before = {path: path.read_bytes() for path in target.iterdir()}
    links = {
        "logs.db": (log, target / "logs.db"),
        "logs.db-wal": (log.with_name("logs.db-wal"), target / "logs.db-wal"),
        ".skillc-meta": (log.parent, target),
        "pdf": (log.parent.parent, elsewhere / "pdf"),
        "runtime": (world.runtime, elsewhere),
    }
    link, real = links[place]
    if link.is_dir():
        link.rename(world.root / "away")
    link.symlink_to(real)
    run = world.ok("outline", "pdf")
    assert "warning[W006]" in run.stderr
    assert {path: path.read_bytes() for path in target.iterdir()} == before
    for words in (["stats", "pdf"], ["sync"], ["sync", "--dry-run"]):
        assert "Traceback" not in world.skc(*words).stderr
    assert {path: path.read_bytes() for path in target.iterdir()} == before


def journal(size: int, super_journal: bytes) -> bytes:
    """A journal as SQLite writes it in a transaction over several files, without a single page."""
    header = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", 0, 1, size, 512, 1024)
    page = struct.pack(">I", 0x40000000 // 1024 + 1)
    end = struct.pack(">II", len(super_journal), sum(super_journal)) + bytes.fromhex("d9d505f920a163d7")
    return header.ljust(512, b"\0") + page + super_journal + end


def test_journal_that_names_a_file(world: World, log: Path) -> None:
    """[RFC-0007] a journal beside the log is not played back: SQLite would delete the file it names."""
    victim = world.home / "notes.txt"

    def set_up(path: Path) -> None:
        victim.write_text("mine")
        plant(path, f"PRAGMA page_size=1024; CREATE TABLE access_log ({COLUMNS});")
        beside = path.with_name(f"{path.name}-journal")
        beside.write_bytes(journal(path.stat().st_size // 1024, os.fsencode(victim)))

    other = world.root / "other.db"
    set_up(other)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("SELECT * FROM sqlite_master").fetchall()
    assert not victim.exists()  # so much for the attack
    for words in (["outline", "pdf"], ["stats", "pdf"], ["stats", "pdf", "--prune", "1d"], ["sync"]):
        set_up(log)
        world.skc(*words)
        assert victim.read_text() == "mine"
        log.unlink(missing_ok=True)


def test_a_link_in_place_of_the_lock(world: World, log: Path) -> None:
    """[D11] a build whose lock is a link says so, and creates nothing where it leads."""
    lock = log.with_name("build.lock")
    lock.unlink()
    lock.symlink_to(world.root / "elsewhere")
    for words in (("build", "pdf", "--force"), ("remove", "pdf")):
        assert f"something else is at '{lock}'" in world.fails("E052", *words).stderr
    assert not (world.root / "elsewhere").exists()


@pytest.mark.slow
def test_fifo_in_place_of_files(world: World, log: Path) -> None:
    """[RFC-0007] a pipe in place of the log, the manifest, the index or the lock blocks nothing."""
    manifest = world.runtime / "pdf" / ".skillc" / "manifest.json"
    (index,) = log.parent.glob("search-*.db")
    for path in (log, manifest, index, log.with_name("build.lock")):
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        for words in (["outline", "pdf"], ["search", "pdf", "text"], ["stats", "pdf"], ["build", "pdf"]):
            assert "Traceback" not in world.skc(*words).stderr
        path.unlink(missing_ok=True)
        world.ok("build", "pdf")


# --- Section indexes and builds ----------------------------------------------------------------------

SCHEMAS = {
    "a view": f"ALTER TABLE headings RENAME TO old; CREATE VIEW headings AS SELECT 1 AS id, 'a' AS file, "
    f"({LOOP}) AS text, 1 AS level, 1 AS start_line, 2 AS end_line",
    "a trigger": f"CREATE TRIGGER t AFTER DELETE ON headings BEGIN {LOOP}; END",
    "a column": "ALTER TABLE index_meta ADD COLUMN x AS (hex(zeroblob(500000000)))",
    "a virtual table": "CREATE VIRTUAL TABLE other USING fts5(x)",
}


@pytest.mark.slow
@each("what", SCHEMAS)
def test_index_with_code(world: World, log: Path, what: str) -> None:
    """[RFC-0004:C-INDEX] an index with a schema of its own is unusable, and the next build replaces it."""
    (index,) = log.parent.glob("search-*.db")
    plant(index, f"{SCHEMAS[what]};")
    world.fails("E002", "search", "pdf", "text")
    world.ok("build", "pdf")
    assert "Usage" in world.ok("search", "pdf", "text").stdout


@pytest.mark.parametrize("place", ["", "/pdf", "/pdf/.skillc", "/pdf/.skillc-meta"])
def test_build_through_a_link(world: World, place: str) -> None:
    """[D11] a build writes nothing and removes nothing where a link in `.skillc` leads."""
    world.skill("pdf")
    elsewhere = world.root / "elsewhere"
    (elsewhere / "pdf").mkdir(parents=True)
    mine = [elsewhere / "SKILL.md", elsewhere / ".notes.tmp", elsewhere / "pdf" / "SKILL.md"]
    for path in mine:
        path.write_text("mine")
    link = Path(f"{world.runtime}{place}")
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(elsewhere)
    assert "is a link" in world.fails("E052", "build", "pdf").stderr
    assert [path.read_text() for path in mine] == ["mine"] * 3
    assert sorted(p.name for p in elsewhere.iterdir()) == [".notes.tmp", "SKILL.md", "pdf"]


@pytest.mark.parametrize("target", ["../../home/victim.toml", "../.git/config"])
def test_repositories_through_a_link(world: World, target: str) -> None:
    """[D11] [D63] 'repo add' and 'repo remove' write no file that a clone's link leads to."""
    file = world.project / ".skillc/skills.toml"
    file.symlink_to(target)
    victim = Path(os.path.normpath(file.parent / target))
    victim.parent.mkdir(exist_ok=True)
    victim.write_text('[[repositories]]\nname = "own"\ntype = "filesystem"\npath = "."\n')
    before = victim.read_text()
    world.fails("E012", "repo", "add", "more", str(world.home), "--type", "filesystem")
    world.fails("E012", "repo", "remove", "own")
    assert victim.read_text() == before


# --- Another user's directories ----------------------------------------------------------------------

needs_root = pytest.mark.skipif(not ROOT, reason="only root can give a directory away")


@pytest.fixture
def theirs(world: World) -> Path:
    """A `.skillc` above the project that belongs to another user, with everything in it."""
    directory = world.root / ".skillc"
    world.skill("theirs", store=directory / "skills")
    (directory / "config.toml").write_text('[search]\ntokenizer = "cjk"\n')
    (directory / "skills.toml").write_text(
        '[[repositories]]\nname = "x"\ntype = "filesystem"\npath = ".skillc/skills"\n'
    )
    (directory / "logs").mkdir()
    for path in (directory, *directory.rglob("*")):
        os.chown(path, 4242, 4242)
    return directory


@pytest.mark.slow
@needs_root
def test_directory_of_another_user(world: World, theirs: Path) -> None:
    """[D23] its configuration, skills and runtime are not used, and a warning says what to do."""
    world.skill("pdf")
    inner = world.root / "inner"
    inner.mkdir()
    line = f"warning[W073]: '{theirs}' belongs to another user and is not used"
    for words in (["list"], ["browse"], ["find", "fill in forms"], ["repo", "list"], ["inventory"]):
        run = world.ok(*words, cwd=inner)
        assert "theirs" not in run.stdout
        assert line in run.stderr
    assert f"SKILLC_SAFE_DIRECTORIES={world.root}" in run.stderr
    world.fails("E001", "show", "theirs", "--section", "Usage", cwd=inner)
    world.fails("E100", "repo", "add", "y", ".", cwd=inner)
    path = theirs / "skills" / "theirs"
    world.ok("build", str(path), cwd=inner)
    assert not (theirs / "runtime").exists()
    world.ok("outline", str(path), cwd=world.root)
    assert list((theirs / "logs").iterdir()) == []
    trusted = {"SKILLC_SAFE_DIRECTORIES": f"/nowhere{os.pathsep}{world.root}"}
    run = world.ok("list", cwd=inner, env=trusted)
    assert "theirs" in run.stdout
    assert "W073" not in run.stderr


@pytest.mark.slow
@needs_root
def test_directory_of_another_user_is_told_everywhere(world: World, theirs: Path) -> None:
    """[D23] init, sync and the MCP server say that it is not used, and so do the tools that list skills."""
    inner = world.root / "inner"
    inner.mkdir()
    line = f"{theirs}' belongs to another user and is not used"
    assert line in world.ok("sync", cwd=inner).stderr
    assert line in world.ok("sync", "--project", str(inner), cwd=world.home).stderr

    async def lines() -> list[str]:
        async with Client(create_server(Workspace(str(inner)), ("all",))) as client:
            results = [await client.call_tool(name, {}) for name in ("skc_list", "browse_skills", "skc_init")]
            results.append(await client.call_tool("skc_find", {"task": "x"}))
            return [str(result.content) for result in results]

    assert [line in text for text in asyncio.run(lines())] == [True] * 4
    assert line in world.ok("init", "own", cwd=inner).stderr
    command = [sys.executable, "-m", "skillc", "mcp"]
    server = subprocess.run(
        command, cwd=inner, env=world.env, input=b"", capture_output=True, timeout=120, check=False
    )
    assert line in server.stderr.decode()


@pytest.mark.slow
@needs_root
@each("name", [".skillc", ".rkat"])
def test_link_of_another_user(world: World, name: str) -> None:
    """[D23] a link counts as its owner's, and as the owner's of what it leads to."""
    inner = world.root / "inner"
    inner.mkdir(exist_ok=True)
    own = world.project / ".skillc"
    (own / "skills.toml").write_text('[[repositories]]\nname="x"\ntype="filesystem"\npath="."\n')
    link = world.root / name
    link.symlink_to(own)
    assert "W073" not in world.ok("repo", "list", cwd=inner).stderr
    os.lchown(link, 4242, 4242)
    assert "W073" in world.ok("repo", "list", cwd=inner).stderr
    os.lchown(link, 0, 0)
    os.chown(own, 4242, 4242)
    assert "W073" in world.ok("repo", "list", cwd=inner).stderr
    os.chown(own, 0, 0)
    link.unlink()


@needs_root
def test_sudo(world: World, theirs: Path) -> None:
    """[D23] under sudo, root obeys the directories of the user that called it, and of no other."""
    inner = world.root / "inner"
    inner.mkdir()
    assert "theirs" in world.ok("list", cwd=inner, env={"SUDO_UID": "4242"}).stdout
    for wrong in ("4243", "", "x", "-1"):
        assert "theirs" not in world.ok("list", cwd=inner, env={"SUDO_UID": wrong}).stdout


@needs_root
def test_root_of_a_user(world: World) -> None:
    """[D23] to an ordinary user, what is root's is another user's, and SUDO_UID changes nothing."""
    code = (
        "import os, sys; from skillc import paths; os.setuid(4242); "
        "print([paths.is_own(path) for path in sys.argv[1:]])"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for part, owner in (("theirs", 0), ("mine", 4242)):
            (folder / part).mkdir()
            os.chown(folder / part, owner, owner)
        words = [sys.executable, "-c", code, *(str(folder / part) for part in ("theirs", "mine", "missing"))]
        env = world.env | {"SUDO_UID": "0"}
        run = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert run.stdout == "[False, True, True]\n", run.stderr


# --- Files that are none -----------------------------------------------------------------------------

FILES = {
    ".skillc/skills.toml": ("E071", ["find", "forms"]),
    ".rkat/skills.toml": ("E071", ["browse"]),
    ".skillc/config.toml": ("W071", ["build", "pdf"]),
    ".skilllint.toml": ("E071", ["lint", "pdf"]),
}


@pytest.mark.slow
@each(
    ("name", "how"),
    product(FILES, ["a pipe", "a link to a pipe", "/dev/zero", "/dev/tty", "too large"]),
)
def test_configuration_that_is_no_file(world: World, name: str, how: str) -> None:
    """[D23a] [RFC-0009] pipes, devices and huge files as configuration: a coded line, no waiting."""
    world.skill("pdf")
    file = world.project / name
    file.parent.mkdir(exist_ok=True)
    if how == "a pipe":
        os.mkfifo(file)
    elif how == "a link to a pipe":
        if not (world.root / "pipe").exists():
            os.mkfifo(world.root / "pipe")
        file.symlink_to(world.root / "pipe")
    elif how == "too large":
        with file.open("wb") as stream:
            stream.truncate(1 << 30)
    else:
        file.symlink_to(how)
    code, words = FILES[name]
    run = world.skc(*words)
    file.unlink()
    assert f"[{code}]: " in run.stderr
    assert ("over " if how == "too large" else "not a regular file") in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.slow
def test_skill_file_that_is_no_file(world: World) -> None:
    """[D25] a pipe or a device in place of a SKILL.md is no skill, and blocks nothing."""
    world.skill("pdf")
    for name, make in (("pipe", os.mkfifo), ("device", lambda path: os.symlink("/dev/zero", path))):
        (world.store / name).mkdir()
        make(world.store / name / "SKILL.md")
    for words in (["list"], ["browse"], ["find", "pdf"], ["build", "pdf"]):
        assert "pdf" in world.ok(*words).stdout
    for name in ("pipe", "device"):
        assert "error[" in world.skc("build", name).stderr

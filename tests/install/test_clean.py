"""`skc clean`: caches, orphans, ghosts and leftovers go; what is in use, and what people wrote, stays."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from skillc import trash
from skillc.library.records import LEFT_OUT, DeploymentRecord, read_deployments, record_deployments
from tests.conftest import World, save
from tests.support.git import Origin, Server
from tests.support.lock import read_tree
from tests.support.terminal import on_terminal

HOURS_AGO = time.time() - 7200


def vary(record: DeploymentRecord, **fields: str) -> DeploymentRecord:
    """Return a copy of a record with other fields."""
    other = copy(record)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


HOLD = (
    "import sys; from skillc import atomic\n"
    "with atomic.Lock(sys.argv[1]): print(1, flush=True); sys.stdin.read()"
)
OPEN = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM skills').fetchall();"
    "print('open', flush=True); sys.stdin.read()"
)


def _find(world: World) -> str:
    """What a search prints, in a process of its own: this one would keep the index open."""
    run = world.process("find", "pdf")
    assert run.returncode == 0, run.stderr
    return run.stdout


def _clean(world: World, *words: str) -> list[dict[str, Any]]:
    value = world.json("clean", *words)
    entries: list[dict[str, Any]] = value["entries"]
    return entries


@contextmanager
def _holding(code: str, path: Path) -> Iterator[None]:
    """Another process that holds a lock or has a database open."""
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield
        holder.communicate()


def _kinds(entries: list[dict[str, Any]]) -> set[str]:
    return {entry["kind"] for entry in entries}


def _age(path: Path) -> None:
    os.utime(path, (HOURS_AGO, HOURS_AGO), follow_symlinks=False)


def test_nothing_to_clean(world: World) -> None:
    """[SURFACES: Getting skills] an empty home has no waste, and no directory is made; so without one."""
    assert "Nothing to clean" in world.ok("clean").stdout
    assert _clean(world) == []
    assert not (world.home / ".skillc").exists()
    assert world.json("clean", env={"HOME": ""}) == {"entries": []}


@pytest.mark.slow
def test_asks_first(world: World) -> None:
    """[SURFACES: Getting skills] it asks; without a terminal it refuses; --dry-run only shows."""
    world.skill("pdf", store=world.global_store)
    _find(world)
    database = world.home / ".skillc" / "cache" / "library.db"
    assert database.exists()
    entries = _clean(world, "--dry-run")
    assert {"id", "path", "from", "when", "size"} <= entries[0].keys()
    assert entries[0]["size"] >= database.stat().st_size > 0
    assert "--yes" in world.fails("E100", "clean").stderr
    status, _, shown = on_terminal(world, "n\n", "clean")
    assert status == 1
    assert "library.db" in shown
    assert database.exists()
    status, out, _ = on_terminal(world, "y\n", "clean")
    assert status == 0, out
    assert "Removed 1 item" in out
    assert not database.exists()
    assert _find(world).count("pdf")


@pytest.mark.slow
def test_a_database_in_use_stays(world: World) -> None:
    """[SURFACES: Getting skills] deleting an index that a process has open could damage the next one."""
    world.skill("pdf", store=world.global_store)
    _find(world)
    database = world.home / ".skillc" / "cache" / "library.db"
    with _holding(OPEN, database):
        (entry,) = _clean(world, "--yes")
        assert (entry["result"], entry["detail"]) == ("kept", "in use by another process")
        assert database.exists()
    assert _clean(world, "--yes")[0]["result"] == "removed"
    save(database, b"no database" * 1000)
    assert _clean(world, "--yes")[0]["result"] == "removed"
    assert not database.exists()


@pytest.mark.slow
def test_repositories(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills] checkouts and copies go, but no copy that is deployed, nor a locked one."""
    for name in ("used", "idle"):
        origin.skill(name)
    origin.write("used/scripts/run.py", "print(1)\n")
    origin.push("used", "idle")
    world.ok("repo", "add", "team", server.url, "--type", "git", "--global")
    for name in ("used", "idle"):
        world.ok("outline", name)
    world.ok("build", "used", "--target", "claude")
    before = _clean(world, "--dry-run")
    assert {entry["what"] for entry in before} >= {"git checkout", "copy of a repository's skill"}
    assert any(entry["from"].startswith(server.url) for entry in before)
    (checkout,) = [Path(entry["path"]) for entry in before if entry["what"] == "git checkout"]
    with _holding(HOLD, checkout / "lock"):
        results = {entry["path"]: entry["result"] for entry in _clean(world, "--yes")}
        assert results[str(checkout)] == "kept"
        assert (checkout / "state.json").exists()
    assert [entry["path"] for entry in _clean(world, "--yes")] == [str(checkout)]
    assert os.listdir(checkout) == ["lock"]
    assert _clean(world, "--dry-run") == []
    deployed = world.home / ".claude" / "skills" / "used"
    assert (deployed / "scripts" / "run.py").read_text() == "print(1)\n"
    assert not any(Path(record.source).name == "idle" for record in read_deployments())
    world.ok("outline", "idle")


@pytest.mark.slow
def test_an_orphan_keeps_its_log(world: World) -> None:
    """[SURFACES: Getting skills] stub, manifest, index and links go; the author's history stays."""
    source = world.skill("pdf")
    (source / "scripts").mkdir()
    save(source / "scripts" / "fill.py", "pass\n")
    world.ok("build", "pdf")
    world.ok("show", "pdf", "--section", "Usage")
    runtime = world.runtime / "pdf"
    log = runtime / ".skillc-meta" / "logs.db"
    assert log.exists()
    save(runtime / "notes.txt", "mine")
    assert _clean(world, "--dry-run") == []
    shutil.rmtree(source)
    ghost, entry = _clean(world, "--yes")
    assert (ghost["kind"], ghost["result"]) == ("ghost", "removed")
    assert (entry["kind"], entry["path"], entry["from"]) == ("orphan", str(runtime), str(source))
    assert entry["size"] > 0
    assert log.exists()
    assert (runtime / "notes.txt").read_text() == "mine"
    assert {path.name for path in runtime.iterdir()} == {".skillc-meta", "notes.txt"}
    assert not list(runtime.glob(".skillc-meta/search-*"))
    assert _clean(world) == []


@pytest.mark.slow
def test_an_orphan_without_a_log_goes_whole(world: World) -> None:
    """[SURFACES: Getting skills] an edited stub goes to the trash."""
    for name in ("plain", "edited", "damaged"):
        world.skill(name)
        world.ok("build", name)
        for path in (world.runtime / name / ".skillc-meta").glob("logs.db*"):
            path.unlink()
    stub = world.runtime / "edited" / "SKILL.md"
    save(stub, stub.read_text() + "mine\n")
    index = next((world.runtime / "damaged" / ".skillc-meta").glob("search-*.db"))
    save(index, b"x" * 9000)
    shutil.rmtree(world.store)
    results = {
        Path(entry["path"]).name: entry["result"]
        for entry in _clean(world, "--yes")
        if entry["kind"] == "orphan"
    }
    assert results == {"plain": "removed", "edited": "trashed", "damaged": "trashed"}
    assert list(world.runtime.iterdir()) == []
    items = world.json("trash", "list")["entries"]
    assert any(Path(item["path"]).read_text().endswith("mine\n") for item in items)


def test_a_build_that_runs_is_left_alone(world: World) -> None:
    """[SURFACES: Getting skills] what another process holds the lock of is in use."""
    source = world.skill("pdf")
    world.ok("build", "pdf")
    shutil.rmtree(source)
    lock = world.runtime / "pdf" / ".skillc-meta" / "build.lock"
    with _holding(HOLD, lock):
        before = read_tree(world.runtime)
        assert [entry["result"] for entry in _clean(world, "--yes")] == ["removed", "kept"]  # ghost, build
        assert read_tree(world.runtime) == before


@pytest.mark.slow
def test_an_index_of_a_folder_that_moved(world: World) -> None:
    """[SURFACES: Getting skills] a build that serves loses only the index of the old place."""
    world.skill("pdf", store=world.global_store)
    world.ok("build", "pdf", cwd=world.home)
    meta = world.home / ".skillc" / "runtime" / "pdf" / ".skillc-meta"
    (first,) = meta.glob("search-*.db")
    other = world.skill("pdf", store=world.root / "other")
    world.ok("build", str(other), "--force", cwd=world.home)
    shutil.copy(first, meta / "search-0123456789abcdef.db")
    assert _clean(world, "--dry-run") == []  # its source is there
    with sqlite3.connect(meta / "search-0123456789abcdef.db") as connection:
        connection.execute("UPDATE index_meta SET value = '/gone/pdf' WHERE key = 'skill_path'")
    connection.close()
    (entry,) = _clean(world, "--yes")
    assert (entry["what"], entry["from"]) == ("index", "/gone/pdf")
    assert list(meta.glob("search-*.db")) == [first]
    world.ok("search", "pdf", "text", cwd=world.home)


@pytest.mark.slow
def test_links_that_a_clone_brings(world: World) -> None:
    """[SURFACES: Getting skills] a project can't make clean delete files elsewhere."""
    source = world.skill("pdf")
    world.ok("build", "pdf")
    shutil.rmtree(source)
    victim = world.root / "victim"
    shutil.copytree(world.runtime / "pdf", victim, symlinks=True)
    shutil.rmtree(world.runtime / "pdf")
    before = read_tree(victim)
    assert _kinds(_clean(world, "--yes")) == {"ghost"}
    (world.runtime / "pdf").symlink_to(victim)
    (world.runtime / "two").mkdir()
    (world.runtime / "two" / ".skillc").symlink_to(victim / ".skillc")
    (world.runtime / "three").mkdir()
    shutil.copytree(victim / ".skillc", world.runtime / "three" / ".skillc")
    (world.runtime / "three" / ".skillc-meta").symlink_to(victim / ".skillc-meta")
    assert _clean(world, "--yes") == []
    shutil.rmtree(world.runtime)
    world.runtime.symlink_to(victim.parent)
    assert _clean(world, "--yes") == []
    assert read_tree(victim) == before


@pytest.mark.slow
def test_ghosts(world: World) -> None:
    """[D51] links and folders that we wrote go, an edited one goes to the trash, another's stays."""
    for name in ("link", "copy", "edited", "replaced", "missing", "hidden"):
        world.skill(name, store=world.global_store)
        world.ok("build", name, "--target", "claude", *(["--copy"] if name in ("copy", "edited") else []))
    agent = world.home / ".claude" / "skills"
    save(agent / "edited" / "SKILL.md", "mine")
    (agent / "replaced").unlink()
    (agent / "replaced").mkdir()
    save(agent / "replaced" / "SKILL.md", "not yours")
    (agent / "missing").unlink()
    (agent / "hidden").unlink()
    (hidden,) = (each for each in read_deployments() if each.skill == "hidden")
    record_deployments([vary(hidden, method=LEFT_OUT)])  # as for an agent with it on demand
    assert _clean(world, "--dry-run") == []
    shutil.rmtree(world.global_store)
    ghosts = {Path(e["path"]).name: e["result"] for e in _clean(world, "--yes") if e["kind"] == "ghost"}
    assert ghosts == {
        "link": "removed",
        "copy": "removed",
        "edited": "trashed",
        "replaced": "removed",  # from the record alone
        "missing": "removed",
        "hidden": "removed",
    }
    assert [path.name for path in agent.iterdir()] == ["replaced"]
    assert (agent / "replaced" / "SKILL.md").read_text() == "not yours"
    assert read_deployments() == []
    world.ok("restore", "edited")
    assert (agent / "edited" / "SKILL.md").read_text() == "mine"


@pytest.mark.slow
def test_notes_on_imports(world: World) -> None:
    """[D46] a note goes with its copy, but not while the copy can come back from the trash, untrusted."""
    for name in ("gone", "binned", "fresh", "there"):
        world.ok("build", str(world.skill(name, store=world.root / "elsewhere")), cwd=world.home)
    notes = world.home / ".skillc" / "imports"
    by_name = {Path(json.loads(path.read_text())["copy"]).name: path for path in notes.iterdir()}
    save(notes / "damaged.json", "{")
    for name in ("gone", "binned", "there"):
        _age(by_name[name])
    _age(notes / "damaged.json")
    trash.put(str(world.global_store / "binned"), "a test")
    shutil.rmtree(world.global_store / "gone")
    shutil.rmtree(world.global_store / "fresh")
    entries = [entry for entry in _clean(world, "--yes") if entry["what"] == "note on an import"]
    assert [Path(entry["from"]).name for entry in entries] == ["gone"]
    assert not by_name["gone"].exists()
    assert all(by_name[name].exists() for name in ("binned", "fresh", "there"))
    assert (notes / "damaged.json").exists()


def test_leftovers(world: World) -> None:
    """[SURFACES: Getting skills] they go after an hour; from stores and agents' folders to the trash."""
    agent = world.home / ".claude" / "skills"
    agent.mkdir(parents=True)
    own = world.home / ".skillc"
    (own / "skills").mkdir(parents=True)
    (own / "skills" / "pdf").mkdir()
    name = ".pdf.123-0123abcd.tmp"
    old = [own / name, world.store / name, agent / name, own / "skills" / name]
    young = own / ".new.123-0123abcd.tmp"
    inside = own / "skills" / "pdf" / "docs" / name  # in a skill: the user's
    inside.parent.mkdir()
    lock = world.home / ".agents" / "..skill-lock.json.123-0123abcd.tmp"
    locks = [lock, world.project / ".skills-lock.json.123-0123abcd.tmp"]
    other = lock.with_name(name)  # beside a lock, but none
    lock.parent.mkdir()
    for path in (*old, *locks, young, inside, other):
        save(path, "half")
    for path in (*old, *locks, inside, other):
        _age(path)
    results = {entry["path"]: entry["result"] for entry in _clean(world, "--yes")}
    gone, trashed = [str(path) for path in (old[0], *locks)], [str(path) for path in old[1:]]
    assert results == dict.fromkeys(gone, "removed") | dict.fromkeys(trashed, "trashed")
    assert all(path.exists() for path in (young, inside, other))


@pytest.mark.slow
def test_what_stays(world: World) -> None:
    """[D52] sources, logs, trash, trust, configuration and unknown files are never touched."""
    world.skill("pdf", store=world.global_store)
    world.skill("here")
    world.ok("build", "pdf", "--target", "claude")
    world.ok("build", "here", "--target", "claude", "--deploy", "project")
    _find(world)
    own = world.home / ".skillc"
    for name in ("trust.json", "variables.json", "config.toml", "mine.txt", "cache/unknown/file"):
        (own / name).parent.mkdir(exist_ok=True)
        save(own / name, "version = 1\n" if name.endswith("toml") else "{}")
    save(world.root / "old", "old")
    trash.put(str(world.root / "old"), "a test")
    before = read_tree(world.root)
    entries = _clean(world, "--yes")
    assert _kinds(entries) == {"cache"}
    gone = [path for path in before if "cache/library.db" in path]
    assert gone
    assert read_tree(world.root) == {k: v for k, v in before.items() if k not in gone}


def test_a_home_that_can_not_be_written(world: World, unprivileged: tuple[str, ...]) -> None:
    """[SURFACES: Getting skills] what can't go is kept, with the reason, and never a traceback."""
    world.skill("pdf", store=world.global_store)
    _find(world)
    cache = world.home / ".skillc" / "cache"
    cache.chmod(0o500)
    try:
        result = world.skc("clean", "--yes", "--format", "json", prefix=unprivileged)
    finally:
        cache.chmod(0o700)
    assert result.returncode == 0, result.stderr
    (entry,) = json.loads(result.stdout)["entries"]
    assert entry["result"] == "kept"
    assert entry["detail"]


def test_versions_that_updates_are_merged_against(world: World) -> None:
    """[SURFACES: Getting skills] they stay while a note has them, and all of them if a note can't be read."""
    own = world.home / ".skillc"
    names = {name: name[0] * 64 for name in ("here", "gone", "none", "young")}
    for digest in names.values():
        (own / "versions" / digest).mkdir(parents=True)
        save(own / "versions" / digest / "SKILL.md", "x")
    (own / "installed").mkdir()
    for name, root in (("here", world.project), ("gone", world.root / "gone")):
        note = {"root": str(root), "skills": {name: names[name]}}
        save(own / "installed" / f"{name}.json", json.dumps(note))
        _age(own / "installed" / f"{name}.json")
    for name in ("here", "gone", "none"):
        _age(own / "versions" / names[name])
    save(own / "installed" / "damaged.json", "{")
    assert [entry for entry in _clean(world, "--dry-run") if "version" in entry["what"]] == []
    (own / "installed" / "damaged.json").unlink()
    entries = _clean(world, "--yes")
    assert {entry["result"] for entry in entries} == {"removed"}
    assert {path.name for path in (own / "versions").iterdir()} == {names["here"], names["young"]}
    assert {path.name for path in (own / "installed").iterdir()} == {"here.json"}


def test_downloads_and_hashes(world: World) -> None:
    """[SURFACES: Getting skills] downloads that were cut off, and hashes, are caches; locks stay."""
    cache = world.home / ".skillc" / "cache"
    for name in ("downloads/.download.1-00000000.tmp", "installed", "locks"):
        (cache / name).mkdir(parents=True)
        save(cache / name / "file", "x")
    young = cache / "downloads" / ".download.2-00000000.tmp"
    young.mkdir()
    _age(cache / "downloads" / ".download.1-00000000.tmp")
    whats = {entry["what"] for entry in _clean(world, "--yes")}
    assert whats == {"download that was cut off", "hashes of installed skills"}
    assert young.exists()
    assert (cache / "locks" / "file").exists()


def test_directories_of_agents_that_a_clone_brings(world: World) -> None:
    """[SURFACES: Getting skills] a link in a project is not followed, and other names are not ours."""
    victim = world.root / "victim"
    victim.mkdir()
    for path in (victim / ".x.1-00000000.tmp", world.store / ".mine.tmp", world.store / ".x.1-zz.tmp"):
        save(path, "x")
        _age(path)
    (world.project / ".claude").mkdir()
    (world.project / ".claude" / "skills").symlink_to(victim)
    assert _clean(world, "--yes") == []
    assert (victim / ".x.1-00000000.tmp").exists()


@pytest.mark.slow
def test_a_record_that_lies(world: World) -> None:
    """[D52] nothing is deleted but what a build of that very skill wrote."""
    world.skill("pdf", store=world.global_store)
    world.ok("build", "pdf", "--target", "claude", "--copy")
    (record,) = read_deployments()
    folder = world.root / "folder"
    folder.mkdir()
    save(folder / "mine", "x")
    deployed = world.home / ".claude" / "skills" / "pdf"
    lies = [
        vary(record, path=str(folder), source="/gone"),
        vary(record, path=str(world.home), source="/gone", method="symlink"),
        vary(record, path="/", source="/gone"),
        vary(record, source="/gone"),  # the manifest names another source
    ]
    for lie in lies:
        record_deployments([lie])
        before = (read_tree(folder), read_tree(deployed))
        assert all(entry["size"] == 0 for entry in _clean(world, "--yes") if entry["kind"] == "ghost")
        assert (read_tree(folder), read_tree(deployed)) == before
    assert read_deployments() == []

"""Where things are: the home, projects, SKILLC_HOME."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc import paths
from tests.conftest import SkcRun, World

NOBODY = 54321  # a user that no passwd file has


def test_home(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[RFC-0009] below HOME, or where SKILLC_HOME says; an empty variable is none, and not the root.

    [D13] SKILLC_HOME moves the global directory, not the user's home.
    """
    assert paths.home() == paths.user_home() == str(world.home)
    assert paths.require_home() == str(world.home)
    for value in ("/x", "/x/", "/x/../x"):
        monkeypatch.setenv("SKILLC_HOME", value)
        assert paths.home() == "/x"
        assert paths.user_home() == str(world.home)
    monkeypatch.setenv("SKILLC_HOME", "x")
    assert paths.home() == str(world.project / "x")
    monkeypatch.setenv("SKILLC_HOME", "")
    assert paths.home() == str(world.home)
    monkeypatch.delenv("HOME")
    without = paths.user_home()
    monkeypatch.setenv("HOME", "")
    assert paths.user_home() in (without, None)


def test_skillc_home_moves_everything(world: World) -> None:
    """[RFC-0009] sources, compiled skills and settings of the home are all below SKILLC_HOME."""
    moved = world.root / "moved"
    env = {"SKILLC_HOME": str(moved)}
    (moved / ".skillc").mkdir(parents=True)
    (moved / ".skillc" / "config.toml").write_text("colour = 1\n")
    world.ok("init", "there", "--global", "--description", "Say where it is.", env=env)
    built = world.json("build", "there", env=env)
    assert built["source_path"] == str(moved / ".skillc" / "skills" / "there")
    assert built["runtime_path"] == str(moved / ".skillc" / "runtime" / "there")
    assert "unknown key 'colour'" in world.ok("search", "there", "x", env=env).stderr
    listed = world.json("list", env=env)
    assert [(s["name"], s["scope"], s["status"]) for s in listed["skills"]] == [("there", "global", "normal")]
    assert not (world.home / ".skillc").exists()
    assert not (world.project / ".skillc" / "runtime").exists()


def test_roots_walk_up(world: World) -> None:
    """[D13a] [RFC-0007] every directory with .skillc from here upwards; not a file, nor one with logs
    alone.
    """
    inner = world.project / "a" / "b"
    (inner / ".skillc").mkdir(parents=True)
    start = inner / "c" / "d"
    start.mkdir(parents=True)
    assert list(paths.project_roots(str(start))) == [str(inner), str(world.project)]
    assert list(paths.project_roots(str(world.root))) == []
    here = world.root / "here"
    here.mkdir()
    marker = here / ".skillc"
    marker.touch()
    assert list(paths.project_roots(str(here))) == []
    marker.unlink()
    marker.symlink_to("nowhere")
    assert list(paths.project_roots(str(here))) == []
    marker.unlink()
    marker.symlink_to(world.project / ".skillc")
    assert list(paths.project_roots(str(here))) == [str(here)]
    elsewhere = world.root / "elsewhere"
    (elsewhere / ".skillc" / "logs" / "pdf").mkdir(parents=True)
    assert list(paths.project_roots(str(elsewhere))) == []
    (elsewhere / ".skillc" / "skills").mkdir()
    assert list(paths.project_roots(str(elsewhere))) == [str(elsewhere)]


@pytest.mark.parametrize("by", ["HOME", "SKILLC_HOME"])
def test_the_home_is_no_project(world: World, monkeypatch: pytest.MonkeyPatch, by: str) -> None:
    """[RFC-0009] the home is never a project root: not itself, not from below, not through a link."""
    home = world.root / "x"
    work = home / "work"
    work.mkdir(parents=True)
    (home / ".skillc").mkdir()
    link = world.root / "link"
    link.symlink_to(home)
    for value in (home, link):
        monkeypatch.setenv(by, str(value))
        for start in (home, work, link, link / "work"):
            assert list(paths.project_roots(str(start))) == []
    (work / ".skillc").mkdir()
    assert list(paths.project_roots(str(link / "work"))) == [str(work)]


def test_in_the_home_everything_is_global(world: World) -> None:
    """[RFC-0009] a skill in the home's store is global, wherever the command runs."""
    world.skill("pdf", store=world.global_store)
    for cwd in (world.home, world.global_store, world.global_store / "pdf", world.project):
        listed = world.json("list", cwd=cwd)
        assert [skill["scope"] for skill in listed["skills"]] == ["global"]
    built = world.json("build", ".", cwd=world.global_store / "pdf")
    assert built["runtime_path"] == str(world.home / ".skillc" / "runtime" / "pdf")


@given(st.binary(min_size=1, max_size=60).filter(lambda b: b"\0" not in b))
def test_path_hash_takes_any_name(name: bytes) -> None:
    """[RFC-0004:C-INDEX] a path that is not UTF-8 has a hash too, that of its bytes."""
    assert paths.path_hash(os.fsdecode(name)) == hashlib.sha256(name).hexdigest()[:16]


@pytest.mark.slow
def test_no_home_at_all(world: World) -> None:
    """[RFC-0009] without any home a project still works, and what needs one says so."""

    def skc(*words: str) -> SkcRun:
        return world.skc(*words, without=("HOME",), prefix=("unshare", "--user", f"--map-user={NOBODY}"))

    if not shutil.which("unshare") or skc("--version").returncode:
        pytest.skip("needs unshare(1) and user namespaces to be a user without a home")
    world.skill("pdf", "---\nname: pdf\ndescription: d\n---\n# PDF\n")
    row = skc("list").stdout.splitlines()[1].split()
    assert (row[:2], row[-1]) == (["pdf", "project"], "not-built")
    built = skc("build", "pdf", "--target", "./agent/skills")
    assert (built.returncode, built.stderr) == (0, "")
    assert (world.project / "agent" / "skills" / "pdf" / "SKILL.md").exists()
    assert skc("outline", "pdf").stdout == "SKILL.md\n  # PDF\n"
    for words in (["build", "pdf"], ["init", "x", "--global"], ["build", "pdf", "--global"]):
        refused = skc(*words)
        assert refused.returncode == 1
        assert refused.stderr.startswith("error[E999]: there is no home directory")
        assert len(refused.stderr.splitlines()) == 1
    assert skc("outline", "nothing").stderr.startswith("error[E001]: skill 'nothing' not found\nhint: ")


def test_read_regular(tmp_path: Path) -> None:
    """[D23a] whole regular files within the limit; nothing else is opened, or waited for."""
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100)
    assert paths.read_regular(str(file), 100) == b"x" * 100
    with pytest.raises(OSError, match="over 0 KiB"):
        paths.read_regular(str(file), 99)
    os.mkfifo(tmp_path / "pipe")
    for other in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(OSError, match="not a regular file"):
            paths.read_regular(str(other), 100)
    with pytest.raises(FileNotFoundError):
        paths.read_regular(str(tmp_path / "missing"), 100)

"""`skc install`: the store becomes what the lock says."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from skillc.install import read_locked
from skillc.install.lock import change_lock
from tests.conftest import World
from tests.support.cases import each
from tests.support.git import Origin, Server
from tests.support.lock import lock_skills, read_tree
from tests.support.npm import Installer
from tests.support.skills import skill


def install(world: World, *words: str) -> Any:
    return world.json("install", *words)


def test_without_a_lock(world: World) -> None:
    """[SURFACES: Getting skills] without a lock, commands that look at one say so."""
    for command in ("verify", "lock", "outdated", "update"):
        assert (
            world.ok(command).stdout == "The lock has no skills; 'skc add' gets some and notes them there.\n"
        )
    assert world.json("verify") == {"problems": [], "skills": []}


@pytest.mark.slow
def test_from_nothing(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills] fetched by commit, built and deployed; then there is nothing to do."""
    origin.write("pdf/scripts/run.sh", "#!/bin/sh\n")
    (origin.work / "pdf/scripts/run.sh").chmod(0o755)
    origin.write("pdf/.config", "hidden")
    origin.push()
    lock_skills(world, server.url, "pdf", "email", targets=["claude"])
    lock = (world.project / "skills-lock.json").read_bytes()
    origin.write("pdf/SKILL.md", "---\nname: pdf\ndescription: Newer\n---\nNewer\n")
    origin.push()
    assert install(world) == {"installed": ["email", "pdf"], "unchanged": [], "removed": []}
    assert "About pdf" in (world.store / "pdf" / "SKILL.md").read_text()
    assert (world.store / "pdf" / ".config").read_text() == "hidden"
    assert os.access(world.store / "pdf" / "scripts" / "run.sh", os.X_OK)
    assert (world.project / ".claude" / "skills" / "pdf" / "SKILL.md").is_file()
    requests = len(server.requests)
    before = read_tree(world.project)
    assert install(world) == {"installed": [], "unchanged": ["email", "pdf"], "removed": []}
    assert install(world, "--frozen") == {"installed": [], "unchanged": ["email", "pdf"], "removed": []}
    assert len(server.requests) == requests
    assert read_tree(world.project) == before
    assert (world.project / "skills-lock.json").read_bytes() == lock
    assert world.ok("verify").stdout == "Every file is what the lock says.\n"


def test_something_in_the_way(world: World) -> None:
    """[SURFACES: Getting skills] what can't be deployed is an error, until nothing is in the way."""
    lock_skills(world, str(skill(world.root / "origin", "pdf").parent), "pdf", targets=["claude"])
    own = skill(world.project / ".claude/skills", "pdf", "mine")
    for _ in range(2):
        assert str(own) in world.fails("E013", "install").stderr
    shutil.rmtree(own)
    assert install(world) == {"installed": [], "unchanged": ["pdf"], "removed": []}
    assert "skc show pdf" in (own / "SKILL.md").read_text()


@pytest.mark.slow
def test_one_fetch_for_one_repository(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills] many skills of one commit are one download; what is there is not fetched."""
    names = [f"s{number}" for number in range(20)]
    origin.push(*names)
    lock_skills(world, server.url, *names)
    server.requests.clear()
    install(world)
    first = len(server.requests)
    assert first <= 6
    shutil.rmtree(world.store / "s3")
    assert install(world)["installed"] == ["s3"]


@pytest.mark.slow
def test_mcp_servers_are_repositories(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Lock file] an entry from an MCP server says what to do instead; others are installed."""
    lock_skills(world, server.url, "pdf")
    file = world.project / "skills-lock.json"
    lock = json.loads(file.read_text())
    lock["skills"]["refunds"] = {
        "source": "mcp:https://skills.example.com/mcp",
        "sourceUrl": "https://skills.example.com/mcp",
        "sourceType": "download",
        "skillPath": "acme/refunds/SKILL.md",
        "computedHash": "0" * 64,
    }
    file.write_text(json.dumps(lock))
    way = "out of the lock, and add the server as a repository: "
    way += "skc repo add <name> https://skills.example.com/mcp --type mcp"
    (line,) = [each for each in world.fails("E081", "install").stderr.splitlines() if "refunds" in each]
    assert line.startswith("error[E081]")
    assert line.endswith(way)
    assert (world.store / "pdf" / "SKILL.md").is_file()
    assert way in world.skc("outdated").stderr


@pytest.mark.slow
def test_edits_go_to_the_trash(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills][D52] an edited skill is restored, and the edit can be brought back."""
    lock_skills(world, server.url, "pdf")
    install(world)
    (world.store / "pdf" / "SKILL.md").write_text("---\nname: pdf\ndescription: Mine\n---\nMine\n")
    (world.store / "pdf" / "notes.txt").write_text("mine")
    problems = json.loads(world.skc("verify", "--format", "json").stdout)["problems"]
    assert problems == [
        {"id": "pdf", "file": "SKILL.md", "problem": "changed"},
        {"id": "pdf", "file": "notes.txt", "problem": "added"},
    ]
    result = world.ok("install")
    assert "warning[W007]" in result.stderr
    assert "About pdf" in (world.store / "pdf" / "SKILL.md").read_text()
    item = world.json("trash", "list")["entries"][0]
    assert (Path(item["path"]) / "notes.txt").read_text() == "mine"
    assert world.ok("verify").returncode == 0


@pytest.mark.slow
def test_skills_that_left_the_lock(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills] they leave store and agents; edits go to the trash, own skills stay."""
    lock_skills(world, server.url, "pdf", "email", targets=["claude"])
    install(world)
    world.skill("own")
    (world.store / "email" / "notes.txt").write_text("mine")
    change_lock(str(world.project), forget=["pdf", "email"])
    problems = json.loads(world.skc("verify", "--format", "json").stdout)["problems"]
    assert [p["id"] for p in problems] == ["email", "pdf"]
    dry = world.json("install", "--dry-run")
    assert dry == {"installed": [], "unchanged": [], "removed": ["email", "pdf"]}
    assert (world.store / "pdf").is_dir()
    result = world.ok("install", "--format", "json")
    assert json.loads(result.stdout)["removed"] == ["email", "pdf"]
    assert result.stderr.count("warning[W007]") == 1
    assert sorted(os.listdir(world.store)) == ["own"]
    assert os.listdir(world.project / ".claude" / "skills") == []
    entries = world.json("trash", "list")["entries"]
    assert [Path(e["from"]).name for e in entries] == ["email"]
    assert install(world) == {"installed": [], "unchanged": [], "removed": []}


@pytest.mark.slow
def test_a_tag_that_moved(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Lock file] the locked commit is used, with a warning; where it is gone, E081."""
    (entry,) = lock_skills(world, f"git+{server.url}#v1", "pdf")
    origin.write("pdf/SKILL.md", "---\nname: pdf\ndescription: Evil\n---\nEvil\n")
    origin.git("tag", "-d", "v1")
    moved = origin.push(tag="v1")
    assert moved != entry.commit
    result = world.ok("install", "--frozen")
    assert f"warning[W087]: the tag 'v1' of {server.url} moved" in result.stderr
    assert "About pdf" in (world.store / "pdf" / "SKILL.md").read_text()
    shutil.rmtree(world.store)
    world.store.mkdir()
    origin.git("checkout", "-q", "--orphan", "new")
    origin.git("commit", "-q", "-m", "new history")
    origin.git("tag", "-f", "v1")
    origin.git("branch", "-M", "main")
    origin.git("push", "-q", "-f", "--tags", "origin", "main")
    origin.git("reflog", "expire", "--expire=now", "--all", at=origin.bare)
    origin.git("gc", "-q", "--prune=now", at=origin.bare)
    world.fails("E081", "install", "--frozen")
    assert os.listdir(world.store) == []


@pytest.mark.slow
def test_frozen_changes_nothing(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Getting skills] one skill that can't be had exactly is E081, and nothing is installed."""
    (pdf, _) = lock_skills(world, server.url, "pdf", "email")
    pdf.fields["computedHash"] = "0" * 64
    change_lock(str(world.project), record=[pdf])
    before = read_tree(world.project)
    result = world.fails("E081", "install", "--frozen")
    assert "'pdf'" in result.stderr
    assert read_tree(world.project) == before
    failed = world.fails("E081", "install")
    assert "Installed 'email'" in failed.stdout
    assert not (world.store / "pdf").exists()
    server.fault = "503"
    shutil.rmtree(world.store / "email")
    world.fails("E081", "install", "--frozen")


@pytest.mark.slow
def test_an_entry_of_another_tool(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Lock file] [SURFACES: Getting skills] an entry of another tool is resolved with a
    warning; --global is the home's lock.
    """
    (entry,) = lock_skills(world, server.url, "pdf")
    del entry.fields["skillc"]
    path = world.project / "skills-lock.json"
    path.write_text(json.dumps({"version": 1, "skills": {"pdf": entry.fields}}))
    world.fails("E081", "install", "--frozen")
    result = world.ok("install")
    assert "warning[W086]" in result.stderr
    assert "the files are the same" in result.stderr
    assert read_locked(str(world.project))["pdf"].commit == origin.git("rev-parse", "HEAD")
    assert install(world, "--frozen")["unchanged"] == ["pdf"]
    lock_skills(world, server.url, "pdf", root=world.home, targets=["claude"])
    elsewhere = world.root / "elsewhere"
    elsewhere.mkdir()
    assert world.json("install", cwd=elsewhere)["installed"] == ["pdf"]
    assert (world.global_store / "pdf" / "SKILL.md").is_file()
    assert (world.home / ".claude" / "skills" / "pdf" / "SKILL.md").is_file()
    assert install(world, "--global")["unchanged"] == ["pdf"]


def test_local_folders(world: World) -> None:
    """[SURFACES: Getting skills] a folder that changed is E081, its links become files; no lock removes
    nothing.
    """
    mine = skill(world.root / "mine", "pdf")
    (mine / "copy.md").symlink_to("SKILL.md")
    lock_skills(world, str(mine.parent), "pdf")
    assert install(world)["installed"] == ["pdf"]
    assert not (world.store / "pdf" / "copy.md").is_symlink()
    assert install(world)["unchanged"] == ["pdf"]
    shutil.rmtree(world.store / "pdf")
    (mine / "SKILL.md").write_text("---\nname: pdf\ndescription: Other\n---\nOther\n")
    result = world.fails("E081", "install")
    assert "skc update pdf" in result.stderr
    (world.project / "skills-lock.json").unlink()
    world.fails("E071", "install")
    (world.project / "skills-lock.json").write_text("{")
    for command in (["install"], ["verify"], ["lock"]):
        world.fails("E071", *command)


@pytest.mark.slow
def test_hostile_names(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Lock file] no name in a lock leads out of the store, and no two share a folder."""
    (entry,) = lock_skills(world, server.url, "pdf")
    path = world.project / "skills-lock.json"
    names = ["../../evil", "/tmp/evil", "a\x00b", "..", "con", "x" * 300]
    path.write_text(json.dumps({"version": 1, "skills": dict.fromkeys(names, entry.fields)}))
    world.ok("install")
    for folder in world.store.iterdir():
        assert folder.name.replace("-", "").isalnum()
    assert not (world.root / "evil").exists()
    path.write_text(json.dumps({"version": 1, "skills": dict.fromkeys(["a b", "a-b"], entry.fields)}))
    world.fails("E081", "install")


@each(
    "fields",
    [
        {"sourceType": "git", "sourceUrl": "ext::sh -c evil", "source": "x"},
        {"sourceType": "git", "sourceUrl": "--upload-pack=evil", "source": "x"},
        {"sourceType": "git", "sourceUrl": "http://example.com/x.git", "source": "x"},
        {"sourceType": "local", "source": "/nowhere"},
        {"sourceType": 5, "source": {}},
        {"sourceType": "git", "source": "x/y", "skillc": {"v": 1, "commit": "--evil"}},
        {},
    ],
)
def test_hostile_entries(world: World, fields: dict[str, object]) -> None:
    """[SURFACES: Lock file] an origin that can't be asked is one coded line."""
    path = world.project / "skills-lock.json"
    path.write_text(json.dumps({"version": 1, "skills": {"pdf": {**fields, "computedHash": "0" * 64}}}))
    world.fails("E081", "install")
    assert not (world.store / "pdf").exists()


@pytest.mark.slow
def test_a_lock_for_the_npm_package(installer: Installer, origin: Origin, server: Server) -> None:
    """[SURFACES: Lock file] npm's installer restores what 'skc add' locked, and its hashes are the same.

    Skills that it added from git are installed from its lock.
    """
    world = installer.world
    origin.write("skills/docx/über/.hidden", "x")
    origin.push("skills/docx", "skills/xlsx")
    world.ok("add", server.url, "--skill", "docx", "--skill", "xlsx", "--yes", "--target", "claude")
    ours = installer.lock()
    installer.run("experimental_install")
    for name in ("docx", "xlsx"):
        assert (world.project / ".agents" / "skills" / name / "SKILL.md").is_file()
        assert installer.lock()[name] == {k: v for k, v in ours[name].items() if k != "skillc"}
    assert world.fails("E081", "install", "--frozen").stdout == ""
    assert world.ok("install").stderr.count("warning[W086]") == 2
    left_out = {"audit": 0, "sha256": 0}
    assert installer.lock()["docx"]["skillc"] | left_out == ours["docx"]["skillc"] | left_out
    assert world.ok("install", "--frozen").stderr == ""
    world = installer.world
    installer.run("add", server.url, "--yes", "--skill", "pdf", "--agent", "claude-code")
    theirs = installer.lock()["pdf"]
    result = world.ok("install")
    assert "the files are the same" in result.stderr
    assert installer.lock()["pdf"] == {**theirs, "skillc": installer.lock()["pdf"]["skillc"]}
    assert (world.store / "pdf" / "SKILL.md").is_file()
    installer.run("experimental_install")
    assert (world.project / ".agents" / "skills" / "pdf" / "SKILL.md").is_file()


@pytest.mark.slow
def test_an_entry_that_can_not_be_completed(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Lock file] files that are as locked stay, though nothing says of which commit they are."""
    world.ok("add", server.url, "--skill", "pdf", "--yes", "--target", "claude")
    path = world.project / "skills-lock.json"
    content = json.loads(path.read_text())
    del content["skills"]["pdf"]["skillc"]
    path.write_text(json.dumps(content))
    origin.write("pdf/more.md", "more")
    origin.push()
    for fault, reason in (("503", "503"), ("", "they are other files now")):
        server.fault = fault
        result = world.ok("install")
        assert "warning[W086]" in result.stderr
        assert reason in result.stderr
        assert result.stdout == "1 skill unchanged\n"
    assert not (world.store / "pdf" / "more.md").exists()
    assert "skillc" not in json.loads(path.read_text())["skills"]["pdf"]

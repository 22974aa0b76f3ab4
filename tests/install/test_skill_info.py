"""`skc list` and `skc info`: what is known of the skills that are here."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from skillc.install import installed, state
from skillc.library import Skill
from tests.conftest import World
from tests.support.cases import each
from tests.support.lock import lock_skills
from tests.support.skills import skill
from tests.support.terminal import show_on_terminal

TEXT = "---\nname: pdf\ndescription: About pdf\nmetadata:\n  version: 1.2.0\n---\n# pdf\n\nText.\n"


def listed(world: World, *words: str) -> Any:
    """The one skill that is listed."""
    (entry,) = world.json("list", *words)["skills"]
    return entry


def info(world: World, *words: str) -> Any:
    return world.json("info", *words)


@pytest.fixture
def origin(world: World) -> Path:
    """The folder that the installed skill pdf came from."""
    folder = skill(world.root / "work", "pdf")
    (folder / "SKILL.md").write_text(TEXT)
    lock_skills(world, str(folder), "pdf", targets=["claude"])
    world.ok("install")
    return folder


def test_versions_without_asking(world: World, origin: Path) -> None:
    """[SURFACES: Installed skills] version, origin and pin of the lock; the latest as `outdated` learned."""
    entry = listed(world)
    assert (entry["version"], entry["origin"], entry["pinned"]) == ("1.2.0", str(origin), False)
    assert (entry["outdated"], entry["latest"], entry["checked"]) == (None, None, None)
    (origin / "more.md").write_text("# More\n")
    world.ok("outdated")
    shutil.move(origin, world.root / "moved")  # it can't be asked now
    entry = listed(world)
    assert (entry["outdated"], entry["latest"], entry["checked"][:2]) == (True, "new files", "20")
    assert "can be updated: 'skc update'" in world.ok("list").stdout
    shutil.move(world.root / "moved", origin)
    world.ok("update")
    world.ok("pin", "pdf")
    entry = listed(world)
    assert (entry["outdated"], entry["pinned"]) == (False, True)
    assert world.ok("list").stdout.splitlines()[1].endswith("  pinned")


def test_edits_at_agents(world: World) -> None:
    """[D51] [D52] what was edited, replaced or taken away where agents read it."""
    world.skill("pdf")
    (world.project / "a").mkdir()
    world.ok("build", "pdf", "--copy", "--target", "./a/skills,./b,./c")
    world.ok("build", "pdf", "--target", "claude")
    places = [world.project / each / "pdf" for each in ("a/skills", "b", "c")]
    (places[0] / "SKILL.md").write_text("mine")
    shutil.rmtree(places[1])
    shutil.rmtree(places[2])
    skill(places[2].parent, "pdf")
    states = {each["path"]: each["state"] for each in listed(world)["agents"]}
    claude = str(world.home / ".claude/skills/pdf")
    assert states == {**dict(zip(map(str, places), ("edited", "gone", "other"), strict=True)), claude: "link"}
    assert listed(world)["conflicts"] == [str(places[2])]
    (world.runtime / "pdf/SKILL.md").write_text("mine, too")
    assert {each["path"]: each["state"] for each in listed(world)["agents"]}[claude] == "edited"
    shown = world.ok("list").stdout
    assert "edited at " in shown
    assert "'pdf' was edited where agents read it; edit " in shown
    assert "'skc build pdf' writes what agents read anew, and puts your edits of it into the trash" in shown
    assert "SKILL.md' was there and is now in the trash" in world.skc("build", "pdf").stderr


def test_two_of_one_name(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D13a] [SURFACES: Installed skills] [D60] which a name means; a skill of a repository; a list
    without time for tokens.
    """
    near = world.skill("pdf")
    world.skill("pdf", store=world.global_store)
    first, second = world.json("list")["skills"]
    assert ("shadowed_by" in first, second["shadowed_by"]) == (False, str(near))
    assert [line.split()[-1] for line in world.ok("list").stdout.splitlines()[1:3]] == ["not-built", "hidden"]
    skill(world.root / "shelf", "docx")
    world.ok("repo", "add", "shelf", str(world.root / "shelf"))
    value = info(world, "docx")
    assert (value["origin"], value["status"]) == ("shelf", "not-built")
    assert value["path"] == str(world.root / "shelf/docx")
    shutil.rmtree(world.global_store / "pdf")
    with monkeypatch.context() as patch:
        patch.setattr(installed, "TIME_OUT", -1.0)
        assert listed(world)["tokens"] is None
        assert world.ok("list").stdout.splitlines()[1].split() == ["pdf", "project", "not-built"]
    assert listed(world)["tokens"]


def test_skills_from_elsewhere(world: World) -> None:
    """[SURFACES: Installed skills] skills that another program put into agents' folders, with the command."""
    world.skill("pdf")
    world.ok("build", "pdf")
    theirs = skill(world.home / ".claude/skills", "theirs")
    (world.home / ".claude/skills/link").symlink_to(theirs)
    ours = skill(world.project / ".claude/skills", "ours")
    skill(world.project / "skills", "code")
    found = world.json("list")["foreign"]
    assert found == [
        {"name": "theirs", "path": str(theirs), "scope": "global"},
        {"name": "ours", "path": str(ours), "scope": "project"},
    ]
    advice = [
        "1 skill in ~/.claude/skills came from elsewhere; 'skc import' takes it over.",
        f"1 skill in {ours.parent} came from elsewhere; 'skc import --project' takes it over.",
    ]
    assert world.ok("list").stdout.splitlines()[-2:] == advice
    checks = world.skc("doctor").stdout.splitlines()
    (agents,) = [line for line in checks if line.split()[1:2] == ["agents"]]
    assert all(line.rstrip(".") in agents for line in advice)
    for words in (("build", "pdf"), ("build", "--all")):
        assert "came from elsewhere" not in world.ok(*words).stdout
        assert "1 skill in ~/.claude/skills came from elsewhere" in show_on_terminal(
            world, *words, has_input=True, columns=200
        )


def test_everything_about_one(world: World, origin: Path) -> None:
    """[SURFACES: Installed skills] [D69] an installed skill's name first; the folder by its path."""
    here = world.skill("pdf", store=world.project)
    (world.store / "pdf/more.md").write_text("# More\n\nMore text.\n")
    value = info(world, "pdf")
    assert (value["id"], value["path"]) == ("pdf", str(world.store / "pdf"))
    assert value["tokens"]["files"] > 0
    assert value["used"] == {"offered": 0, "read": 0, "last": None}
    assert len(value["digest"]) == 64
    world.ok("show", "pdf", "--section", "pdf")
    assert info(world, "pdf")["used"]["read"] == 0  # a folder of that name was read
    shutil.rmtree(here)
    world.ok("show", "pdf", "--section", "pdf")
    used = info(world, "pdf")["used"]
    assert (used["read"], used["last"][:2]) == (1, "20")
    shown = world.ok("info", "pdf").stdout
    for command in ("build", "verify", "update", "pin", "disable", "remove"):
        assert f"  skc {command}" in shown
    assert "  used      1 time, last on 20" in shown
    world.skill("pdf", store=world.project)
    assert info(world, "./pdf")["path"] == str(here)
    assert f"skc import {here}" in world.ok("info", "./pdf").stdout
    world.fails("E001", "info", "unknown")


@pytest.mark.slow
def test_edits_in_the_store(world: World, origin: Path) -> None:
    """[SURFACES: Installed skills] [SURFACES: Lock file] --long is `info` for each; edits and conflicts; a
    damaged lock is a warning.
    """
    lines = world.ok("info", "pdf").stdout.split("\n\n")[0].splitlines()
    shown = world.ok("list", "--long").stdout.splitlines()
    assert [line for line in lines if not line.startswith("  used")] == shown[: len(lines) - 1]
    assert listed(world)["edited"] is False
    file = world.store / "pdf/SKILL.md"
    file.write_text(TEXT + "<<<<<<< yours\na\n=======\nb\n>>>>>>> update\n")
    entry = listed(world)
    assert (entry["edited"], entry["conflicts"]) == (True, [str(file)])
    assert "conflict, edited" in world.ok("list").stdout
    assert "skc verify" in world.ok("info", "pdf").stdout
    (world.project / "skills-lock.json").write_text("{")
    result = world.ok("list")
    assert "warning[W071]" in result.stderr
    assert result.stdout.splitlines()[1].split()[0] == "pdf"
    assert os.path.isdir(world.store)


@pytest.mark.slow
@each(
    ("columns", "header"),
    [
        (140, ["SKILL", "SCOPE", "VERSION", "FROM", "AGENTS", "TOKENS", "STATUS"]),
        (80, ["SKILL", "VERSION", "AGENTS", "TOKENS", "STATUS"]),
        (60, ["SKILL", "AGENTS", "TOKENS", "STATUS"]),
    ],
)
def test_widths(world: World, origin: Path, columns: int, header: list[str]) -> None:
    """[SURFACES: Installed skills] a status is shown whole; other columns go where it is narrow."""
    world.skill("a-name-of-thirty-two-characters")
    world.ok("pin", "pdf")
    (world.store / "pdf/more.md").write_text("# More\n")
    shown = show_on_terminal(world, "list", columns=columns, env={"NO_COLOR": "1"}).splitlines()
    first = next(number for number, line in enumerate(shown) if line.startswith("SKILL"))
    assert shown[first].split() == header
    assert all(len(line) <= columns for line in shown)
    assert shown[first + 2].endswith("  edited, pinned")


def test_what_did_not_change_is_not_read_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D60] the texts of skills, and copies at agents, are read when they changed."""
    folder = world.skill("pdf")
    world.ok("build", "pdf", "--copy", "--target", "./agent")
    monkeypatch.setattr(state, "RECENT", -1)
    expected = listed(world)
    reads: list[str] = []
    read_main = installed._read_main

    def read(each: Skill) -> dict[str, Any]:
        reads.append(each.name)
        return read_main(each)

    monkeypatch.setattr(installed, "_read_main", read)
    assert listed(world) == expected
    assert reads == []
    (folder / "SKILL.md").write_text(TEXT)
    assert listed(world)["version"] == "1.2.0"
    assert reads == ["pdf"]
    (note,) = (world.home / ".skillc/cache/list").iterdir()
    for damage in ("{", "[]", '{"main": 5}'):
        note.write_text(damage)
        assert listed(world)["version"] == "1.2.0"

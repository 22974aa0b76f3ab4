"""`skc disable` and `skc enable`: agents lose a skill for a while."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skillc.errors import InvalidConfiguration
from skillc.library.records import read_switches
from tests.conftest import World
from tests.support.git import GIT_ENV


@pytest.fixture
def pdf(world: World) -> Path:
    folder = world.skill("pdf", store=world.global_store)
    world.ok("build", "pdf", "--target", "claude,cursor", cwd=world.home)
    return folder


def call(world: World, *words: str) -> Any:
    return world.json(*words, cwd=world.home)


def present(world: World) -> set[str]:
    """The agents that have the skill."""
    places = {name: world.home / f".{name}/skills/pdf" for name in ("claude", "cursor", "codex")}
    return {name for name, place in places.items() if os.path.lexists(place)}


def listed(world: World) -> str:
    (entry,) = world.json("list", cwd=world.home)["skills"]
    return str(entry.get("disabled", ""))


@pytest.mark.slow
def test_for_all(world: World, pdf: Path) -> None:
    """[SURFACES: Getting skills] no agent has it, no build deploys it, `show` reads it; enable undoes it."""
    places = [str(world.home / f".{name}/skills/pdf") for name in ("claude", "cursor")]
    answer = call(world, "disable", "pdf")
    assert answer == {"id": "pdf", "disabled": True, "deployments": places}
    assert present(world) == set()
    result = world.ok("build", "pdf", "--target", "claude,codex", "--force", cwd=world.home)
    assert result.stderr.count("warning[W090]: 'pdf' is disabled for ") == 2
    assert "'skc enable pdf'" in result.stderr
    world.ok("build", "--all", cwd=world.home)
    assert present(world) == set()
    assert listed(world) == "disabled"
    assert "  disabled\n" in world.ok("list", cwd=world.home).stdout
    assert "Text." in world.ok("show", "pdf", "--section", "Usage", cwd=world.home).stdout
    assert call(world, "enable", "pdf") == {"id": "pdf", "disabled": False, "deployments": places}
    assert present(world) == {"claude", "cursor"}
    assert listed(world) == ""
    assert "'pdf' is not disabled" in world.ok("enable", "pdf", cwd=world.home).stdout


@pytest.mark.slow
def test_for_one_or_all_but_one(world: World, pdf: Path) -> None:
    """[SURFACES: Getting skills] one agent, or all but one, lose it; --dry-run, twice, and what can be
    disabled.
    """
    call(world, "disable", "pdf", "--target", "cursor")
    world.ok("build", "--all", "--target", "claude,cursor", cwd=world.home)
    assert present(world) == {"claude"}
    assert listed(world) == f"disabled in {world.home / '.cursor/skills'}"
    call(world, "enable", "pdf", "--target", "cursor")
    assert present(world) == {"claude", "cursor"}
    assert read_switches() == {}

    call(world, "disable", "pdf")
    call(world, "enable", "pdf", "--target", "cursor")
    assert present(world) == {"cursor"}
    assert listed(world) == f"disabled, but not in {world.home / '.cursor/skills'}"
    call(world, "disable", "pdf", "--target", "cursor")
    assert present(world) == set()
    call(world, "enable", "pdf")
    assert present(world) == {"claude", "cursor"}

    assert len(call(world, "disable", "pdf", "--dry-run")["deployments"]) == 2
    assert present(world) == {"claude", "cursor"}
    call(world, "disable", "pdf")
    call(world, "enable", "pdf", "--dry-run")
    assert present(world) == set()
    call(world, "enable", "pdf")

    def say(*words: str) -> str:
        return world.ok("disable", "pdf", *words, cwd=world.home).stdout.splitlines()[0]

    back = "'skc enable pdf' gives it back"
    assert say("--target", "cursor") == f"Disabled 'pdf'; {back}"
    assert say("--target", "cursor") == f"'pdf' was already disabled; {back}"
    assert say("--dry-run") == f"Would disable 'pdf'; {back}"
    assert say() == f"Disabled 'pdf'; {back}"
    assert say() == say("--target", "claude") == say("--dry-run") == f"'pdf' was already disabled; {back}"
    assert call(world, "disable", "pdf") == {"id": "pdf", "disabled": True, "deployments": []}

    world.fails("E001", "disable", "unknown")
    folder = world.skill("other", store=world.root / "work")
    world.fails("E100", "disable", str(folder))
    world.fails("E100", "disable", "pdf", "--target", "cluade")


def test_edited_copy(world: World, pdf: Path) -> None:
    """[D52] a copy that was edited is in the trash, and enable makes a copy again.

    A skill that was removed is no longer disabled when it comes back.
    """
    world.ok("build", "pdf", "--copy", "--target", "./agent", cwd=world.home)
    copy = world.home / "agent/pdf"
    (copy / "SKILL.md").write_text("mine")
    assert "warning[W092]" in world.ok("disable", "pdf", cwd=world.home).stderr
    assert not copy.exists()
    world.ok("enable", "pdf", cwd=world.home)
    assert copy.is_dir()
    assert not copy.is_symlink()
    (entry,) = world.json("trash", "list")["entries"]
    assert (Path(entry["path"]) / "SKILL.md").read_text() == "mine"
    call(world, "disable", "pdf")
    world.ok("remove", "pdf", cwd=world.home)
    assert read_switches() == {}


def test_in_a_project(world: World) -> None:
    """[SURFACES: Getting skills] deployments in the project come back as relative links."""
    world.skill("pdf")
    subprocess.run(["git", "init", "-q"], cwd=world.project, env=GIT_ENV, check=True)
    world.ok("build", "pdf", "--deploy", "project")
    place = world.project / ".claude/skills/pdf"
    before = os.readlink(place)
    world.ok("disable", "pdf", "--target", "claude")
    assert not os.path.lexists(place)
    world.ok("build", "--all", "--deploy", "project")
    assert not os.path.lexists(place)
    world.ok("enable", "pdf")
    assert os.readlink(place) == before


def test_enabled_where_a_clone_leads_out(world: World) -> None:
    """[D63] an agent's folder that leads out of the project by now is not written to; the skill stays off."""
    world.skill("pdf")
    world.ok("build", "pdf", "--target", "claude", "--deploy", "project")
    world.ok("disable", "pdf")
    folder = world.project / ".claude/skills"
    folder.rmdir()
    outside = world.root / "outside"
    outside.mkdir()
    folder.symlink_to(outside)
    world.fails("E012", "enable", "pdf")
    assert list(outside.iterdir()) == []
    folder.unlink()
    world.ok("enable", "pdf")
    assert os.path.lexists(folder / "pdf")


def test_damaged_file(world: World, pdf: Path) -> None:
    """[SURFACES: Getting skills] [D11] a damaged file is E071 that names it: no skill comes back by accident.

    One bit that is another gives no disabled skill back: it is E071, or all is as before.
    """
    call(world, "disable", "pdf")
    file = world.home / ".skillc/disabled.json"
    file.write_text("{")
    with pytest.raises(InvalidConfiguration):
        read_switches()
    stderr = world.fails("E071", "build", "pdf", cwd=world.home).stderr
    assert str(file) in stderr
    assert "'skc disable' again" in stderr
    assert present(world) == set()
    file.unlink()
    call(world, "disable", "pdf")
    data, sound = file.read_bytes(), read_switches()
    for place in range(len(data)):
        file.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 7]) + data[place + 1 :])
        try:
            assert read_switches() == sound
        except InvalidConfiguration:
            pass

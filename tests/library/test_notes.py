"""Notes on what servers answered: bounded, private, and never in the way."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from skillc.library import SkillRepositoryConfig, note_ids, note_version, recall_registries, recall_versions
from skillc.library.notes import MAX_SKILLS, MAX_VERSIONS, VersionNote, note_skills, recall_noted
from skillc.registry import Role
from tests.conftest import World
from tests.support.team import Team

FAR = SkillRepositoryConfig("far", "http", {"url": "https://far.example.com"})
URL = "https://skills.example.com"


def notes_of(world: World) -> list[Path]:
    return sorted((world.home / ".skillc" / "cache" / "notes").glob("*"))


def test_bounds(world: World) -> None:
    """[SURFACES: JSON] a server with endless lists, versions and words leaves a note of a bounded size."""
    note_skills(FAR, ((f"s{n}", (), ("x" * 1000, "y")) for n in range(MAX_SKILLS + 5)))
    assert len(recall_noted(FAR)) == MAX_SKILLS
    assert recall_noted(FAR)[0] == ("s0", (), ("y",))
    for number in range(3):
        note_version(URL, "a", f"1.0.{number}", ["latest"])
    assert recall_versions(URL) == {
        "a": [VersionNote("1.0.2", False, ("latest",)), VersionNote("1.0.1"), VersionNote("1.0.0")]
    }
    note_ids(URL, [f"s{n}" for n in range(MAX_SKILLS + 5)])
    assert len(recall_versions(URL)) == MAX_SKILLS
    assert recall_registries() == [URL]
    for number in range(MAX_VERSIONS + 5):
        note_version(URL, "b", f"2.0.{number}")
    assert len(recall_versions(URL)["b"]) == MAX_VERSIONS
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in notes_of(world))


def test_old_notes_go(world: World) -> None:
    """[SURFACES: JSON] a note that no answer renewed for 90 days is removed when another is written."""
    note_skills(FAR, [("a", (), ())])
    old = notes_of(world)[0]
    os.utime(old, (1, 1))
    note_skills(FAR, [("a", (), ())])  # the same answer again
    assert old.stat().st_mtime > 1
    os.utime(old, (1, 1))
    note_version(URL, "a", "1.0.0")
    assert old not in notes_of(world)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"\xff", b'{"skills": {"a": 1}, "versions": [1]}', b"[" * 100_000]
)
def test_damage(world: World, data: bytes) -> None:
    """[SURFACES: JSON] a damaged note is none, and the next answer replaces it."""
    note_skills(FAR, [("a", (), ())])
    note_version(URL, "a", "1.0.0")
    for path in notes_of(world):
        path.write_bytes(data)
    assert (recall_noted(FAR), recall_versions(URL), recall_registries()) == ([], {}, [])
    note_version(URL, "a", "1.0.0")
    assert list(recall_versions(URL)) == ["a"]


def test_rows_of_other_kinds(world: World) -> None:
    """[SURFACES: JSON] of a note with something else in it, the rest is used."""
    note_version(URL, "a", "1.0.0")
    rows = {"a": [["1.0.0", True, ["x", 1]], [1, 2, 3], "no"], "b": 5}
    notes_of(world)[0].write_text(json.dumps({"registry": 5, "versions": rows}))
    assert recall_versions(URL) == {"a": [VersionNote("1.0.0", True, ("x",))], "b": []}
    assert recall_registries() == []


def test_nowhere_to_write(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: JSON] without a place for notes there are none, and nothing fails."""
    (world.home / ".skillc" / "cache").mkdir(parents=True)
    (world.home / ".skillc" / "cache" / "notes").write_text("in the way")
    note_skills(FAR, [("a", (), ())])
    assert (recall_noted(FAR), recall_registries()) == ([], [])
    monkeypatch.setenv("HOME", "")
    monkeypatch.delenv("SKILLC_HOME", raising=False)
    note_version(URL, "a", "1.0.0")
    assert recall_versions(URL) in ({}, {"a": [VersionNote("1.0.0")]})


def test_answers_of_a_registry(ada: World, team: Team) -> None:
    """[SURFACES: JSON] what a registry says to add, publish and yank is kept, and `clean` removes it."""
    ada.skill("vat")
    ada.ok("publish", "vat", "--id", "payments/vat", "--tag", "next")
    assert recall_versions(team.url) == {"payments/vat": [VersionNote("0.1.0", False, ("next",))]}
    team.publish("refunds")
    ada.ok("add", f"{team.url}/refunds", "--yes")
    assert recall_versions(team.url)["refunds"] == [VersionNote("0.1.0", False, ("latest",))]
    token = team.token("mia", Role.MAINTAINER)
    ada.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": token})
    ada.ok("yank", "payments/vat@0.1.0", "--reason", "wrong")
    assert recall_versions(team.url)["payments/vat"] == [VersionNote("0.1.0", True, ("next",))]
    assert [path.name for path in notes_of(ada)] != []
    ada.ok("clean", "--yes")
    assert notes_of(ada) == []

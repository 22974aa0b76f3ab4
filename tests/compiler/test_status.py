"""`skc list`: which skills there are, and whether each is built."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import World


def listed(world: World, *words: str, cwd: Path | None = None) -> Any:
    return world.json("list", *words, cwd=cwd)


def names(world: World, *words: str, cwd: Path | None = None) -> list[str]:
    return [skill["name"] for skill in listed(world, *words, cwd=cwd)["skills"]]


def statuses(world: World, *words: str) -> dict[str, str]:
    return {skill["name"]: skill["status"] for skill in listed(world, *words)["skills"]}


def manifest(world: World, name: str) -> Path:
    return world.runtime / name / ".skillc" / "manifest.json"


def test_json_to_the_letter(world: World) -> None:
    """[RFC-0007] [SURFACES: Installed skills] the JSON is exactly this."""
    world.skill("pdf")
    world.skill("everywhere", store=world.global_store)
    world.ok("build", "pdf")
    own: dict[str, Any] = {
        **dict.fromkeys(("version", "origin", "ref", "commit"), ""),
        **dict.fromkeys(("edited", "pinned"), False),
        **dict.fromkeys(("outdated", "latest", "checked")),
        "conflicts": [],
    }
    place = str(world.home / ".claude/skills/pdf")
    assert listed(world) == {
        "skills": [
            {
                "id": "pdf",
                "name": "pdf",
                "scope": "project",
                "status": "normal",
                "source_path": str(world.store / "pdf"),
                "runtime_path": str(world.runtime / "pdf"),
                "description": "What pdf is for",
                "tokens": {"metadata": 5, "body": 9},
                "path": str(world.store / "pdf"),
                "agents": [{"agent": "claude", "path": place, "method": "symlink", "state": "link"}],
                **own,
            },
            {
                "id": "everywhere",
                "name": "everywhere",
                "scope": "global",
                "status": "not-built",
                "source_path": str(world.global_store / "everywhere"),
                "runtime_path": str(world.home / ".skillc" / "runtime" / "everywhere"),
                "description": "What everywhere is for",
                "tokens": {"metadata": 7, "body": 10},
                "path": str(world.global_store / "everywhere"),
                "agents": [],
                **own,
            },
        ],
        "total": 2,
        "filtered": 2,
        "foreign": [],
    }


def test_empty(world: World) -> None:
    """[RFC-0007] no skills is an empty list; files, hidden folders and what is no store hold none."""
    nothing = {"skills": [], "total": 0, "filtered": 0, "foreign": []}
    assert listed(world) == nothing
    result = world.ok("list")
    assert "No skills" in result.stdout
    assert result.stderr == ""
    assert listed(world, cwd=world.root) == nothing
    (world.store / "file").touch()
    (world.store / "folder").mkdir()
    (world.store / "SKILL.md").touch()
    world.skill(".hidden")
    result = world.ok("list", "--format", "json")
    assert (json.loads(result.stdout)["total"], result.stderr) == (0, "")
    shutil.rmtree(world.store)
    world.store.touch()
    assert names(world) == []


def test_columns(world: World) -> None:
    """[RFC-0007] [D60] text has the columns SKILL SCOPE STATUS and more, with --verbose SOURCE; the total."""
    folder = world.skill("pdf")
    world.skill("a-longer-name")
    rows = [line.split() for line in world.ok("list").stdout.splitlines()]
    columns = ["SKILL", "SCOPE", "VERSION", "FROM", "AGENTS", "TOKENS", "STATUS"]
    assert rows == [
        columns,
        ["a-longer-name", "project", "26", "not-built"],
        ["pdf", "project", "14", "not-built"],
        ["2", "skills"],
    ]
    assert world.ok("list", "--limit", "1").stdout.endswith("\n1 of 2 skills\n")
    header, *_, last, _ = world.ok("list", "--verbose").stdout.splitlines()
    assert header.split() == [*columns, "SOURCE"]
    assert last.split() == ["pdf", "project", "14", "not-built", str(folder)]
    assert header.index("SOURCE") == last.index(str(folder))


def test_order_limit_and_filters(world: World) -> None:
    """[RFC-0007] [D21] project before global, then by name; --limit cuts after filters.

    --pattern is a glob over names; the total counts before filters, which may leave nothing.
    """
    for name in ("zebra", "Ant", "bee"):
        world.skill(name)
    for name in ("ant", "aaa"):
        world.skill(name, store=world.global_store)
    every = ["Ant", "bee", "zebra", "aaa", "ant"]
    assert names(world) == names(world, "--limit", "99") == every
    for words, expected in (
        (("--scope", "project"), every[:3]),
        (("--scope", "global"), every[3:]),
        (("--scope", "all"), every),
        (("--pattern", "ant"), ["ant"]),
        (("--pattern", "a*"), ["aaa", "ant"]),
        (("--pattern", "a?t"), ["ant"]),
        (("--pattern", "[Az]*"), ["Ant", "zebra"]),
        (("--pattern", "ANT*"), []),
        (("--pattern", "*"), every),
        (("--pattern", "["), []),
    ):
        value = listed(world, *words)
        assert [skill["name"] for skill in value["skills"]] == expected, words
        assert (value["total"], value["filtered"]) == (5, len(expected))
    value = listed(world, "--limit", "2", "--pattern", "[Abz]*")
    assert [skill["name"] for skill in value["skills"]] == ["Ant", "bee"]
    assert (value["total"], value["filtered"]) == (5, 3)
    for bad in ("0", "-1", "x"):
        world.fails("E100", "list", "--limit", bad)
    assert "skc init" not in world.ok("list", "--pattern", "x").stdout


def test_order_over_several_projects(world: World) -> None:
    """[D13a] [RFC-0007] walking up, by name within the scope; the nearest of two with one name comes
    first.
    """
    inner = world.project / "inner"
    world.skill("b", store=inner / ".skillc" / "skills")
    world.skill("d", store=inner / ".skillc" / "skills")
    world.skill("a")
    world.skill("c")
    world.skill("0", store=world.global_store)
    assert names(world, cwd=inner) == ["a", "b", "c", "d", "0"]
    assert names(world) == ["a", "c", "0"]
    near = world.skill("pdf", store=inner / ".skillc" / "skills")
    world.skill("pdf")
    (first, _) = (skill for skill in listed(world, cwd=inner)["skills"] if skill["name"] == "pdf")
    assert first["source_path"] == str(near)


@pytest.mark.slow
def test_statuses(world: World) -> None:
    """[RFC-0007] normal with a valid manifest, not-built without, obsolete only when asked."""
    changed = world.skill("changed")
    for name in ("fine", "broken", "new"):
        world.skill(name)
    world.ok("build", "--all")
    world.skill("unbuilt")
    (changed / "more.md").write_text("# More\n")
    manifest(world, "broken").write_text("{")
    expected = {
        "broken": "not-built",
        "changed": "normal",
        "fine": "normal",
        "new": "normal",
        "unbuilt": "not-built",
    }
    assert statuses(world) == expected
    assert statuses(world, "--check-obsolete") == expected | {"changed": "obsolete"}
    assert names(world, "--status", "not-built") == ["broken", "unbuilt"]
    assert names(world, "--status", "normal") == ["changed", "fine", "new"]
    assert names(world, "--status", "normal", "--check-obsolete") == ["fine", "new"]
    assert names(world, "--status", "obsolete", "--check-obsolete") == ["changed"]
    assert names(world, "--status", "obsolete") == ["changed"]
    assert names(world, "--status", "all") == sorted(expected)


def test_invalid_manifest(world: World) -> None:
    """[RFC-0007] a manifest that is none, or has no hash, is not-built."""
    world.skill("pdf")
    world.ok("build", "pdf")
    for text in ("", "{", "[]", "null", "{}", '{"source_hash": 5}', '{"source_hash": ""}', "\0"):
        manifest(world, "pdf").write_text(text)
        assert statuses(world) == statuses(world, "--check-obsolete") == {"pdf": "not-built"}


def test_obsolete_by_content_alone(world: World) -> None:
    """[RFC-0007] [D3] [D2] touched or hidden files make nothing obsolete; other names and links that leave
    do.
    """
    folder = world.skill("pdf")
    (folder / "a.md").write_text("# A\n")
    world.ok("build", "pdf")
    os.utime(folder / "a.md", (1, 1))
    (folder / ".hidden").write_text("x")
    assert statuses(world, "--check-obsolete") == {"pdf": "normal"}
    (folder / "a.md").rename(folder / "b.md")
    assert statuses(world, "--check-obsolete") == {"pdf": "obsolete"}
    world.ok("build", "pdf")
    assert statuses(world, "--check-obsolete") == {"pdf": "normal"}
    (folder / "b.md").unlink()
    assert statuses(world, "--check-obsolete") == {"pdf": "obsolete"}
    world.ok("build", "pdf")
    (folder / "out").symlink_to(world.root)
    assert statuses(world, "--check-obsolete") == {"pdf": "obsolete"}


def test_built_in_the_home(world: World) -> None:
    """[D13a] [RFC-0007] built with --global counts; another skill's build of the same name does not."""
    world.skill("pdf")
    world.ok("build", "pdf", "--global")
    (skill,) = listed(world)["skills"]
    assert (skill["scope"], skill["status"]) == ("project", "normal")
    assert skill["runtime_path"] == str(world.home / ".skillc" / "runtime" / "pdf")
    world.skill("tea")
    world.skill("tea", store=world.global_store)
    world.ok("build", "tea", cwd=world.home)
    assert [(s["scope"], s["status"]) for s in listed(world)["skills"]] == [
        ("project", "normal"),
        ("project", "not-built"),
        ("global", "normal"),
    ]


def test_invalid_skill_is_skipped(world: World) -> None:
    """[RFC-0007] an invalid SKILL.md, or one that can't be read, is skipped with one warning."""
    for text in ("", "no frontmatter", "---\nname: x\n---\n", "---\ndescription: ''\n---\n"):
        world.skill(f"bad-{len(text)}", text)
    if Path("/proc/self/mem").exists():
        (world.store / "bad").mkdir()
        (world.store / "bad" / "SKILL.md").symlink_to("/proc/self/mem")
    world.skill("good")
    result = world.ok("list", "--format", "json")
    assert [skill["name"] for skill in json.loads(result.stdout)["skills"]] == ["good"]
    lines = result.stderr.splitlines()
    for line, folder in zip(lines, sorted(world.store.glob("bad*")), strict=True):
        assert line.startswith("warning[W")
        assert str(folder) in line

"""What `skc import` says that it would do, and what it skips and why."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from tests.conftest import World
from tests.support.skills import skill


def plan(world: World, *words: str, cwd: Path | None = None) -> Any:
    return world.json("import", "--dry-run", *words, cwd=cwd or world.home)


def reasons(world: World, *words: str, cwd: Path | None = None) -> dict[str, str]:
    return {entry["path"]: entry["reason"] for entry in plan(world, *words, cwd=cwd)["skipped"]}


def test_every_agent_by_default(world: World, claude: Path) -> None:
    """[SURFACES: Getting skills] without a folder and --from, all agents; nothing is done.

    People see short paths, and a folder of the skill's name is left out.
    """
    pdf = skill(claude, "pdf")
    docx = skill(world.home / ".agents/skills", "docx")
    store = world.global_store
    assert plan(world) == {
        "imported": [
            {"id": "docx", "from": str(docx), "to": str(store / "docx"), "how": "moved"},
            {"id": "pdf", "from": str(pdf), "to": str(store / "pdf"), "how": "moved"},
        ],
        "skipped": [],
    }
    assert [e["id"] for e in plan(world, "--from", "claude")["imported"]] == ["pdf"]
    assert [e["id"] for e in plan(world, "--from", "Claude-Code,cline")["imported"]] == ["pdf", "docx"]
    assert not pdf.is_symlink()
    assert not store.exists()
    lines = world.ok("import", "--dry-run", "--from", "claude", cwd=world.home).stdout.splitlines()
    assert lines[0].split() == ["SKILL", "HOW", "FROM", "TO"]
    rows = [line.split() for line in lines[1:] if " moved " in line]
    assert rows
    assert all(row[2:] == ["~/.claude/skills/", "~/.skillc/skills/"] for row in rows)


def test_agents_that_are_not_there(world: World, claude: Path) -> None:
    """[SURFACES: Getting skills] an unknown agent is E100; `list` says where skills of agents are."""
    assert "did you mean 'claude'" in world.fails("E100", "import", "--from", "cluade", cwd=world.home).stderr
    missing = str(world.home / ".codex/skills")
    assert reasons(world, "--from", "codex") == {missing: "there is no such directory"}
    assert "Nothing to import" in world.ok("import", cwd=world.home).stdout
    world.fails("E022", "import", "./nowhere")
    world.fails("E100", "import", "--global", "--project")
    assert "'skc init <name>'" in world.ok("list").stdout
    skill(claude, "pdf")
    skill(world.home / ".codex/skills", "docx")
    assert world.ok("list").stdout == (
        "No skills yet. 2 skills in ~/.claude/skills, ~/.codex/skills came from elsewhere;"
        " 'skc import' takes them over.\n"
    )
    assert world.json("list")["skills"] == []


def test_reasons(world: World, claude: Path) -> None:
    """[SURFACES: Getting skills] what is skipped in an agent's directory, each with its reason."""
    (claude / "empty").mkdir()
    (claude / "README.md").write_text("no skill")
    skill(claude, "no-description", "---\nname: no-description\n---\nText\n")
    skill(claude, "leaves").joinpath("link").symlink_to("/etc/hostname")
    elsewhere = skill(world.root / "work", "linked")
    (claude / "linked").symlink_to(elsewhere)
    nowhere = world.root / "nowhere"
    (claude / "dangling").symlink_to(nowhere)
    skill(claude, "module").joinpath(".git").write_text("gitdir: ../../.git/modules/x\n")
    skill(claude, ".system")
    world.skill("ours", store=world.global_store)
    world.ok("build", "ours", cwd=world.home)
    world.ok("build", "ours", "--copy", "--target", "codex", cwd=world.home)
    found = reasons(world)
    assert found == {
        str(claude / "dangling"): f"a link to '{nowhere}', which does not exist",
        str(claude / "empty"): "no SKILL.md",
        str(claude / "leaves"): "error[E012]: path escapes skill root: 'link'",
        str(claude / "linked"): (
            f"a link to '{elsewhere}', which stays; 'skc import {elsewhere}' takes that folder"
        ),
        str(claude / "module"): (
            "a git submodule or worktree, whose history is elsewhere; 'skc add' takes it from its origin"
        ),
        str(claude / "no-description"): ("error[E011]: missing frontmatter field 'description' in SKILL.md"),
        str(claude / "ours"): "deployed by skc already",
        str(world.home / ".codex/skills/ours"): "deployed by skc already",
    }


def test_folders(world: World) -> None:
    """[SURFACES: Getting skills] a folder is a skill, or has some below it: the project gets copies."""
    work = world.root / "work"
    for path in ("pdf", "office/docx", "office/tables/xlsx", "office/docx/examples/inner", ".hidden/x"):
        (work / path).mkdir(parents=True, exist_ok=True)
        (work / path / "SKILL.md").write_text(f"---\nname: {Path(path).name}\ndescription: d\n---\nx\n")
    skill(work / "node_modules", "package")
    entries = plan(world, str(work), cwd=world.project)["imported"]
    assert [e["id"] for e in entries] == ["pdf", "docx", "xlsx"]
    assert {e["how"] for e in entries} == {"copied"}
    assert {Path(e["to"]).parent for e in entries} == {world.store}
    (entry,) = plan(world, str(work / "pdf"), "--global", cwd=world.project)["imported"]
    assert entry["to"] == str(world.global_store / "pdf")
    (entry,) = plan(world, "pdf", "pdf", "./pdf/", cwd=work)["imported"]
    assert entry["from"] == str(work / "pdf")
    (work / "nothing").mkdir()
    world.fails("E010", "import", str(work / "nothing"))


def test_a_folder_of_an_agent_is_the_agents(world: World, claude: Path) -> None:
    """[SURFACES: Getting skills] an agent's folder by its path; npm's links to one in .agents/skills."""
    skill(claude, "pdf")
    for words in ((str(claude / "pdf"),), (str(claude),), ("~/.claude/skills",)):
        (entry,) = plan(world, *words, cwd=world.project)["imported"]
        assert (entry["how"], entry["to"]) == ("moved", str(world.global_store / "pdf"))
    shutil.rmtree(claude / "pdf")
    real = skill(world.home / ".agents/skills", "pdf")
    (claude / "pdf").symlink_to("../../.agents/skills/pdf")
    assert reasons(world) == {
        str(claude / "pdf"): f"a link to '{real}', which is imported; it leads to the compiled skill"
    }
    world.ok("import", "--yes", cwd=world.home)
    assert "skc outline" in (claude / "pdf/SKILL.md").read_text()
    world.ok("remove", "pdf", cwd=world.home)
    assert not os.path.lexists(claude / "pdf")


def test_projects_directories(world: World) -> None:
    """[SURFACES: Getting skills] --project: the project's directories; plain `skills` only by name."""
    skill(world.project / ".claude/skills", "pdf")
    skill(world.project / "skills", "own")
    (entry,) = plan(world, "--project", cwd=world.project)["imported"]
    assert (entry["id"], entry["to"]) == ("pdf", str(world.store / "pdf"))
    (entry,) = plan(world, "--project", "--from", "openclaw", cwd=world.project)["imported"]
    assert entry["id"] == "own"
    assert plan(world, cwd=world.project)["imported"] == []
    assert "'skc init'" in world.fails("E100", "import", "--project", cwd=world.root).stderr


def test_store_that_is_an_agents_directory(world: World) -> None:
    """[SURFACES: Getting skills] an agent whose directory is a link to the store has nothing to import."""
    pdf = world.skill("pdf", store=world.global_store)
    (world.home / ".claude").mkdir()
    (world.home / ".claude/skills").symlink_to(world.global_store)
    assert reasons(world) == {str(world.home / ".claude/skills/pdf"): "in the store already"}
    assert pdf.is_dir()

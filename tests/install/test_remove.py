"""`skc remove`: agents lose a skill, its owner does not."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from skillc import records
from skillc.install import read_locked
from skillc.library.records import read_deployments
from skillc.surface import Unattended
from skillc.workspace import Workspace
from tests.conftest import World
from tests.support.lock import lock_skills
from tests.support.skills import skill
from tests.support.terminal import on_terminal


@pytest.fixture
def pdf(world: World) -> Path:
    folder = world.skill("pdf", store=world.global_store)
    (folder / "scripts").mkdir()
    (folder / "scripts/fill.py").write_text("print()\n")
    world.ok("build", "pdf", "--target", "claude,cursor", cwd=world.home)
    return folder


def remove(world: World, *words: str, cwd: Path | None = None) -> Any:
    result = world.ok("remove", "--format", "json", *words, cwd=cwd or world.home)
    return json.loads(result.stdout)["removed"]


def test_removed(world: World, pdf: Path) -> None:
    """[SURFACES: Getting skills] links, stub, index, record go; the source is in the trash, the log stays."""
    world.ok("search", "pdf", "Text", cwd=world.home)
    places = [world.home / ".claude/skills/pdf", world.home / ".cursor/skills/pdf"]
    text = (pdf / "SKILL.md").read_bytes()
    (removal,) = remove(world, "pdf")
    assert removal["id"] == "pdf"
    assert sorted(removal["deployments"]) == sorted(map(str, places))
    assert (Path(removal["trashed"]) / "SKILL.md").read_bytes() == text
    assert not any(map(os.path.lexists, (*places, pdf)))
    assert read_deployments() == []
    runtime = world.home / ".skillc/runtime/pdf"
    assert {path.name for path in runtime.rglob("*") if path.is_file()} <= {
        "logs.db",
        "logs.db-wal",
        "logs.db-shm",
    }
    assert (runtime / ".skillc-meta/logs.db").exists()
    world.fails("E001", "remove", "pdf", cwd=world.home)


def test_others_go_where_one_is_gone(world: World, pdf: Path) -> None:
    """[D52] of several skills, one that another process removes meanwhile is named, and the others go."""
    gone = world.skill("gone", "---\ndescription: Go away\n---\n")

    class Person(Unattended):
        can_answer = True

        def confirm(self, text: str, question: str) -> bool:
            shutil.rmtree(gone)
            return True

    told: list[str] = []
    here = Workspace(str(world.project), told.append)
    here.person = Person()
    removals = here.remove("gone", "pdf")
    assert [removal.name for removal in removals.removed] == ["pdf"]
    assert told[0] == "warning[W005]: skipped: skill 'gone' not found (E001)"


def test_back_again(world: World, pdf: Path) -> None:
    """[D67] `restore` undoes it: agents have the skill again, in the same ways, and the log goes on."""
    world.ok("build", "pdf", "--copy", "--target", "./mine", cwd=world.home)
    world.ok("search", "pdf", "Text", cwd=world.home)
    before = {record.path: record for record in read_deployments()}
    result = world.ok("remove", "pdf", cwd=world.home)
    command = result.stdout.split("'skc ")[1].split("'")[0]
    assert f"  claude: {world.home}/.claude/skills/pdf (symlink)" in world.ok(*command.split()).stdout
    assert {record.path: record for record in read_deployments()} == before
    assert (world.home / ".claude/skills/pdf/scripts/fill.py").exists()
    assert not (world.home / "mine/pdf").is_symlink()
    stats = world.json("stats", "pdf", "--all", cwd=world.home)
    assert stats["data"]["total_accesses"] == 3  # two builds and the search before


def test_back_in_the_lock(world: World) -> None:
    """[D67] the lock's entry comes back with its pin, so that nothing is to be installed."""
    folder = skill(world.root / "work", "pdf")
    lock_skills(world, str(folder), "pdf", targets=["codex"])
    world.ok("install")
    world.ok("pin", "pdf")
    lock = (world.project / "skills-lock.json").read_bytes()
    remove(world, "pdf", cwd=world.project)
    value = world.json("restore", "pdf")
    assert value["deployments"] == [str(world.project / ".agents/skills/pdf")]
    assert (world.project / "skills-lock.json").read_bytes() == lock
    assert world.ok("install").stdout == "1 skill unchanged\n"
    assert world.ok("verify").returncode == 0
    (folder / "SKILL.md").write_text("---\nname: pdf\ndescription: x\n---\nNew.\n")
    world.ok("unpin", "pdf")
    with open(world.store / "pdf/SKILL.md", "a") as file:
        file.write("Mine.\n")
    assert "E082" in world.skc("update").stderr  # the version that it is merged with came back, too


@pytest.mark.slow
def test_back_from_an_update(world: World) -> None:
    """[D67] what an update or a build replaced remembers the lock and the agents of then."""
    folder = skill(world.root / "work", "pdf")
    lock_skills(world, str(folder), "pdf", targets=["codex"])
    world.ok("install")
    lock = (world.project / "skills-lock.json").read_bytes()
    (world.store / "pdf/mine.md").write_text("mine")
    with open(folder / "SKILL.md", "a") as file:
        file.write("New.\n")
    item = world.ok("update").stderr.split("'skc restore ")[1].split("'")[0]
    remove(world, "pdf", cwd=world.project)
    world.ok("restore", item)
    assert (world.store / "pdf/mine.md").read_text() == "mine"
    assert "New." not in (world.store / "pdf/SKILL.md").read_text()
    assert (world.project / "skills-lock.json").read_bytes() == lock
    assert [record.target for record in read_deployments()] == ["codex"]
    item = world.ok("build", str(folder), "--force").stderr + world.ok("trash", "list").stdout
    remove(world, "pdf", cwd=world.project)
    world.ok("restore", item.split()[item.split().index("FROM") + 1])
    assert [record.target for record in read_deployments()] == ["codex"]


def test_back_as_it_was(world: World, pdf: Path) -> None:
    """[D67] [D52] disabled, or never built, it is so again; one that can't be built is back, too."""
    world.ok("disable", "pdf", "--target", "cursor", cwd=world.home)
    world.skill("plain", store=world.global_store)
    for name in ("pdf", "plain"):
        remove(world, name)
        world.ok("restore", name)
    assert not os.path.lexists(world.home / ".cursor/skills/pdf")
    assert (world.home / ".claude/skills/pdf/SKILL.md").exists()
    assert not (world.home / ".skillc/runtime/plain").exists()
    world.ok("enable", "pdf", cwd=world.home)
    assert (world.home / ".cursor/skills/pdf/SKILL.md").exists()
    (removal,) = remove(world, "pdf")
    (Path(removal["trashed"]) / "SKILL.md").write_text("no frontmatter")
    result = world.fails("E011", "restore", "pdf")
    assert "Restored" in result.stdout
    assert (pdf / "SKILL.md").exists()


def test_back_where_a_clone_leads_out(world: World) -> None:
    """[D63] an agent's folder that leads out of the project is refused before anything is written."""
    world.skill("pdf")
    world.ok("build", "pdf", "--deploy", "project")
    remove(world, "pdf", cwd=world.project)
    (world.project / ".claude/skills").rmdir()
    (world.project / ".claude/skills").symlink_to(world.root)
    world.fails("E012", "restore", "pdf")
    assert not (world.store / "pdf").exists()
    assert not (world.root / "pdf").exists()
    (world.project / ".claude/skills").unlink()
    world.ok("restore", "pdf")
    assert (world.project / ".claude/skills/pdf/SKILL.md").exists()


def test_keep_source_and_purge(world: World, pdf: Path) -> None:
    """[SURFACES: Getting skills] [D70] --keep-source, --purge; what an older skc removed goes to installed
    agents.
    """
    (removal,) = remove(world, "pdf", "--keep-source", "--purge")
    assert removal["trashed"] is None
    assert (pdf / "SKILL.md").exists()
    assert not (world.home / ".skillc/runtime/pdf").exists()
    assert not os.path.lexists(world.home / ".claude/skills/pdf")
    assert "1 of 1 skill built" in world.ok("build", "--all", cwd=world.home).stdout
    (removal,) = remove(world, "pdf")
    note = Path(removal["trashed"]).parent / "note.json"
    fields = {key: value for key, value in json.loads(note.read_text()).items() if key != "memory"}
    note.write_text(json.dumps(records.seal(fields)))
    shutil.rmtree(world.home / ".cursor")
    world.ok("restore", "pdf")
    assert [record.target for record in read_deployments()] == ["claude"]


def test_the_way_back(world: World, pdf: Path) -> None:
    """[SURFACES: Getting skills] [D52] --dry-run takes nothing; messages and errors say how to bring a
    skill back.
    """
    (removal,) = remove(world, "pdf", "--dry-run")
    assert len(removal["deployments"]) == 2
    assert removal["trashed"] is None
    assert (pdf / "SKILL.md").exists()
    assert (world.home / ".claude/skills/pdf/SKILL.md").exists()
    assert world.ok("trash", "list").stdout == "The trash is empty.\n"
    shown = world.ok("remove", "pdf", cwd=world.home).stdout
    assert f"{pdf} is in the trash; 'skc restore pdf' brings it back" in shown
    world.ok("restore", "pdf", cwd=world.home)
    assert (pdf / "SKILL.md").exists()
    remove(world, "pdf")
    error = world.fails("E001", "show", "pdf", "--section", "Text", cwd=world.project).stderr
    command = error.split("hint: it is in the trash; 'skc ")[1].split("' brings it back")[0]
    world.ok(*command.split())
    assert (pdf / "SKILL.md").exists()
    other = world.home / "other"
    world.skill("csv", store=other / ".skillc/skills")
    remove(world, "csv", cwd=other)
    assert "trash" in world.fails("E001", "show", "csv", "--section", "Text", cwd=other).stderr
    assert "trash" not in world.fails("E001", "show", "csv", "--section", "Text", cwd=world.project).stderr


def test_copies(world: World, pdf: Path) -> None:
    """[D52] a copy as it was deployed goes; one that was edited, also by a file more, is in the trash."""
    world.ok("build", "pdf", "--copy", "--target", "./plain,./edited,./more", cwd=world.home)
    (world.home / "edited/pdf/SKILL.md").write_text("mine")
    (world.home / "more/pdf/.skillc/notes.txt").write_text("mine too")
    result = world.ok("remove", "pdf", cwd=world.home)
    assert [line.split(":")[0] for line in result.stderr.splitlines()] == ["warning[W092]"] * 2
    assert not any((world.home / name / "pdf").exists() for name in ("plain", "edited", "more"))
    entries = world.json("trash", "list")["entries"]
    kept = {Path(entry["from"]).parent.name: Path(entry["path"]) for entry in entries}
    assert (kept["edited"] / "SKILL.md").read_text() == "mine"
    assert (kept["more"] / ".skillc/notes.txt").read_text() == "mine too"
    assert set(kept) == {"edited", "more", "skills"}


def test_what_others_put_there_stays(world: World, pdf: Path) -> None:
    """[D52] a link or folder that took the place of a deployment is not skc's to remove."""
    link, folder = world.home / ".claude/skills/pdf", world.home / ".cursor/skills/pdf"
    link.unlink()
    link.symlink_to(world.root)
    folder.unlink()
    shutil.copytree(pdf, folder)
    result = world.ok("remove", "pdf", cwd=world.home)
    assert result.stderr.count("warning[W091]") == 2
    assert os.readlink(link) == str(world.root)
    assert (folder / "SKILL.md").exists()
    assert read_deployments() == []


def test_what_is_in_the_runtime_directory(world: World, pdf: Path) -> None:
    """[D52] an edited stub and files that a person put beside it are in the trash."""
    runtime = world.home / ".skillc/runtime/pdf"
    (runtime / "SKILL.md").write_text("my stub")
    (runtime / "notes.txt").write_text("my notes")
    (runtime / "elsewhere").symlink_to("/tmp")
    result = world.ok("remove", "pdf", cwd=world.home)
    assert result.stderr.count("warning[W092]") == 3
    entries = world.json("trash", "list")["entries"]
    texts = [Path(e["path"]).read_text() for e in entries if Path(e["path"]).is_file()]
    assert sorted(texts) == ["my notes", "my stub"]


def test_off_the_record(world: World, pdf: Path) -> None:
    """[D51] links off the record are found; a skill whose source is gone loses its deployments."""
    (world.home / ".skillc/deployments.json").unlink()
    (world.home / ".codex/skills").mkdir(parents=True)
    (world.home / ".codex/skills/pdf").symlink_to(pdf)
    (removal,) = remove(world, "pdf")
    assert len(removal["deployments"]) == 3
    assert not os.path.lexists(world.home / ".codex/skills/pdf")
    world.ok("restore", "pdf")
    shutil.rmtree(pdf)
    (removal,) = remove(world, "pdf")
    assert len(removal["deployments"]) == 3
    assert not os.path.lexists(world.home / ".claude/skills/pdf")
    assert world.ok("list", cwd=world.home).stderr == ""


@pytest.mark.slow
def test_which_skill(world: World, pdf: Path) -> None:
    """[SURFACES: Getting skills] the nearest store's; none if one is unknown; none of another project."""
    own = world.skill("pdf")
    remove(world, "pdf", cwd=world.project)
    assert not own.exists()
    assert pdf.exists()
    world.fails("E001", "remove", "pdf", "unknown", cwd=world.home)
    assert pdf.exists()
    world.skill("docx")
    world.ok("build", "docx")
    elsewhere = world.skill("docx", store=world.root / "work")
    refusal = world.fails("E100", "remove", "docx", cwd=world.home)
    assert f"'skc remove {world.store / 'docx'}'" in refusal.stderr
    world.fails("E100", "remove", str(elsewhere))
    assert len(remove(world, str(world.store / "docx"), "docx", cwd=world.project)) == 1


def test_folder_of_that_name(world: World) -> None:
    """[D69] a folder in the working directory hides no installed skill from what manages skills."""
    lock_skills(world, str(skill(world.root / "work", "pdf")), "pdf")
    world.ok("install")
    here = world.skill("pdf", store=world.project)
    for words in (("disable",), ("enable",), ("pin",), ("unpin",), ("update",), ("remove",)):
        world.ok(*words, "pdf")
    assert (here / "SKILL.md").exists()
    assert not (world.store / "pdf").exists()
    assert "'./pdf'" in world.fails("E001", "enable", "pdf").stderr
    for command in ("disable", "remove"):
        assert "'skc import ./pdf'" in world.fails("E100", command, "./pdf").stderr
    world.ok("restore", "pdf")
    world.ok("disable", "./.skillc/skills/pdf")


def test_path_of_a_locked_skill(world: World) -> None:
    """[D69] [SURFACES: Lock file] a path in the store means its name in the lock, whose entry goes as
    well.
    """
    lock_skills(world, str(skill(world.root / "work", "pdf")), "pdf")
    world.ok("install")
    for command in ("pin", "unpin", "update"):
        world.ok(command, "./.skillc/skills/pdf")
    world.fails("E001", "pin", str(world.root / "work/pdf"))
    lock_skills(world, str(skill(world.root / "work", "docx")), "docx")
    world.ok("install")
    remove(world, "pdf", cwd=world.project)
    assert list(read_locked(str(world.project))) == ["docx"]
    assert world.json("install")["unchanged"] == ["docx"]
    (world.project / "skills-lock.json").write_text("{")
    world.fails("E071", "remove", "docx")
    assert (world.store / "docx/SKILL.md").exists()


def test_store_with_a_link(world: World) -> None:
    """[D52] a skill that is a link in the store: the link goes, and what it points to stays."""
    folder = world.skill("pdf", store=world.root / "work")
    (world.store / "pdf").symlink_to(folder)
    world.ok("build", "pdf")
    remove(world, "pdf", cwd=world.project)
    assert not os.path.lexists(world.store / "pdf")
    assert (folder / "SKILL.md").exists()


@pytest.mark.slow
def test_asks_on_a_terminal(world: World, pdf: Path) -> None:
    """[SURFACES: Getting skills] a person is asked; no answer is no; --yes does not ask."""
    status, _, shown = on_terminal(world, "n\n", "remove", "pdf")
    assert "Would remove 'pdf'" in shown
    assert status == 1
    assert pdf.exists()
    assert on_terminal(world, "", "remove", "pdf", "--yes")[0] == 0
    assert not pdf.exists()

"""`skc import`: agents keep what they have, and the store gets it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from skillc import atomic
from skillc.library import import_origin
from skillc.library.records import read_deployments
from skillc.tools import find_skill
from skillc.tools.trust import TrustLevel
from skillc.workspace import Workspace
from tests.conftest import World
from tests.support.cases import each
from tests.support.git import GIT_ENV
from tests.support.skills import skill
from tests.support.terminal import on_terminal


def run_import(world: World, *words: str, cwd: Path | None = None) -> Any:
    result = world.ok("import", "--yes", "--format", "json", *words, cwd=cwd or world.home)
    return json.loads(result.stdout)


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", *words], cwd=folder, env=GIT_ENV, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def with_script(folder: Path) -> Path:
    (folder / "scripts").mkdir()
    (folder / "scripts" / "fill.py").write_text("print('filled')\n")
    (folder / ".env.example").write_text("KEY=\n")
    return folder


def test_moved(world: World, claude: Path) -> None:
    """[SURFACES: Getting skills] the folder is in the store, whole; its place has the compiled skill."""
    pdf = with_script(skill(claude, "pdf"))
    inode = pdf.stat().st_ino
    text = (pdf / "SKILL.md").read_bytes()
    answer = run_import(world)
    stored = world.global_store / "pdf"
    assert answer == {
        "imported": [{"id": "pdf", "from": str(pdf), "to": str(stored), "how": "moved"}],
        "skipped": [],
    }
    assert stored.stat().st_ino == inode
    assert (stored / "SKILL.md").read_bytes() == text
    assert (stored / ".env.example").exists()
    assert os.readlink(pdf) == str(world.home / ".skillc/runtime/pdf")
    assert "skc outline" in (pdf / "SKILL.md").read_text()
    assert (pdf / "scripts/fill.py").read_text() == "print('filled')\n"
    (record,) = read_deployments()
    assert (record.path, record.source) == (str(pdf), str(stored))
    assert world.ok("search", "pdf", "Body").stdout
    assert "1 unchanged" in world.ok("build", "--all", cwd=world.home).stdout
    assert run_import(world)["skipped"] == [{"path": str(pdf), "reason": "deployed by skc already"}]


def test_untrusted_until_adopted(world: World, claude: Path) -> None:
    """[D46] an imported skill is not the user's own until it is adopted, moved or copied."""
    skill(claude, "pdf", "---\nname: pdf\ndescription: d\n---\n## Tools\n")
    copied = skill(world.root / "work", "docx")
    run_import(world)
    run_import(world, str(copied))
    for name, origin in (("pdf", claude / "pdf"), ("docx", copied)):
        stored = str(world.global_store / name)
        assert import_origin(stored) == str(origin)
        assert find_skill(name, str(world.home)).level is TrustLevel.UNTRUSTED


def test_same_skill_of_two_agents(world: World, claude: Path) -> None:
    """[D52] the second folder is in the trash, and its place has the skill of the store."""
    skill(claude, "pdf")
    second = skill(world.home / ".codex/skills", "pdf")
    preview = world.ok("import", "--dry-run", "--format", "json", cwd=world.home)
    assert "the trash has the folder" in preview.stdout
    answer = run_import(world)
    (skip,) = answer["skipped"]
    assert skip["path"] == str(second)
    assert "the same as" in skip["reason"]
    assert second.is_symlink()
    assert os.path.realpath(second) == os.path.realpath(claude / "pdf")
    (entry,) = world.json("trash", "list")["entries"]
    assert entry["from"] == str(second)
    assert (Path(entry["path"]) / "SKILL.md").read_text().endswith("Body.\n")
    assert {record.path for record in read_deployments()} == {str(second), str(claude / "pdf")}


def test_other_skill_of_that_name_stays(world: World, claude: Path) -> None:
    """[D52] what differs from the store's stays where it is, untouched."""
    world.skill("pdf", store=world.global_store)
    mine = skill(claude, "pdf")
    answer = run_import(world)
    assert answer["imported"] == []
    assert not mine.is_symlink()
    assert world.fails("E013", "build", "pdf", cwd=world.home).stderr.endswith(
        f"hint: 'skc import {mine}' takes the skill there into the store\n"
    )


def test_history_comes_along(world: World, claude: Path) -> None:
    """[SURFACES: Getting skills] a folder that is a repository keeps its commits, moved or copied."""
    for folder in (skill(claude, "pdf"), skill(world.root / "work", "docx")):
        git(folder, "init", "-q")
        git(folder, "add", ".")
        git(folder, "commit", "-q", "-m", "first words")
        (folder / "new.md").write_text("not committed\n")
    run_import(world)
    run_import(world, str(world.root / "work/docx"))
    for name in ("pdf", "docx"):
        assert git(world.global_store / name, "log", "--format=%s") == "first words"
        assert git(world.global_store / name, "status", "--porcelain") == "?? new.md"
    assert (world.root / "work/docx/.git").is_dir()


def test_copied(world: World) -> None:
    """[SURFACES: Getting skills] [D53] a folder stays; `build --all` builds its copy; a change is noticed."""
    folder = with_script(skill(world.root / "work", "pdf"))
    (folder / "again.md").symlink_to("SKILL.md")
    result = world.ok("import", str(folder))
    assert result.stdout.endswith(
        "1 imported (0 moved, 1 copied), 0 skipped\n'skc build --all' builds the copies and deploys them.\n"
    )
    copy = world.store / "pdf"
    assert (copy / "again.md").read_bytes() == (folder / "SKILL.md").read_bytes()
    assert not (copy / "again.md").is_symlink()
    assert os.stat(copy / "SKILL.md").st_mtime_ns == os.stat(folder / "SKILL.md").st_mtime_ns
    assert not (world.home / ".claude").exists()
    world.ok("build", "--all")
    assert (world.home / ".claude/skills/pdf/SKILL.md").exists()
    assert run_import(world, str(folder), cwd=world.project)["skipped"] == [
        {"path": str(folder), "reason": f"the same as '{copy}'"}
    ]
    (folder / "SKILL.md").write_text("---\nname: pdf\ndescription: new\n---\nNew\n")
    (skip,) = run_import(world, str(folder), cwd=world.project)["skipped"]
    assert f"'skc build {folder}' compares it" in skip["reason"]
    assert "Updated" in world.ok("build", str(folder)).stdout
    assert (copy / "SKILL.md").read_text().endswith("New\n")


def test_other_directories(world: World) -> None:
    """[SURFACES: Getting skills] --project: relative links; an agent's directory kept elsewhere, as with
    dotfiles.
    """
    pdf = skill(world.project / ".claude/skills", "pdf")
    run_import(world, "--project", cwd=world.project)
    assert (world.store / "pdf/SKILL.md").exists()
    assert os.readlink(pdf) == "../../.skillc/runtime/pdf"
    assert (world.project / ".skillc/.gitignore").exists()
    real = world.root / "dotfiles"
    skill(real, "pdf")
    (world.home / ".claude").mkdir()
    (world.home / ".claude/skills").symlink_to(real)
    run_import(world, "--from", "claude")
    assert (real / "pdf").is_symlink()
    assert (world.global_store / "pdf/SKILL.md").exists()


@each("words", [["--from", "claude", "--project"], ["--project"], [".claude/skills/pdf"]])
def test_a_directory_that_leads_out_of_a_project(world: World, words: list[str]) -> None:
    """[D63] a clone may bring the link: nothing is moved out of the folder that it leads to."""
    outside = world.root / "outside"
    pdf = world.skill("pdf", store=outside)
    if not (world.project / ".claude").exists():
        (world.project / ".claude").mkdir()
        (world.project / ".claude/skills").symlink_to(outside)
    result = world.ok("import", *words, "--yes")
    assert ("leads out of the project" in result.stdout) == ("--project" in words)
    assert pdf.is_dir()
    assert not pdf.is_symlink()


def test_on_demand_again(world: World, claude: Path) -> None:
    """[D75] what was chosen to be on demand stays so when it is imported again; agents have the way to it."""
    skill(claude, "pdf")
    run_import(world)
    world.ok("listing", "set", "pdf", "demand", cwd=world.home)
    world.ok("remove", "pdf", "--yes", cwd=world.home)
    assert list(claude.iterdir()) == []
    skill(claude, "pdf")
    run_import(world)
    states = {Path(record.path).name: record.state for record in read_deployments()}
    assert states == {"pdf": "demand", "more-skills": "listed"}
    assert (claude / "more-skills" / "SKILL.md").exists()


def test_without_exchange(world: World, claude: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D52] where names can't be exchanged, the store gets a copy, and the trash the folder."""
    monkeypatch.setattr(atomic, "exchange", lambda one, other: False)
    pdf = with_script(skill(claude, "pdf"))
    assert Workspace(str(world.home)).import_skills(agents="claude", yes=True).is_success
    assert pdf.is_symlink()
    assert (world.global_store / "pdf/.env.example").exists()
    (entry,) = world.json("trash", "list")["entries"]
    assert entry["from"] == str(pdf)


def test_interrupted_before_the_build(world: World, claude: Path) -> None:
    """[D11] an import that was killed after the exchange is finished by the next, as by a build."""
    pdf, docx = claude / "pdf", claude / "docx"
    for place in (pdf, docx):
        stored = skill(world.global_store, place.name)
        place.symlink_to(stored)
    assert [e["from"] for e in run_import(world, str(pdf))["imported"]] == [str(pdf)]
    assert os.readlink(pdf) == str(world.home / ".skillc/runtime/pdf")
    assert world.ok("build", "docx", cwd=world.home).stderr == ""
    assert os.readlink(docx) == str(world.home / ".skillc/runtime/docx")
    leftover = world.global_store / "xlsx"
    leftover.symlink_to(leftover)
    skill(claude, "xlsx")
    run_import(world)
    assert (leftover / "SKILL.md").exists()


def test_build_that_fails(world: World, claude: Path) -> None:
    """[SURFACES: Getting skills] what can't be built is in the store, and the agent has it as it was."""
    pdf = skill(claude, "pdf")
    skill(claude, "docx")
    runtime = world.home / ".skillc/runtime"
    runtime.mkdir(parents=True)
    (runtime / "pdf").symlink_to(world.root)  # a build refuses to write there
    result = world.skc("import", "--yes", cwd=world.home)
    assert result.returncode == 1
    assert "error[E052]" in result.stderr
    assert (pdf / "SKILL.md").read_text().endswith("Body.\n")
    assert os.readlink(pdf) == str(world.global_store / "pdf")
    assert os.readlink(claude / "docx") == str(runtime / "docx")


def test_no_permission(world: World, claude: Path, unprivileged: tuple[str, ...]) -> None:
    """[SURFACES: Getting skills] a directory that can't be changed: the reason, and all stays."""
    pdf = skill(claude, "pdf")
    docx = skill(world.home / ".codex/skills", "docx")
    claude.chmod(0o555)
    try:
        result = world.skc("import", "--yes", cwd=world.home, prefix=unprivileged)
    finally:
        claude.chmod(0o755)
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert "Permission denied" in result.stderr
    assert (pdf / "SKILL.md").read_text().endswith("Body.\n")
    assert docx.is_symlink()


@pytest.mark.slow
def test_asks_on_a_terminal(world: World, claude: Path) -> None:
    """[D68] a person is asked before folders move, or --yes is needed; copies need no answer."""
    pdf = skill(claude, "pdf")
    assert "--yes moves" in world.fails("E100", "import").stderr
    status, _, shown = on_terminal(world, "n\n", "import")
    assert "~/.claude/skills/pdf -> ~/.skillc/skills/pdf" in shown
    assert status == 1
    assert not pdf.is_symlink()
    assert on_terminal(world, "", "import", str(skill(world.root / "work", "docx")))[0] == 0
    assert on_terminal(world, "y\n", "import")[0] == 0
    assert pdf.is_symlink()


def test_hostile_names(world: World, claude: Path) -> None:
    """[SURFACES: Getting skills] names that are odd for a shell or a terminal, and bytes that are no text."""
    names = [b"a b'c", b"x\x1b[31m", b"caf\xe9", b"-rf", "ünï".encode()]
    for name in names:
        folder = os.fsencode(claude) + b"/" + name
        os.mkdir(folder)
        with open(folder + b"/SKILL.md", "wb") as file:
            file.write(b"---\nname: x\ndescription: d\n---\nx\n")
    result = world.skc("import", "--yes", cwd=world.home)
    assert result.returncode == 0, result.stderr
    assert "\x1b" not in result.stdout + result.stderr
    assert f"{len(names)} imported" in result.stdout
    for name in names:
        assert os.path.islink(os.fsencode(claude) + b"/" + name)
        assert os.path.isfile(os.fsencode(world.global_store) + b"/" + name + b"/SKILL.md")

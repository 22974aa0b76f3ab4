"""Folders from anywhere: `skc build <path>` takes them into a store."""

from __future__ import annotations

import os
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from skillc import atomic
from tests.conftest import World
from tests.support.cases import each


@pytest.fixture
def folder(world: World) -> Path:
    """A skill outside of every store."""
    path = world.skill("pdf", store=world.root / "lib")
    (path / "references").mkdir()
    (path / "references" / "api.md").write_text("# API\n")
    return path


def imported(world: World, *words: str, cwd: Path | None = None) -> Any:
    return world.json("build", *words, cwd=cwd)


def files(root: Path) -> list[str]:
    return sorted(os.path.relpath(path, root) for path in root.rglob("*") if not path.is_dir())


def everything(root: Path) -> dict[str, bytes | str | None]:
    """All that is below a directory: names, contents, where links lead."""
    return {
        os.path.relpath(path, root): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in root.rglob("*")
    }


def test_into_the_projects_store(world: World, folder: Path) -> None:
    """[D10] [D53] a path in no store is copied into the project's store, and that is said."""
    first, *_ = world.ok("build", str(folder)).stdout.splitlines()
    assert first == f"Copied {folder}; from now on, edit {world.store / 'pdf'}"
    built = imported(world, str(folder))
    assert built["source_path"] == str(world.store / "pdf")
    assert built["runtime_path"] == str(world.runtime / "pdf")
    assert files(world.store / "pdf") == ["SKILL.md", "references/api.md"]
    assert files(folder) == ["SKILL.md", "references/api.md"]
    assert not world.global_store.exists()
    assert "SKILL.md#Usage" in world.ok("search", "pdf", "text").stdout


def test_which_store(world: World, folder: Path) -> None:
    """[D10] the project's store, walking up, or its .skillc; where there is none, the home's."""
    deep = world.project / "a" / "b"
    (deep / ".skillc").mkdir(parents=True)
    assert imported(world, str(folder), cwd=deep)["source_path"] == str(world.store / "pdf")
    shutil.rmtree(world.store)
    shutil.rmtree(deep.parent)
    (world.project / ".skillc" / "config.toml").write_text("version = 1\n")
    assert imported(world, str(folder))["source_path"] == str(world.store / "pdf")
    assert not world.global_store.exists()
    built = imported(world, str(folder), cwd=world.root)
    assert built["source_path"] == str(world.global_store / "pdf")
    assert built["runtime_path"] == str(world.home / ".skillc" / "runtime" / "pdf")


def test_from_inside(world: World) -> None:
    """[D10] `skc build .` in a folder: the name is the folder's."""
    here = world.skill("pdf", store=world.project / "work")
    (here / "references").mkdir()
    for path in (".", "./", "../pdf", "references/.."):
        assert imported(world, path, cwd=here)["skill"] == "pdf"
        assert (world.store / "pdf" / "SKILL.md").is_file()
        shutil.rmtree(world.store / "pdf")


def test_what_is_in_a_store_is_not_copied(world: World) -> None:
    """[D10] [RFC-0007] a skill of a store is built where it is; what E050 advises works."""
    world.skill("pdf")
    assert imported(world, ".skillc/skills/pdf")["runtime_path"] == str(world.runtime / "pdf")
    other = world.root / "other"
    folder = world.skill("docx", store=other / ".skillc" / "skills")
    built = imported(world, str(folder))
    assert built["source_path"] == str(folder)
    assert built["runtime_path"] == str(other / ".skillc" / "runtime" / "docx")
    assert os.listdir(world.store) == ["pdf"]
    world.skill("pdf", store=world.project)
    result = world.fails("E050", "build", "pdf")
    assert "its name alone" not in result.stderr


def test_existing_is_e050(world: World, folder: Path) -> None:
    """[D10] [D11] without --force an existing one is E050; with it, what can't be built replaces nothing."""
    world.skill("pdf", "mine")
    before = everything(world.project)
    result = world.fails("E050", "build", str(folder))
    assert result.stderr.splitlines()[0] == "error[E050]: skill 'pdf' already exists"
    assert "--force" in result.stderr
    assert everything(world.project) == before
    before = everything(world.store)
    (folder / "SKILL.md").write_text("---\nname: pdf\n---\n")
    world.fails("E011", "build", str(folder), "--force")
    assert everything(world.store) == before


def test_whatever_has_the_name_is_in_the_way(world: World, folder: Path) -> None:
    """[D10] anything of that name in the store is E050; --force replaces it, and follows no link."""
    place = world.store / "pdf"
    elsewhere = world.skill("elsewhere", store=world.root)
    for kind in ("empty folder", "file", "broken link", "link"):
        atomic.discard(str(place))
        atomic.discard(str(world.home / ".skillc"))
        if kind == "empty folder":
            place.mkdir()
        elif kind == "file":
            place.touch()
        else:
            place.symlink_to(elsewhere if kind == "link" else "nowhere")
        world.fails("E050", "build", str(folder))
        imported(world, str(folder), "--force")
        assert not place.is_symlink()
        assert files(place) == ["SKILL.md", "references/api.md"]
        assert files(elsewhere) == ["SKILL.md"]


def test_force_replaces_as_a_whole(world: World, folder: Path) -> None:
    """[D10] with --force the old folder is gone, files that the new one does not have too."""
    old = world.skill("pdf")
    (old / "old.md").write_text("# Old\n")
    (old / ".old").write_text("x")
    (old / "references").mkdir()
    (old / "references" / "old.md").write_text("# Old\n")
    world.ok("build", "pdf")
    imported(world, str(folder), "--force")
    assert files(world.store / "pdf") == ["SKILL.md", "references/api.md"]
    assert os.listdir(world.store) == ["pdf"]
    assert "Old" not in world.ok("outline", "pdf").stdout
    assert world.ok("search", "pdf", "old").stdout == "No results.\n"


def test_what_is_copied(world: World, folder: Path) -> None:
    """[D2] [D10] a link that stays inside is copied as its target; scripts stay executable, bytes stay bytes.

    .git is no part of a skill, at any depth; other dot-files come along.
    """
    (folder / "alias.md").symlink_to("references/api.md")
    (folder / "docs").symlink_to("references")
    (folder / "broken").symlink_to("nowhere")
    (folder / "loop").symlink_to(".")
    (folder / "run.sh").write_bytes(b"#!/bin/sh\n\xff\x00")
    (folder / "run.sh").chmod(0o755)
    for name in (".git/config", ".git/hooks/x", "vendor/.git", ".env.example", ".github/a.yml", "sub/.keep"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    imported(world, str(folder))
    copy = world.store / "pdf"
    links = ["alias.md", "docs/api.md"]
    own = [".env.example", ".github/a.yml", "SKILL.md", "references/api.md", "run.sh", "sub/.keep"]
    assert files(copy) == sorted([*own, *links])
    assert not any(path.is_symlink() for path in copy.rglob("*"))
    assert (copy / "alias.md").read_text() == "# API\n"
    script = copy / "run.sh"
    assert script.read_bytes() == b"#!/bin/sh\n\xff\x00"
    assert script.stat().st_mode & 0o777 == 0o755


@each(("link", "words"), product(["out", "references/out", "SKILL.md"], [[], ["--force"]]))
def test_a_link_that_leaves(world: World, link: str, words: list[str]) -> None:
    """[D2] [RFC-0001:C-CONSTRAINTS] E012, nothing is left behind, and what was there stays."""
    folder = world.skill("pdf", store=world.root / "lib")
    (folder / "references").mkdir(exist_ok=True)
    outside = world.root / "secret"
    outside.write_text("---\nname: x\ndescription: d\n---\n")
    (folder / link).unlink(missing_ok=True)
    (folder / link).symlink_to(outside)
    if words:
        world.skill("pdf")
    before = everything(world.project)
    result = world.fails("E012", "build", str(folder), *words)
    assert result.stderr == f"error[E012]: path escapes skill root: '{link}'\n"
    assert everything(world.project) == before
    assert not (world.home / ".claude").exists()
    (folder / link).unlink()
    shutil.rmtree(world.store / "pdf", ignore_errors=True)


def test_compiled_is_refused(world: World) -> None:
    """[D7] what build wrote is no source, linked or copied: E010 without the record, and no import."""
    world.skill("pdf")
    for words in ([], ["--copy"]):
        world.ok("build", "pdf", "--target", "claude", *words)
        (world.home / ".skillc" / "deployments.json").unlink()
        for path in (world.home / ".claude" / "skills" / "pdf", world.runtime / "pdf"):
            result = world.fails("E010", "build", str(path), cwd=world.root)
            assert "compiled skill" in result.stderr
    assert not world.global_store.exists()


def test_a_folder_that_holds_the_store(world: World) -> None:
    """[D10] a project that is itself a skill can't be copied into its own store."""
    world.skill("project", store=world.root)
    before = everything(world.project)
    for path, words in product((".", str(world.project), ".."), ([], ["--force"])):
        result = world.skc("build", path, *words)
        assert result.returncode == 1
        assert result.stderr.startswith("error[E1" if path != ".." else "error[E010]")
        assert len(result.stderr.splitlines()) == 1
        assert everything(world.project) == before


def test_unusable_skill_is_not_taken_in(world: World, folder: Path) -> None:
    """[RFC-0001:C-INPUT] [D11] [D10] what can't be built leaves nothing; a link is imported under its
    name, as no link.
    """
    text = (folder / "SKILL.md").read_text()
    (folder / "SKILL.md").write_text("# No frontmatter\n")
    world.fails("E011", "build", str(folder))
    assert os.listdir(world.store) == []
    (folder / "SKILL.md").write_text(text)
    imported(world, str(folder))
    (world.project / "forms").symlink_to(folder)
    assert imported(world, "./forms")["skill"] == "forms"
    assert not (world.store / "forms").is_symlink()


# The same folder again


def edit(folder: Path, text: str) -> None:
    (folder / "SKILL.md").write_text(f"---\nname: pdf\ndescription: d\n---\n# pdf\n\n## Usage\n\n{text}\n")


def test_once_more(world: World, folder: Path) -> None:
    """[D53] [D10] a copy follows its folder, keeps edits, and is in the way of both together: E050."""
    imported(world, str(folder))
    edit(world.store / "pdf", "Edited.")
    again = world.ok("build", str(folder))
    assert again.stdout.startswith("Updated 'pdf' (2 files")
    assert "Edited." in (world.store / "pdf" / "SKILL.md").read_text()

    edit(folder, "Original.")
    before = everything(world.project)
    result = world.fails("E050", "build", str(folder))
    for part in (str(folder), str(world.store / "pdf"), "--force"):
        assert part in result.stderr.splitlines()[1]
    assert everything(world.project) == before
    world.ok("build", str(world.store / "pdf"))
    world.ok("build", str(folder), "--force")
    assert "Original." in (world.store / "pdf" / "SKILL.md").read_text()

    edit(folder, "Zebra.")
    (folder / "references" / "api.md").unlink()
    (folder / ".env.example").write_text("x")
    first, *_ = world.ok("build", str(folder)).stdout.splitlines()
    assert first == f"Updated {world.store / 'pdf'}, because {folder} changed"
    assert files(world.store / "pdf") == [".env.example", "SKILL.md"]
    assert "SKILL.md#Usage" in world.ok("search", "pdf", "zebra").stdout

    other = world.skill("pdf", store=world.root / "other")
    world.fails("E050", "build", str(other))
    imported(world, str(other), "--force")
    world.fails("E050", "build", str(folder))


def test_the_same_edit_in_both(world: World, folder: Path) -> None:
    """[D53] is no conflict, and neither is the next edit of the folder alone."""
    imported(world, str(folder))
    for place in (folder, world.store / "pdf"):
        edit(place, "Both.")
    world.ok("build", str(folder))
    edit(folder, "Original.")
    first, *_ = world.ok("build", str(folder)).stdout.splitlines()
    assert first == f"Updated {world.store / 'pdf'}, because {folder} changed"


@each("damage", ["", "{", "[]", '{"/x": 5}', '{"/x": {"source": 1}}', "[" * 100_000])
def test_a_damaged_record(world: World, folder: Path, damage: str) -> None:
    """[D53] without a record a copy is a folder like any other; the next import writes a new one."""
    imported(world, str(folder), "--force")
    (note,) = (world.home / ".skillc" / "imports").iterdir()
    note.write_text(damage)
    world.fails("E050", "build", str(folder))
    imported(world, str(folder), "--force")
    imported(world, str(folder))


def test_no_home_for_the_record(world: World, folder: Path) -> None:
    """[D53] [RFC-0005] a home that can't be written stops no import; without one nothing is replaced
    [D52].
    """
    target = ("--target", str(world.root / "agent"))
    (world.home / ".skillc").write_text("a file")
    world.ok("build", str(folder), *target)
    edit = world.store / "pdf" / "edit.md"
    edit.write_text("mine")
    world.fails("E999", "build", str(folder), "--force", *target, env={"HOME": ""})
    assert edit.read_text() == "mine"
    result = world.fails("E999", "build", str(folder), cwd=world.root)
    assert len(result.stderr.splitlines()) == 1
    assert (world.home / ".skillc").read_text() == "a file"


# Read what was built


@pytest.fixture(params=["project", "global"])
def place(request: pytest.FixtureRequest, world: World, folder: Path) -> Path:
    """Where the folder was imported from: a project, or the folder's parent, so that the home has it."""
    here = world.project if request.param == "project" else folder.parent
    imported(world, str(folder), cwd=here)
    return here


def test_by_name_and_by_path(world: World, folder: Path, place: Path) -> None:
    """[D53] [RFC-0007] a folder that was built answers show and search by its name and by its path.

    [D18] show reads the folder as it is, search says that it changed, and what it advises helps. A copy that
    was removed is none: E002 names the folder, and building it helps.
    """
    for cwd in (world.project, folder.parent, folder, world.root):
        names = [str(folder), os.path.relpath(folder, cwd)]
        for name in [*names, "pdf"] if cwd == place else names:
            shown = world.ok("show", name, "--section", "Usage", cwd=cwd)
            assert (shown.stdout, shown.stderr) == ("## Usage\n\nText.\n", "")
            found = world.ok("search", name, "text", cwd=cwd)
            assert (found.stdout.splitlines()[0][:14], found.stderr) == ("SKILL.md#Usage", "")
    edit(folder, "Zebra.")
    assert "Zebra." in world.ok("show", str(folder), "--section", "Usage", cwd=place).stdout
    stale = world.ok("search", str(folder), "zebra", cwd=place)
    assert stale.stdout == "No results.\n"
    [line] = [line for line in stale.stderr.splitlines() if "W004" in line]
    assert f"'skc build {folder}'" in line
    world.ok("build", str(folder), cwd=place)
    found = world.ok("search", str(folder), "zebra", cwd=place)
    assert ("[MATCH]Zebra[/MATCH]" in found.stdout, found.stderr) == (True, "")
    for store in (world.store, world.global_store):
        shutil.rmtree(store / "pdf", ignore_errors=True)
    assert f"'skc build {folder}'" in world.fails("E002", "search", str(folder), "text", cwd=place).stderr
    world.ok("build", str(folder), cwd=place)
    world.ok("search", str(folder), "zebra", cwd=place)


@pytest.mark.slow
def test_the_nearest_copy(world: World, folder: Path) -> None:
    """[D53] [D13a] of several imports, the one in a store of the working directory is searched."""
    other = world.root / "other"
    (other / ".skillc" / "skills").mkdir(parents=True)
    for word, cwd in {"one": world.project, "two": other, "three": world.root}.items():
        edit(folder, word)
        imported(world, str(folder), cwd=cwd)
    for word, cwd in {"one": world.project, "two": other, "three": world.root}.items():
        assert f"[MATCH]{word}[/MATCH]" in world.ok("search", str(folder), word, cwd=cwd).stdout


def test_commits_in_the_copy_are_kept(world: World) -> None:
    """[D52] [D53] taking over a changed folder keeps the history in its copy."""
    folder = world.skill("pdf", store=world.root / "work")
    world.ok("build", str(folder))
    (world.store / "pdf/.git").mkdir()
    (world.store / "pdf/.git/HEAD").write_text("my commits")
    world.skill("pdf", "---\nname: pdf\ndescription: new\n---\nNew\n", store=world.root / "work")
    assert "Updated" in world.ok("build", str(folder)).stdout
    (entry,) = world.json("trash", "list")["entries"]
    assert (Path(entry["path"]) / ".git/HEAD").read_text() == "my commits"

"""Which skill a name or a path means."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.errors import InvalidSkill, SkillNotFound
from skillc.library import Skill, at_path, is_compiled, resolve, resolve_installed, stored_skills
from tests.conftest import World
from tests.support.cases import each


def found(world: World, name: str, cwd: Path | None = None) -> Skill:
    return resolve(name, str(cwd or world.project))


def test_order(world: World) -> None:
    """[RFC-0007] a path, the project's store, the global one; a folder without SKILL.md is passed over."""
    stored = world.skill("pdf")
    everywhere = world.skill("pdf", store=world.global_store)
    here = world.skill("pdf", store=world.project)
    places = []
    for folder in (here, stored, everywhere):
        places.append(Path(found(world, "pdf").source))
        (folder / "SKILL.md").unlink()
    assert places == [here, stored, everywhere]
    with pytest.raises(InvalidSkill):
        found(world, "pdf")


def test_installed_skills_first(world: World) -> None:
    """[D69] what manages skills takes a name for an installed one, and a folder here by a path alone."""
    stored = world.skill("pdf")
    here = world.skill("pdf", store=world.project)
    world.skill("docx", store=world.project)
    cwd = str(world.project)
    assert resolve_installed("pdf", cwd).source == str(stored)
    for path in ("./pdf", "../project/pdf", str(here)):
        assert resolve_installed(path, cwd).source == str(here)
    for path in ("./.skillc/skills/pdf", "~/../project/.skillc/skills/pdf"):
        assert resolve_installed(path, cwd).is_stored
    with pytest.raises(SkillNotFound) as caught:
        resolve_installed("docx", cwd)
    assert "'./docx'" in caught.value.text()


def test_all_project_stores_before_the_global_one(world: World) -> None:
    """[D13a] the lookup walks up through every project."""
    inner = world.project / "a" / "b"
    store = inner / ".skillc" / "skills"
    deep = inner / "c"
    deep.mkdir(parents=True)
    near = world.skill("pdf", store=store)
    world.skill("pdf")
    outer = world.skill("other")
    world.skill("other", store=world.global_store)
    everywhere = world.skill("third", store=world.global_store)
    assert found(world, "pdf", deep).source == str(near)
    assert found(world, "other", deep).source == str(outer)
    assert found(world, "third", deep).source == str(everywhere)


@pytest.mark.slow
@pytest.mark.parametrize("where", ["cwd", "project", "global", "upper project"])
def test_folder_without_skill_md_is_e010(world: World, where: str) -> None:
    """[RFC-0005] E010 where a directory of that name was found anywhere on the way."""
    cwd = world.project / "sub"
    (cwd / ".skillc" / "skills").mkdir(parents=True)
    folder = {
        "cwd": cwd / "pdf",
        "project": cwd / ".skillc" / "skills" / "pdf",
        "upper project": world.store / "pdf",
        "global": world.global_store / "pdf",
    }[where]
    folder.mkdir(parents=True)
    result = world.fails("E010", "outline", "pdf", cwd=cwd)
    assert result.stderr == f"error[E010]: not a valid skill: '{folder}' (missing SKILL.md)\n"


def test_nothing_is_e001(world: World) -> None:
    """[RFC-0005] [D13a] E001 where no directory has it; the index is in the project, then in the home."""
    (world.project / "pdf").touch()
    (world.store / "pdf").touch()
    (world.project / "broken").symlink_to("nowhere")
    for name in ("pdf", "broken", "nothing"):
        line, hint = world.fails("E001", "outline", name).stderr.splitlines()
        assert line == f"error[E001]: skill '{name}' not found"
        assert hint.startswith("hint: 'skc list'")
    (world.store / "pdf").unlink()
    world.skill("pdf")
    world.skill("everywhere", store=world.global_store)
    home = world.home / ".skillc" / "runtime"
    assert found(world, "./.skillc/skills/pdf").runtimes() == [str(world.runtime / "pdf"), str(home / "pdf")]
    assert found(world, "everywhere").runtimes() == [str(home / "everywhere")]


@each("path", ["{}", "{}/", "{}//", "{}/.", "{}/../pdf", "sub/../{}", "./{}"])
def test_paths(world: World, path: str) -> None:
    """[RFC-0007] relative and absolute paths, however they are written."""
    (world.project / "sub").mkdir(exist_ok=True)
    stored = world.skill("pdf")
    outside = world.skill("pdf", store=world.root / "lib")
    for folder, scope in ((stored, "project"), (outside, "global")):
        relative = path.format(os.path.relpath(folder, world.project))
        skill = found(world, relative)
        assert (skill.source, skill.name, skill.scope) == (str(folder), "pdf", scope)
        if not path.startswith(("./", "sub")):
            assert found(world, path.format(folder)).source == str(folder)


def test_dot(world: World) -> None:
    """[RFC-0007] `.` and `..` are paths, never names."""
    folder = world.skill("pdf")
    (folder / "references").mkdir()
    assert found(world, ".", folder).name == "pdf"
    assert found(world, "..", folder / "references").source == str(folder)
    (world.store / "SKILL.md").touch()  # `.skillc/skills/.` would be this
    (world.store.parent / "SKILL.md").touch()  # and `.skillc/skills/..` this
    for name in (".", ".."):
        with pytest.raises((SkillNotFound, InvalidSkill)):
            found(world, name)


@each("name", ["../outside", "../../outside", "x/../../outside", "pdf/", "Sub/pdf", "sub//pdf", "/pdf"])
def test_names_do_not_leave_the_store(world: World, name: str) -> None:
    """[RFC-0007] what has a slash is a path from here or an ID; stores are asked for nothing else."""
    world.skill("pdf")
    world.skill("pdf", store=world.store / "sub")
    world.skill("pdf", store=world.store / "Sub")
    world.skill("outside", store=world.store.parent)
    world.skill("outside", store=world.project / ".skillc" / "x")
    with pytest.raises(SkillNotFound):
        found(world, name)


@given(st.text(st.characters(), max_size=12))
def test_any_name(world: World, name: str) -> None:
    """[RFC-0005] no text makes the lookup fail otherwise."""
    with contextlib.suppress(SkillNotFound, InvalidSkill):
        assert os.path.isdir(found(world, name).source)


def test_odd_names(world: World) -> None:
    """[RFC-0007] [D4] a folder may be called anything; skill.md makes a skill, a directory SKILL.md none."""
    for name in ("a b", "名前", "é", "a\nb", "-x", "UPPER", "a.b", os.fsdecode(b"\xff")):
        folder = world.skill(name, "---\nname: x\ndescription: d\n---\n")
        assert found(world, name).source == str(folder)
        assert found(world, name).runtime() == str(world.runtime / name)
    (world.store / "pdf").mkdir()
    (world.store / "pdf" / "skill.md").write_text("---\nname: pdf\ndescription: d\n---\n")
    assert found(world, "pdf").name == "pdf"
    (world.store / "tea" / "SKILL.md").mkdir(parents=True)
    world.fails("E010", "outline", "tea")


def test_links_and_paths_of_skills(world: World) -> None:
    """[RFC-0007] [D10] a link is a skill of its store; a path leads to its own store, project, or none."""
    real = world.skill("real", store=world.root / "lib")
    (world.store / "pdf").symlink_to(real)
    skill = found(world, "pdf")
    assert (skill.name, skill.source, skill.scope, skill.is_stored) == ("pdf", str(real), "project", True)
    assert skill.runtime() == str(world.runtime / "pdf")
    by_path = found(world, ".skillc/skills/pdf")
    assert (by_path.name, by_path.source, by_path.runtime()) == ("pdf", str(real), skill.runtime())
    folder = world.skill("tea")
    (world.root / "link").symlink_to(folder)
    skill = found(world, str(world.root / "link"))
    assert (skill.name, skill.source, skill.is_stored) == ("tea", str(folder), True)
    other = world.root / "other"
    folder = world.skill("pdf", store=other / ".skillc" / "skills")
    skill = found(world, str(folder))
    assert (skill.scope, skill.is_stored) == ("project", True)
    assert skill.runtime() == str(other / ".skillc" / "runtime" / "pdf")
    folder = world.skill("pdf", store=world.root)
    skill = at_path(str(folder))
    assert (skill.is_stored, skill.scope, skill.runtime()) == (
        False,
        "global",
        str(world.home / ".skillc" / "runtime" / "pdf"),
    )
    assert repr(skill) == f"<Skill 'pdf' global {str(folder)!r}>"


def test_linked_store(world: World) -> None:
    """[RFC-0007] a store that is itself a link works like any other."""
    shared = world.root / "shared"
    world.store.rmdir()
    shared.mkdir()
    world.store.symlink_to(shared)
    world.skill("pdf")
    skill = found(world, "pdf")
    assert (skill.source, skill.runtime()) == (str(shared / "pdf"), str(world.runtime / "pdf"))
    world.ok("build", "pdf")
    assert (world.runtime / "pdf" / "SKILL.md").exists()


def test_stored_skills(world: World) -> None:
    """[RFC-0007] folders with SKILL.md, hidden ones and files not, nearest project first."""
    world.skill("b")
    world.skill("a")
    world.skill(".hidden")
    world.skill("g", store=world.global_store)
    (world.store / "empty").mkdir()
    (world.store / "file").touch()
    (world.store / "loop").symlink_to("loop")
    names = [(skill.name, skill.scope) for skill in stored_skills(str(world.project))]
    assert names == [("a", "project"), ("b", "project"), ("g", "global")]
    assert [skill.name for skill in stored_skills(str(world.project), "global")] == ["g"]
    assert [skill.name for skill in stored_skills(str(world.home))] == ["g"]


@pytest.mark.parametrize("manifest", [".skillc/manifest.json", ".skillc-meta/manifest.json"])
def test_compiled(world: World, manifest: str) -> None:
    """[D7] either manifest makes a folder a compiled skill, which is not built again."""
    folder = world.skill("pdf")
    assert not is_compiled(str(folder))
    path = folder / manifest
    path.parent.mkdir()
    path.write_text("{}")
    assert is_compiled(str(folder))
    assert "a compiled skill" in world.fails("E010", "build", "pdf").stderr

"""`skc init`: stores and new skills."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.compiler import create_skill
from skillc.errors import InvalidSkillId
from skillc.skills.document import parse, read_metadata
from tests.conftest import World
from tests.support.cases import each
from tests.support.examples import examples
from tests.support.terminal import Session, on_terminal


@pytest.fixture
def here(world: World) -> Path:
    """A directory that is no project yet."""
    path = world.root / "here"
    path.mkdir()
    return path


def test_init_makes_the_store_here(world: World, here: Path) -> None:
    """[RFC-0006] `skc init` makes .skillc/skills/ in the working directory alone; twice changes nothing."""
    result = world.ok("init", cwd=here)
    assert (here / ".skillc" / "skills").is_dir()
    assert os.listdir(here / ".skillc" / "skills") == []
    assert result.stderr == ""
    assert str(here / ".skillc" / "skills") in result.stdout
    assert not (world.home / ".skillc").exists()
    world.ok("init", "pdf", cwd=here)
    (here / ".skillc" / ".gitignore").write_text("mine\n")
    before = {path: path.stat().st_mtime_ns for path in here.rglob("*")}
    world.ok("init", cwd=here)
    assert {path: path.stat().st_mtime_ns for path in here.rglob("*")} == before


def test_places_and_what_is_there(world: World) -> None:
    """[RFC-0006] a store is made here; a folder gets its SKILL.md; a link is not followed; stores are two."""
    sub = world.project / "sub"
    sub.mkdir()
    world.ok("init", "pdf", cwd=sub)
    assert (sub / ".skillc" / "skills" / "pdf" / "SKILL.md").is_file()
    assert not (world.store / "pdf").exists()
    (world.store / "pdf").mkdir()
    (world.store / "pdf" / "notes.md").write_text("mine")
    world.ok("init", "pdf")
    assert sorted(os.listdir(world.store / "pdf")) == ["SKILL.md", "notes.md"]
    (world.store / "pdf" / "SKILL.md").unlink()
    (world.store / "pdf" / "SKILL.md").symlink_to(world.root / "outside")
    world.fails("E050", "init", "pdf")
    assert not (world.root / "outside").exists()
    (world.store / "pdf" / "SKILL.md").unlink()
    world.skill("pdf", store=world.global_store)
    world.ok("init", "pdf")
    world.fails("E050", "init", "pdf", "--global")


@each(
    ("name", "title"),
    [("pdf", "Pdf"), ("release-notes", "Release Notes"), ("a-2-b", "A 2 B"), ("x" * 64, "X" + "x" * 63)],
)
def test_new_skill(world: World, here: Path, name: str, title: str) -> None:
    """[RFC-0006] the whole SKILL.md, to the letter."""
    result = world.ok("init", name, cwd=here)
    path = here / ".skillc" / "skills" / name / "SKILL.md"
    assert path.read_bytes().decode() == (
        f'---\nname: {name}\ndescription: "TODO: Add skill description"\n---\n\n# {title}\n'
    )
    assert os.listdir(path.parent) == ["SKILL.md"]
    assert str(path) in result.stdout
    assert result.stderr == ""


def test_a_new_skill_can_be_built(world: World, here: Path) -> None:
    """[RFC-0006] [RFC-0001:C-INPUT] build takes what init makes with a description, and refuses that of
    the template.
    """
    text = 'Fill "forms": é, \N{PILE OF POO}. Use for PDF.'
    result = world.ok("init", "pdf", "--description", text, cwd=here)
    assert result.stdout.endswith("\nNext: write its sections, then 'skc build pdf'\n")
    assert world.ok("build", "pdf", cwd=here).stderr == ""
    assert "pdf" in world.ok("list", cwd=here).stdout
    source = (here / ".skillc" / "skills" / "pdf" / "SKILL.md").read_bytes()
    assert read_metadata(parse(source), "").description == text
    world.ok("init", "tea", cwd=here)
    result = world.fails("E011", "build", "tea", cwd=here)
    assert "is still a TODO; say what the skill does, and when to use it" in result.stderr
    assert not (here / ".skillc" / "runtime" / "tea" / "SKILL.md").exists()
    path = here / ".skillc" / "skills" / "tea" / "SKILL.md"
    path.write_text(path.read_text().replace("Add skill description", "Manage a list of them"))
    world.ok("build", "tea", cwd=here)


def test_asks_for_a_description(world: World) -> None:
    """[RFC-0006] at a terminal, `init` asks, after it has checked the name; no answer leaves the template."""
    path = world.store / "pdf" / "SKILL.md"
    status, _, shown = on_terminal(world, "Fill Forms: all\n", "init", "pdf")
    assert (status, "What does it do, and when is it to be used?" in shown) == (0, True)
    assert 'description: "Fill Forms: all"\n' in path.read_text()
    assert "What" not in on_terminal(world, "\n", "init", "pdf")[2]
    on_terminal(world, "\n", "init", "later")
    assert '"TODO: Add skill description"' in (world.store / "later" / "SKILL.md").read_text()


def test_descriptions_that_are_none(world: World, here: Path) -> None:
    """[RFC-0006] E100 for a description that is none; after `--` a word is a name; nothing is made."""
    for text, *name in ((" ", "pdf"), ("x" * 1025, "pdf"), ("x",)):
        world.fails("E100", "init", *name, "--description", text, cwd=here)
    assert os.listdir(here) == []
    world.fails("E070", "init", "--", "-a", cwd=here)
    world.fails("E100", "init", "-a", cwd=here)


def test_global(world: World, here: Path) -> None:
    """[RFC-0006] [RFC-0009] --global is the home's store, or SKILLC_HOME's."""
    world.ok("init", "--global", cwd=here)
    assert world.global_store.is_dir()
    world.ok("init", "pdf", "--global", cwd=here)
    assert (world.global_store / "pdf" / "SKILL.md").is_file()
    world.ok("init", "--global", "pdf", cwd=here, env={"SKILLC_HOME": str(world.root / "x")})
    assert (world.root / "x" / ".skillc" / "skills" / "pdf" / "SKILL.md").is_file()
    assert os.listdir(here) == []


def test_existing_skill(world: World) -> None:
    """[RFC-0006] [D4] an existing SKILL.md, however it is written, is E050 and stays as it is."""
    folder = world.store / "pdf"
    folder.mkdir()
    for name in ("SKILL.md", "skill.md"):
        (folder / name).write_text("mine")
        result = world.fails("E050", "init", "pdf")
        assert result.stderr.startswith("error[E050]: skill 'pdf' already exists\nhint: it is in ")
        assert {path.name: path.read_text() for path in folder.iterdir()} == {name: "mine"}
        (folder / name).unlink()


@each(
    "name",
    [
        *("", " ", "Pdf", "pdf_forms", "a--b", "a-", "a/b", ".", "..", "../x", ".a", "a\nb", "é", "９"),
        "x" * 65,
        "a b",
    ],
)
def test_bad_names(world: World, here: Path, name: str) -> None:
    """[RFC-0006] [D30a] a name that is none is E070, and nothing is made."""
    result = world.fails("E070", "init", name, cwd=here)
    assert result.stderr.splitlines()[0].isprintable()
    assert os.listdir(here) == []


@examples(100)
@given(st.text(st.characters(), max_size=70))
def test_any_name(world: World, name: str) -> None:
    """[D30a] whatever is asked for, nothing is made outside of the store."""
    with contextlib.suppress(InvalidSkillId):
        path = create_skill(str(world.project), name).path
        assert Path(path).resolve() == world.store / name / "SKILL.md"
        os.unlink(path)
    assert all(entry.name == name for entry in world.store.iterdir())
    for made in world.store.iterdir():
        made.rmdir()


def test_a_directory_that_takes_nothing(world: World, here: Path) -> None:
    """[RFC-0005] a directory that can't be written is one line that names it."""
    if os.getuid() == 0:  # permissions do not hold root back, the kernel's own file system does
        here = Path("/proc")
    else:
        here.chmod(0o555)
    for words in ((), ("pdf",)):
        result = world.fails("E999", "init", *words, cwd=here)
        assert len(result.stderr.splitlines()) == 1
        assert f"'{here}/.skillc" in result.stderr


def test_a_file_in_the_way(world: World, here: Path) -> None:
    """[RFC-0005] a file where a directory belongs is one line, and the file stays."""
    for in_the_way in (".skillc", ".skillc/skills", ".skillc/skills/pdf"):
        path = here / in_the_way
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
        result = world.fails("E999", "init", "pdf", cwd=here)
        assert len(result.stderr.splitlines()) == 1
        assert path.read_text() == "mine"
        path.unlink()


def test_left_at_the_question(world: World) -> None:
    """[RFC-0006] [D11] Ctrl+C at the question leaves nothing behind, nor does too long a description."""
    with Session(world, "init", "tea") as session:
        session.wait("when is it to be used?")
        session.process.send_signal(signal.SIGINT)
        assert session.finish()[0] == 130
    assert not (world.store / "tea").exists()
    with Session(world, "init", "tea") as session:
        session.wait("when is it to be used?")
        session.press(f"{'tea ' * 300}\n", "a description has 1 to 1024 characters")
        assert session.finish()[0] == 1
    assert not (world.store / "tea").exists()

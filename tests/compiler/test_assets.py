"""Scripts and assets beside the stub: a compiled skill works as its source does [D49]."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from skillc import atomic, trash
from skillc.compiler.assets import attach_assets
from tests.conftest import World, save


@pytest.fixture
def source(world: World) -> Path:
    folder = world.skill("pdf")
    for name in ("scripts/fill.py", "assets/deep/form.txt", "docs/a.md", "LICENSE.txt", ".hidden/x.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        save(folder / name, f"print({name!r})\n" if name.endswith(".py") else f"{name}\n")
    return folder


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir() if not entry.name.startswith(".")}


def test_assets_are_linked(world: World, source: Path) -> None:
    """[D49] relative links to what holds more than Markdown; they follow the source, a file of yours
    stays.
    """
    world.ok("build", "pdf")
    runtime = world.runtime / "pdf"
    assert names(runtime) == {"SKILL.md", "scripts", "assets", "LICENSE.txt"}
    assert os.readlink(runtime / "scripts") == "../../skills/pdf/scripts"
    agent = world.home / ".claude" / "skills" / "pdf"
    ran = subprocess.run(["python3", "scripts/fill.py"], cwd=agent, capture_output=True, check=True)
    assert ran.stdout == b"scripts/fill.py\n"
    assert str(world.root) not in (agent / "SKILL.md").read_text()
    (source / "scripts" / "fill.py").unlink()
    (source / "more").mkdir()
    save(source / "more" / "x.sh", "true\n")
    save(runtime / "mine.txt", "mine\n")
    world.ok("build", "pdf")
    assert names(runtime) == {"SKILL.md", "assets", "LICENSE.txt", "more", "mine.txt"}
    world.ok("build", "pdf", "--copy", "--target", "./agent")
    assert names(world.project / "agent" / "pdf") == {"SKILL.md", "assets", "LICENSE.txt", "more"}
    (runtime / "assets").unlink()
    world.ok("build", "pdf")  # nothing changed, and the link is back
    assert (runtime / "assets" / "deep" / "form.txt").is_file()


def test_a_project_behind_a_link(world: World, source: Path) -> None:
    """[D49] a relative link starts from where the runtime directory really is."""
    deep = world.root / "elsewhere" / "deep"
    deep.parent.mkdir()
    world.project.rename(deep)
    world.project.symlink_to(deep)
    world.ok("build", "pdf")
    assert (world.runtime / "pdf" / "scripts" / "fill.py").is_file()


@pytest.mark.slow
def test_copies(world: World, source: Path) -> None:
    """[D49] with --copy the deployed folder needs nothing else; later builds update it."""
    world.ok("build", "pdf", "--copy")
    agent = world.home / ".claude" / "skills" / "pdf"
    assert names(agent) == {"SKILL.md", "scripts", "assets", "LICENSE.txt"}
    assert not [path for path in agent.rglob("*") if path.is_symlink()]
    for number, words in enumerate((("--copy",), ())):
        save(source / "scripts" / "fill.py", f"print({number})\n")
        world.ok("build", "pdf", *words)
        assert (agent / "scripts" / "fill.py").read_text() == f"print({number})\n"
    assert trash.items() == []


def test_no_links(world: World, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D49] [D52] where links fail there are copies, updated by builds; an edited one goes to the trash."""

    def fail(target: str, path: str, **options: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(atomic, "symlink", fail)
    folder = world.root / "compiled"
    folder.mkdir()
    assets = ["LICENSE.txt", "scripts"]
    diagnostics = attach_assets(str(source), str(folder), assets)
    assert [d.code for d in diagnostics] == ["W030", "W030"]
    assert (folder / "scripts" / "fill.py").is_file()
    attach_assets(str(source), str(folder), assets)
    assert trash.items() == []
    save(folder / "scripts" / "fill.py", "mine\n")
    attach_assets(str(source), str(folder), assets)
    (item,) = trash.items()
    assert (item.origin, Path(item.path, "fill.py").read_text()) == (str(folder / "scripts"), "mine\n")
    assert (folder / "scripts" / "fill.py").read_text() == "print('scripts/fill.py')\n"


@pytest.mark.slow
@pytest.mark.parametrize("ignored", [True, False])
def test_a_project_survives_a_clone(world: World, source: Path, ignored: bool) -> None:
    """[D49] what --deploy project makes works in a clone, with and without the runtime directory in git."""
    (world.project / "AGENTS.md").write_text("x\n")
    if ignored:
        save(world.project / ".skillc" / ".gitignore", "runtime/\nlogs/\n")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run([*git, "init", "-q"], cwd=world.project, check=True)
    world.ok("build", "pdf", "--deploy", "project")
    subprocess.run([*git, "add", "-A"], cwd=world.project, check=True)
    subprocess.run([*git, "commit", "-qm", "x"], cwd=world.project, check=True)
    clone = world.root / "clone"
    subprocess.run([*git, "clone", "-q", str(world.project), str(clone)], check=True)
    agent = clone / ".claude" / "skills" / "pdf"
    assert agent.is_symlink() is not ignored
    assert (agent / "SKILL.md").read_text() == (world.runtime / "pdf" / "SKILL.md").read_text()
    ran = subprocess.run(["python3", "scripts/fill.py"], cwd=agent, capture_output=True, check=True)
    assert ran.stdout == b"scripts/fill.py\n"
    assert (agent / "scripts").resolve() == clone / ".skillc" / "skills" / "pdf" / "scripts"
    world.ok("build", "pdf", "--deploy", "project", cwd=clone)
    assert trash.items() == []

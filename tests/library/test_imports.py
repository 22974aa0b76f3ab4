"""What is imported into the home's store stays somebody else's until a person adopts it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from skillc.library import adopt_import, import_origin
from skillc.library.sources import FilesystemSkillSource, SkillScope
from skillc.tools import find_skill, locate_in_source
from skillc.tools.trust import TrustLevel
from tests.conftest import World
from tests.support.git import Origin
from tests.support.tools import executable, skill_md, tool


@pytest.fixture
def outside(world: World) -> Path:
    """A directory without a project above it: imports go to the home's store."""
    (world.root / "outside").mkdir()
    return world.root / "outside"


def level(name: str, cwd: Path) -> TrustLevel:
    return find_skill(name, str(cwd)).level


def test_a_folder_stays_untrusted(world: World, outside: Path) -> None:
    """[D46] [D10] by its name, its path, a link, and for agents in Python; the skill beside it is yours."""
    folder = executable(outside / "from", "theirs", tool("go", "echo hi"), fields="read_only: true\n")
    executable(world.global_store, "mine")
    world.ok("build", str(folder), cwd=outside)
    copy = world.global_store / "theirs"
    (outside / "link").symlink_to(copy)
    for name in ("theirs", str(copy), str(outside / "link")):
        found = find_skill(name, str(outside))
        assert found.level is TrustLevel.UNTRUSTED
        assert found.origin == f"imported from {folder} ({copy})"
    source = FilesystemSkillSource(world.global_store, scope=SkillScope.USER)
    assert locate_in_source("theirs", str(copy), source, "user").level is TrustLevel.UNTRUSTED
    assert level("mine", outside) is TrustLevel.USER
    refused = world.fails("E063", "run", "theirs", "go", cwd=outside)
    assert "run 'skc trust allow theirs'" in refused.stderr


def test_where_it_is_noted(world: World, outside: Path) -> None:
    """[D46] in the home, for its owner alone; neither the skill nor damage of the note decides."""
    folder = executable(outside / "from", "theirs")
    world.ok("build", str(folder), cwd=outside)
    (note,) = (world.home / ".skillc" / "imports").iterdir()
    assert os.stat(note).st_mode & 0o777 == 0o600
    assert sorted(os.listdir(world.global_store / "theirs")) == ["SKILL.md"]
    for data in (b"", b"\xff\x00", b"x" * 100_000):
        note.write_bytes(data)
        assert level("theirs", outside) is TrustLevel.UNTRUSTED
    note.unlink()
    note.symlink_to("nowhere")
    assert level("theirs", outside) is TrustLevel.UNTRUSTED


def test_of_a_cloned_project_and_a_checkout(world: World, outside: Path) -> None:
    """[D46] a clone of a project, and a skill of it by its path, are imported as untrusted."""
    origin = Origin(world.root)
    origin.make()
    origin.write("tools/demo/SKILL.md", skill_md("demo", tool("go", "echo hi")))
    origin.push()
    clone = outside / "clone"
    subprocess.run(["git", "clone", "-q", str(origin.bare), str(clone)], check=True, env=world.env)
    world.ok("build", str(clone / "tools" / "demo"), cwd=outside)
    assert level("demo", outside) is TrustLevel.UNTRUSTED


def test_replacing_one_of_your_own(world: World, outside: Path) -> None:
    """[D46] an import with --force takes the place and not the trust."""
    executable(world.global_store, "tool")
    assert level("tool", outside) is TrustLevel.USER
    folder = executable(outside / "from", "tool")
    world.ok("build", str(folder), "--force", cwd=outside)
    assert level("tool", outside) is TrustLevel.UNTRUSTED


@pytest.mark.slow
def test_adopting(world: World, outside: Path) -> None:
    """[D46] a person says otherwise, with the digest of what was looked at; a new import starts over."""
    folder = executable(outside / "from", "theirs", tool("go", "echo hi"))
    world.ok("build", str(folder), cwd=outside)
    shown = world.ok("trust", "show", "theirs", cwd=outside).stdout
    assert "  import    'skc trust adopt theirs' makes it your own\n" in shown
    digest = world.json("trust", "show", "theirs", cwd=outside)["digest"]
    world.fails("E063", "trust", "adopt", "theirs", cwd=outside)
    world.fails("E063", "trust", "adopt", "theirs", "--digest", "0" * 64, cwd=outside)
    assert level("theirs", outside) is TrustLevel.UNTRUSTED
    said = world.ok("trust", "adopt", "theirs", "--digest", digest, cwd=outside).stdout
    assert said.startswith("'theirs' (")
    assert level("theirs", outside) is TrustLevel.USER
    world.fails("E063", "run", "theirs", "go", cwd=outside)
    world.fails("E100", "trust", "adopt", "theirs", "--digest", digest, cwd=outside)
    world.ok("build", str(folder), "--force", cwd=outside)
    assert level("theirs", outside) is TrustLevel.UNTRUSTED


def test_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """[D46] there is no store of your own, and nothing in it."""
    monkeypatch.setenv("HOME", "")
    monkeypatch.delenv("SKILLC_HOME", raising=False)
    assert import_origin("/a/b") is None
    adopt_import("/a/b")

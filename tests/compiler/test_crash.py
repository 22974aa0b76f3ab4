"""Killed, crowded or out of room: the last good build still serves."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skillc.compiler.build import build_skill
from skillc.errors import SkillcError
from skillc.gateway import search_sections, show_section
from skillc.library import Skill, resolve
from skillc.paths import index_file
from tests.conftest import World, save
from tests.support.crash import LIMIT, run_until
from tests.support.examples import sample

pytestmark = pytest.mark.slow


def version(world: World, number: int) -> Path:
    """The skill at a version: every file says which, and the sections stand on other lines."""
    filler = "filler\n" * number
    folder = world.skill(
        "pdf", f"---\nname: pdf\ndescription: version {number}\n---\n{filler}# Main\n\nversion{number}\n"
    )
    for name in ("one", "two"):
        save(folder / f"{name}.md", f"{filler}# {name}\n\nversion{number} in {name}\n")
    return folder


def served(world: World) -> int:
    """Which version readers get: from one build as a whole, with the lines of the source as it is now."""
    skill = resolve("pdf", str(world.project))
    index = index_file(str(world.runtime / "pdf"), skill.source)
    while True:  # until no other build took its place between two searches
        before = os.stat(index)
        found = {n: search_sections(skill, f"version{n}").results for n in range(1, 8)}
        after = os.stat(index)
        if (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns):
            break
    ((number, results),) = [pair for pair in found.items() if pair[1]]
    assert {result.file for result in results} == {"SKILL.md", "one.md", "two.md"}
    for name in ("one", "two"):
        assert show_section(skill, name).text.startswith(f"# {name}\n\nversion".encode())
    link = world.home / ".claude" / "skills" / "pdf"
    assert link.is_symlink()
    assert (link / "SKILL.md").read_text().startswith('---\nname: "pdf"\ndescription: "version ')
    return number


def test_killed_at_every_step(world: World) -> None:
    """[D11] SIGKILL at each step, at the gate each third: readers get the old build or the new one.

    The next build is good.
    """
    version(world, 1)
    world.ok("build", "pdf")
    assert served(world) == 1
    world.ok("build", "pdf", "--target", "claude")
    version(world, 2)
    assert served(world) == 1
    template = world.root / "template"
    shutil.copytree(world.project, template, symlinks=True)
    seen: set[int] = set()
    for step in sample(range(1, 400), 3):
        is_complete = run_until(step, world.project, "build", "pdf", cwd=world.project)
        seen.add(served(world))
        if is_complete:
            break
        assert run_until(LIMIT, world.project, "build", "pdf", cwd=world.project)
        assert served(world) == 2
        left = [p.name for p in (world.runtime / "pdf").rglob("*.tmp")]
        assert not left, "the next build sweeps up"
        shutil.rmtree(world.project)
        shutil.copytree(template, world.project, symlinks=True)
    assert is_complete
    assert seen == {1, 2}


@pytest.mark.parametrize("manifest", ["of the build before", "missing"])
def test_met_between_index_and_manifest(world: World, manifest: str) -> None:
    """[D11] the moment between the two is recovered on reading, and finished by the next build."""
    if manifest != "missing":
        version(world, 1)
        world.ok("build", "pdf")
        kept = (world.runtime / "pdf/.skillc/manifest.json").read_bytes()
    version(world, 2)
    world.ok("build", "pdf")
    path = world.runtime / "pdf/.skillc/manifest.json"
    complete = path.read_bytes()
    if manifest == "missing":
        path.unlink()
    else:
        path.write_bytes(kept)
    assert served(world) == 2
    world.ok("build", "pdf")
    assert path.read_bytes() == complete


def test_two_builds_at_once(world: World) -> None:
    """[D11] many builds of one skill while it changes: no error, and in the end one good build."""
    version(world, 1)
    world.ok("build", "pdf")
    with ThreadPoolExecutor(8) as pool:
        runs = [pool.submit(world.skc, "build", "pdf", *(["--force"] if n % 3 else [])) for n in range(8)]
        for number in (2, 3, 4):
            version(world, number)  # file by file: a build may meet two versions
            section = show_section(resolve("pdf", str(world.project)), "one")
            assert section.text.startswith(b"# one\n\nversion")
    assert [run.result().returncode for run in runs] == [0] * 8, [run.result().stderr for run in runs]
    world.ok("build", "pdf")
    assert served(world) == 4
    assert not list((world.runtime / "pdf").rglob("*.tmp"))


def test_readers_never_see_a_gap(world: World) -> None:
    """[D11] readers beside a loop of builds: never an error, never a mix."""
    version(world, 1)
    world.ok("build", "pdf")
    skill = resolve("pdf", str(world.project))
    script = textwrap.dedent(
        """
        import sys
        from skillc.compiler.build import build_skill
        from skillc.library import resolve
        skill = resolve("pdf", sys.argv[1])
        for n in range(60):
            open(f"{skill.source}/one.md", "w").write("x\\n" * (n % 7) + f"# one\\n\\nround{n}\\n")
            build_skill(skill)
        """
    )
    writer = subprocess.Popen([sys.executable, "-c", script, str(world.project)], env=world.env)
    reads = 0
    while writer.poll() is None:
        assert search_sections(skill, "version1").results
        assert show_section(skill, "two").text == b"# two\n\nversion1 in two\n"
        reads += 1
    assert writer.returncode == 0
    assert reads > 10


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for little."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted: {mounted.stderr.decode().strip()}")
    try:
        yield disk
    finally:
        # Lazily: connections to databases on it may stay open in this process for a while.
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_full_disk(world: World, small_disk: Path) -> None:
    """[D11] no room for a new build: one coded line, the last good one serves, nothing is left over."""
    env = {"SKILLC_HOME": str(small_disk)}
    folder = version(world, 1)
    world.ok("build", "pdf", "--global", env=env)
    (folder / "large.md").write_text(
        "".join(f"# H{n}\n\nword{n} " + os.urandom(30).hex() + "\n" for n in range(5000))
    )
    for options in ((), ("--force",)):
        stderr = world.fails("E999", "build", "pdf", "--global", *options, env=env).stderr
        assert "full" in stderr or "space" in stderr
        assert "version1" in world.ok("search", "pdf", "version1", env=env).stdout
        assert not list(small_disk.rglob("*.tmp"))
    (folder / "large.md").unlink()
    filler = small_disk / "filler"
    room = os.statvfs(small_disk)
    filler.write_bytes(b"x" * (room.f_bavail * room.f_bsize))
    version(world, 2)
    world.fails("E999", "build", "pdf", "--global", env=env)
    assert "version1" in world.ok("search", "pdf", "version1", env=env).stdout
    filler.unlink()
    world.ok("build", "pdf", "--global", env=env)
    assert "version2" in world.ok("search", "pdf", "version2", env=env).stdout


def test_full_disk_while_importing(world: World, small_disk: Path) -> None:
    """[D10] [D11] an import that does not fit leaves the old folder, whole."""
    env = {"SKILLC_HOME": str(small_disk)}
    source = world.root / "elsewhere" / "pdf"
    world.skill("pdf", store=source.parent)
    world.ok("build", str(source), cwd=world.root, env=env)
    (source / "large.bin").write_bytes(os.urandom(900_000))
    world.fails("E999", "build", str(source), "--force", cwd=world.root, env=env)
    assert sorted(p.name for p in (small_disk / ".skillc/skills").iterdir()) == ["pdf"]
    assert [p.name for p in (small_disk / ".skillc/skills/pdf").iterdir()] == ["SKILL.md"]


def test_index_is_never_written_in_place(world: World) -> None:
    """[D11] a reader that has the old index open keeps a whole one."""
    version(world, 1)
    world.ok("build", "pdf")
    skill: Skill = resolve("pdf", str(world.project))
    path = index_file(skill.runtime(), skill.source)
    old = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    old.execute("SELECT 1 FROM sections").fetchone()
    version(world, 2)
    build_skill(skill)
    assert old.execute("SELECT count(*) FROM sections WHERE sections MATCH 'version1'").fetchone() == (3,)
    old.close()


def test_edited_while_it_is_built(world: World) -> None:
    """[D11] stub and index are of one SKILL.md, however often it is saved during builds."""
    world.skill("pdf", "---\nname: pdf\ndescription: round 0\n---\n# Main\n\nround0\n")
    stop = world.root / "stop"
    script = textwrap.dedent(
        """
        import os, sys
        folder, stop, n = sys.argv[1], sys.argv[2], 0
        while not os.path.exists(stop):
            n += 1
            with open(f"{folder}/.new", "w") as file:
                file.write(f"---\\nname: pdf\\ndescription: round {n}\\n---\\n# Main\\n\\nround{n}\\n")
            os.replace(f"{folder}/.new", f"{folder}/SKILL.md")
        """
    )
    editor = subprocess.Popen([sys.executable, "-c", script, str(world.store / "pdf"), str(stop)])
    skill = resolve("pdf", str(world.project))
    try:
        for _ in range(40):
            try:
                build_skill(skill)
            except SkillcError as error:
                if "changes while it is built" not in error.message:
                    raise
                continue
            described = (world.runtime / "pdf" / "SKILL.md").read_text().split("round ")[1].split('"')[0]
            assert search_sections(skill, f"round{described}").results, "the stub's round is the index's"
    finally:
        stop.touch()
        editor.wait()
    world.ok("build", "pdf")

"""`computedHash`, against the installer that invented it."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import pytest

from skillc.install.entry import compute_hash
from skillc.skills import digest_skill
from tests.support.git import Origin
from tests.support.npm import Installer

NAMES = [
    *("README.md", "readme.txt", "Readme.md", "a.md", "A.txt", "a-b.md", "a_b.md", "a b.md", "a/b.md"),
    "ab.md",
    *("1.md", "10.md", "2.md", "_x", "-y", "~z", "$v", "#w", "(p)", "[q]", "{r}", "!s", "it's", "x,y", "x;y"),
    *(".hidden", ".config/settings", "sub/.env", "sub/B", "sub/a", "scripts/run.sh", "scripts/Run.sh"),
    "Z/é.md",
    *("über.md", "Uber.md", "zebra", "Ärger", "naïve/résumé.md", "日本語.md", "中文/说明.md", "한국어.md"),
    *("Привет.md", "ελληνικά", "🎉.md", "emoji-🚀/x", "עברית.md", "ß.md", "æ", "œ.md", "ñandú"),
    "n\u0303x",
]


def make(folder: Path, names: list[str]) -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: odd\ndescription: About odd names\n---\nBody\n")
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(f"{number} {name}".encode() * (number % 3))
    return folder


@pytest.mark.slow
def test_against_the_installer(installer: Installer) -> None:
    """[SURFACES: Lock file] one hash for names of all kinds; .git, node_modules and links do not count."""
    folder = make(installer.world.root / "origin" / "odd", NAMES)
    for left_out in (".git/config", "node_modules/x/index.js", "sub/node_modules/y"):
        (folder / left_out).parent.mkdir(parents=True, exist_ok=True)
        (folder / left_out).write_text("not part of it")
    (folder / "link.md").symlink_to("SKILL.md")
    (folder / "folder").symlink_to("sub")
    installer.run("add", str(folder.parent), "--yes", "--agent", "claude-code")
    assert installer.lock()["odd"]["computedHash"] == compute_hash(str(folder))


@pytest.mark.slow
def test_links_of_a_git_repository(installer: Installer, origin: Origin) -> None:
    """[SURFACES: Lock file] links in a repository, which become files here, do not count, as for npm."""
    world = installer.world
    make(origin.work / "odd", ["sub/a.md", "sub/deep/b.md"])
    origin.write("shared/c.md", "shared")
    for link, target in (("link.md", "SKILL.md"), ("sub/folder", "deep"), ("shared", "../shared")):
        (origin.work / "odd" / link).symlink_to(target)
    origin.push()
    installer.run("add", f"file://{origin.bare}", "--skill", "odd", "--yes", "--agent", "claude-code")
    theirs = installer.lock()["odd"]["computedHash"]
    (world.project / "skills-lock.json").unlink()
    shutil.rmtree(world.project / ".claude")
    world.ok("add", f"file://{origin.bare}", "--skill", "odd", "--yes", "--target", "claude")
    store = world.store / "odd"
    assert (store / "shared/c.md").read_text() == "shared"
    assert (store / "sub/folder/b.md").is_file()
    entry = installer.lock()["odd"]
    assert entry["computedHash"] == theirs
    assert entry["skillc"]["contentDigest"] == f"sha256:{digest_skill(str(store)).digest}"
    world.ok("verify")
    world.ok("verify")
    world.ok("add", f"file://{origin.bare}", "--skill", "odd", "--yes", "--target", "claude,codex")
    shutil.rmtree(store)
    world.ok("install", "--frozen")
    assert world.json("outdated")["skills"][0]["changed"] is False
    origin.write("shared/c.md", "changed")
    origin.push()
    world.ok("update")
    world.ok("verify")


def test_what_it_covers(tmp_path: Path) -> None:
    """[SURFACES: Lock file] path and bytes of each file, dot-files too; no empty folder, no pipe."""
    folder = make(tmp_path / "odd", ["b.md", "B/x", ".env"])
    digest = hashlib.sha256()
    for name in (".env", "b.md", "B/x", "SKILL.md"):
        digest.update(name.encode() + (folder / name).read_bytes())
    whole = compute_hash(str(folder))
    assert whole == digest.hexdigest()
    (folder / "empty").mkdir()
    assert compute_hash(str(folder)) == whole
    (folder / ".env").write_text("changed")
    assert compute_hash(str(folder)) != whole
    before = compute_hash(str(folder))
    os.mkfifo(folder / "pipe")
    assert compute_hash(str(folder)) == before
    (Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9"))).write_text("x")
    assert compute_hash(str(folder)) != before

"""Recall skills without asking: from folders, the index, and git's last checkouts."""

from __future__ import annotations

import os

from skillc.index.skills import recall_folder
from skillc.library import recall_skills
from tests.conftest import World
from tests.support.git import Origin, Server
from tests.support.skills import skill

TABLE = '[[repositories]]\nname = "{}"\ntype = "{}"\n{}\n'


def configure(world: World, *tables: str) -> None:
    (world.project / ".skillc" / "skills.toml").write_text("".join(tables))


def test_folders(world: World) -> None:
    """[SURFACES: JSON] a folder that was never indexed is walked, each directory once."""
    shared = world.root / "shared"
    skill(shared, "billing/refunds")
    skill(shared, "billing/refunds/inner")
    skill(shared, ".hidden/no")
    os.symlink(shared, shared / "loop")
    configure(world, TABLE.format("shared", "filesystem", 'path = "../shared"'))
    assert list(recall_skills(str(world.project))) == [("billing/refunds", (), ())]


def test_index(world: World) -> None:
    """[SURFACES: JSON] the index has capabilities and tags, too; one that is damaged has nothing."""
    text = "---\nname: a\ndescription: d\ntags: [x, y]\nrequires_capabilities: [shell]\n---\n# a\n"
    world.skill("a", text)
    assert recall_folder(str(world.store)) == []
    world.ok("find", "a")
    assert recall_folder(str(world.store)) == [("a", ("shell",), ("x", "y"))]
    index = world.home / ".skillc" / "cache" / "library.db"
    for file in index.parent.glob("library.db-*"):
        file.unlink()
    index.write_bytes(b"no database" * 1000)
    assert recall_folder(str(world.store)) == []
    assert index.read_bytes().startswith(b"no database")  # which is for the next search to mend
    assert [skill_id for skill_id, _, _ in recall_skills(str(world.project))] == ["a"]


def test_git(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: JSON] [D29] of a git repository, the last checkout counts; nothing is fetched for a Tab."""
    origin.push("payments/refunds")
    configure(world, TABLE.format("team", "git", f'url = "{server.url}"'))
    assert list(recall_skills(str(world.project))) == []
    assert server.fetches == 0
    world.ok("repo", "sync")
    fetches = server.fetches
    origin.push("payments/vat")
    assert "payments/refunds" in [skill_id for skill_id, _, _ in recall_skills(str(world.project))]
    assert server.fetches == fetches


def test_servers(world: World) -> None:
    """[SURFACES: JSON] a server is not asked; variables are not read."""
    configure(
        world,
        TABLE.format("far", "http", 'url = "http://127.0.0.1:9"'),
        TABLE.format("other", "git", 'url = "${NO_SUCH_VARIABLE}"'),
        TABLE.format("third", "http", 'url = "${NO_SUCH_VARIABLE}"'),
    )
    assert list(recall_skills(str(world.project))) == []

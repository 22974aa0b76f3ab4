"""Recall skills without asking: from folders, the index, and git's last checkouts."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from skillc.index.skills import recall_folder
from skillc.library import recall_skills
from skillc.library.site.index import SCHEMA
from tests.conftest import World
from tests.support.git import Origin, Server
from tests.support.http import Stub, entry, page
from tests.support.skills import skill

TABLE = '[[repositories]]\nname = "{}"\ntype = "{}"\n{}\n'


def configure(world: World, *tables: str) -> None:
    (world.project / ".skillc" / "skills.toml").write_text("".join(tables))


def site_entry(name: str) -> dict[str, str]:
    address, digest = f"{name}/SKILL.md", f"sha256:{'0' * 64}"
    return {"name": name, "type": "skill-md", "description": "d", "url": address, "digest": digest}


def test_folders(world: World) -> None:
    """[SURFACES: JSON] a folder that was never indexed is walked, each directory once."""
    shared = world.root / "shared"
    skill(shared, "billing/refunds")
    skill(shared, "billing/refunds/inner")
    skill(shared, ".hidden/no")
    os.symlink(shared, shared / "loop")
    configure(world, TABLE.format("shared", "filesystem", 'path = "../shared"'))
    memories = list(recall_skills(str(world.project)))
    assert [(memory.id, memory.repository) for memory in memories] == [("billing/refunds", "shared")]


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
    assert [memory.id for memory in recall_skills(str(world.project))] == ["a"]


def test_git(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: JSON] [D29] of a git repository, the last checkout counts; nothing is fetched for a Tab."""
    origin.push("payments/refunds")
    configure(world, TABLE.format("team", "git", f'url = "{server.url}"'))
    assert list(recall_skills(str(world.project))) == []
    assert server.fetches == 0
    world.ok("repo", "sync")
    fetches = server.fetches
    origin.push("payments/vat")
    assert "payments/refunds" in [memory.id for memory in recall_skills(str(world.project))]
    assert server.fetches == fetches


def test_servers(world: World, tmp_path: Path) -> None:
    """[SURFACES: JSON] a server that never answered has no list, and is not asked; variables are not read."""
    configure(
        world,
        TABLE.format("far", "http", 'url = "http://127.0.0.1:9"'),
        TABLE.format("other", "git", 'url = "${NO_SUCH_VARIABLE}"'),
        TABLE.format("third", "http", 'url = "${NO_SUCH_VARIABLE}"'),
    )
    assert list(recall_skills(str(world.project))) == []


def test_http(world: World, stub: Stub) -> None:
    """[SURFACES: JSON] the last list of a server counts, with tags; it is not asked for a Tab."""
    skills = [entry("pdf", metadata={"tags": "forms, paper"}), entry("payments/vat")]
    stub.gives(page({"skills": skills}))
    configure(world, TABLE.format("far", "http", f'url = "{stub.url}"'))
    world.ok("find", "vat")
    requests = len(stub.requests)
    memories = {memory.id: memory for memory in recall_skills(str(world.project))}
    assert (sorted(memories), memories["pdf"].tags) == (["payments/vat", "pdf"], ("forms", "paper"))
    assert len(stub.requests) == requests
    stub.gives(page({"skills": skills[1:]}))
    world.ok("repo", "sync")
    assert [memory.id for memory in recall_skills(str(world.project))] == ["payments/vat"]
    stub.gives(page({}, 503))
    world.skc("repo", "sync")
    assert [memory.id for memory in recall_skills(str(world.project))] == ["payments/vat"]


def test_site(world: World, stub: Stub) -> None:
    """[SURFACES: JSON] [SURFACES: Well-known discovery] the last index of a site counts likewise."""
    index = {"$schema": SCHEMA, "skills": [site_entry("pdf"), site_entry("docx")]}
    stub.answer = lambda request: [page(index) if request.path.endswith("index.json") else page(b"", 404)]
    configure(world, TABLE.format("site", "well-known", f'url = "{stub.url}"'))
    world.ok("list")
    assert list(recall_skills(str(world.project))) == []  # of stores alone
    world.ok("browse")
    assert [memory.id for memory in recall_skills(str(world.project))] == ["docx", "pdf"]


def test_mcp(world: World, tmp_path: Path) -> None:
    """[SURFACES: JSON] [SEP-2640: host] of an MCP server, its last list counts; no program is started."""
    skill(tmp_path / "skills", "good")
    program = Path(__file__).with_name("mcp_server.py")
    command = [sys.executable, str(program), str(tmp_path / "skills"), "nothing", str(tmp_path / "log")]
    (world.home / ".skillc").mkdir()
    (world.home / ".skillc" / "skills.toml").write_text(
        TABLE.format("company", "mcp", f"command = {json.dumps(command)}")
    )
    world.ok("browse")
    (tmp_path / "log").unlink(missing_ok=True)
    assert [memory.id for memory in recall_skills(str(world.project))] == ["company/good"]
    assert not (tmp_path / "log").exists()

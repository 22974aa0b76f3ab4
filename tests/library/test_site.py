"""Sites with an index of skills as repositories: on a real server, with its faults."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from skillc.errors import RepositoryUnavailable, SkillNotFound, WrongDigest
from skillc.library.sources import WellKnownSkillSource
from skillc.skills import SkillId
from tests.conftest import World
from tests.support.cases import each
from tests.support.http import Stub, page
from tests.support.site import INDEX, MAIN, OLD, PLACE, entry, index, pack, serve
from tests.support.skills import run

PDF, TOOLS = SkillId("pdf"), SkillId("tools")
ARCHIVE = pack(SKILL_md=MAIN.replace(b"pdf", b"tools"), scripts__run_md=b"text")
SITE = {
    INDEX: index(entry(), entry("tools", "/tools.zip", ARCHIVE)),
    PLACE: MAIN,
    "/tools.zip": ARCHIVE,
}


def test_list_and_load(world: World, stub: Stub) -> None:
    """[SURFACES: Well-known discovery] The index lists; a skill is downloaded once, and verified."""
    serve(stub, SITE)
    source = WellKnownSkillSource(stub.url, name="site")
    assert [(str(s.id), s.description, s.scope) for s in run(source.list())] == [
        ("pdf", "x", "remote"),
        ("tools", "x", "remote"),
    ]
    assert stub.paths() == [INDEX]
    document = run(source.load(PDF))
    assert (document.body, document.extensions) == ("# Title\n\nBody.\n", {"license": "MIT"})
    folder = run(source.directory(TOOLS))
    assert sorted(os.listdir(folder)) == ["SKILL.md", "scripts"]
    assert os.path.realpath(folder).startswith(str(world.home))
    again = WellKnownSkillSource(stub.url)
    assert run(again.directory(TOOLS)) == folder
    assert stub.paths().count("/tools.zip") == 1
    with pytest.raises(SkillNotFound):
        run(source.load(SkillId("other")))


def test_older_form(world: World, stub: Stub) -> None:
    """[SURFACES: Well-known discovery] Without digests a skill is downloaded again after the interval."""
    files: dict[str, Any] = {
        OLD: {"skills": [{"name": "pdf", "description": "old", "files": ["SKILL.md", "a/b.md"]}]},
        "/.well-known/skills/pdf/SKILL.md": MAIN,
        "/.well-known/skills/pdf/a/b.md": b"more",
    }
    serve(stub, files)
    source = WellKnownSkillSource(f"{stub.url}/docs", cache_ttl=0)
    folder = run(source.directory(PDF))
    assert Path(folder, "a/b.md").read_bytes() == b"more"
    files["/.well-known/skills/pdf/a/b.md"] = b"changed"
    assert Path(run(source.directory(PDF)), "a/b.md").read_bytes() == b"changed"
    del files["/.well-known/skills/pdf/a/b.md"]
    assert Path(run(source.directory(PDF)), "a/b.md").read_bytes() == b"changed"


def test_wrong_digest(world: World, stub: Stub) -> None:
    """[SURFACES: Well-known discovery] A file that is not what the index says is E081, and not kept."""
    serve(stub, SITE | {PLACE: MAIN + b"More."})
    source = WellKnownSkillSource(stub.url)
    for _ in range(2):
        with pytest.raises(WrongDigest):
            run(source.load(PDF))
    serve(stub, SITE)
    assert run(source.load(PDF)).body.endswith("Body.\n")


@each("index", [b"<h1>Welcome</h1>", {"skills": 5}, {"$schema": "https://x/9", "skills": []}])
def test_no_index(world: World, stub: Stub, index: Any) -> None:
    """[D28] A site without an index that is known is E200, and says what was looked for."""
    serve(stub, {INDEX: index, OLD: index})
    with pytest.raises(RepositoryUnavailable, match=r"no index of skills \(.well-known"):
        run(WellKnownSkillSource(stub.url).list())


def test_bad_entries(world: World, stub: Stub) -> None:
    """[D25] What breaks the format, has no description or comes twice is left out with the reason."""
    skills = [entry(), entry(), entry("no-text", description=" "), entry(name="../x"), 5]
    serve(stub, {INDEX: index(*skills), PLACE: MAIN})
    source = WellKnownSkillSource(stub.url)
    assert [str(skill.id) for skill in run(source.list())] == ["pdf"]
    assert source.quarantined == 4
    assert {each.code for each in run(source.diagnostics())} == {"E010", "E011"}


def test_hosts_and_credentials(world: World, stub: Stub) -> None:
    """[D24] [D28] Another host is asked only if it was named, without credentials; http is for loopback."""
    other = stub.url.replace("127.0.0.1", "localhost")
    serve(stub, {INDEX: index(entry(url=f"{other}/x")), "/x": MAIN})
    address, host = stub.url.replace("://", "://me:secret-word@"), other.removeprefix("http://")
    with pytest.raises(RepositoryUnavailable, match="allow_hosts") as error:
        run(WellKnownSkillSource(address).load(PDF))
    assert "secret-word" not in error.value.text()
    run(WellKnownSkillSource(address, allow_hosts=[host]).load(PDF))
    sent = {request.path: request.headers.get("authorization") for request in stub.requests}
    assert str(sent[INDEX]).startswith("Basic ")
    assert sent["/x"] is None
    with pytest.raises(RepositoryUnavailable, match="over https"):
        run(WellKnownSkillSource("http://example.com").list())
    serve(stub, {INDEX: index(entry(url="http://example.com/x", data=b"other"))})
    with pytest.raises(RepositoryUnavailable, match="over https"):
        run(WellKnownSkillSource(stub.url, allow_hosts=["example.com"]).load(PDF))


@pytest.mark.slow
def test_configured(world: World, stub: Stub) -> None:
    """[SURFACES: Well-known discovery] `skc repo add --type well-known`: listed, found, loaded and built."""
    serve(stub, SITE)
    world.ok("repo", "add", "site", stub.url, "--type", "well-known")
    (repository,) = world.json("repo", "list")["repositories"][:1]
    assert (repository["name"], repository["type"], repository["status"]) == ("site", "well-known", "ok")
    assert repository["skills"] == 2
    assert "Body." in world.ok("load", "pdf").stdout
    assert "tools" in world.ok("find", "tools").stdout
    world.ok("build", "pdf", "--target", "claude")
    assert "Body." in world.ok("show", "pdf", "--section", "Title").stdout
    stub.gives(page(b"", 500))
    assert "site" in world.skc("repo", "sync", "site").stderr

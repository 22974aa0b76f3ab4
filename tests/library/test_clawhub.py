"""Registries that speak ClawHub's protocol as repositories: on a real server, with its faults."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from skillc.errors import (
    ArchiveRefused,
    AuditBlocked,
    RepositoryUnavailable,
    SkillNotFound,
    WrongDigest,
)
from skillc.library.sources import ClawHubSkillSource
from skillc.remotes import clawhub as wire
from skillc.remotes.http import BearerAuth
from skillc.skills import SkillId
from tests.conftest import World
from tests.support.archives import zipped
from tests.support.cases import each
from tests.support.clawhub import MAIN, Hub, item
from tests.support.http import Chunks, Request, Stub, page
from tests.support.skills import run

PDF = SkillId("pdf")


@pytest.fixture
def hub(stub: Stub, world: World) -> Hub:
    return Hub(stub)


def test_list_and_load(hub: Hub, world: World) -> None:
    """[SURFACES: Library] [D28] The pages make one list; a skill is downloaded once, and verified."""
    source = ClawHubSkillSource(hub.stub.url, name="hub")
    assert [(str(s.id), s.description, s.scope) for s in run(source.list())] == [
        ("billing/refunds", "About billing.refunds", "remote"),
        ("pdf", "About pdf", "remote"),
    ]
    assert hub.count("download") == 0
    document = run(source.load(PDF))
    assert (document.body, document.extensions) == ("# Title\n\nBody.\n", {"license": "MIT"})
    folder = run(source.directory(SkillId("billing/refunds")))
    assert Path(folder, "a/b.md").read_bytes() == b"more"
    assert os.path.basename(folder) == "refunds"
    assert os.path.realpath(folder).startswith(str(world.home))
    assert "/api/v1/download?slug=billing.refunds&version=1.0.0" in hub.stub.paths()
    run(source.load(PDF))
    assert hub.count("download?slug=pdf") == 1
    assert [each.path for each in run(source.collections())] == ["billing"]
    with pytest.raises(SkillNotFound):
        run(source.load(SkillId("other")))


def test_owner(hub: Hub) -> None:
    """[SURFACES: Library] The owner that a list names goes with each request, whatever it is."""
    hub.pages = [[item("pdf", ownerHandle="a/../b&slug=x"), item("pdf", ownerHandle="other")]]
    run(ClawHubSkillSource(hub.stub.url).load(PDF))
    words = "ownerHandle=a%2F..%2Fb%26slug%3Dx"
    assert hub.stub.paths()[-3:] == [
        f"/api/v1/skills/pdf?{words}",
        f"/api/v1/skills/pdf/versions/1.0.0?{words}",
        f"/api/v1/download?slug=pdf&version=1.0.0&{words}",
    ]


def test_new_version(hub: Hub) -> None:
    """[D28] When the list has another version, that is downloaded; of what is there nothing is."""
    source = ClawHubSkillSource(hub.stub.url, cache_ttl=0)
    first = run(source.directory(PDF))
    assert run(source.directory(PDF)) == first
    assert hub.count("download") == 1
    hub.pages, hub.files, hub.version = [[item("pdf", "1.1.0")]], {"SKILL.md": MAIN + b"New.\n"}, {"x": 1}
    assert run(source.load(PDF)).body.endswith("New.\n")
    assert Path(first, "SKILL.md").read_bytes() == MAIN


def test_addresses(hub: Hub) -> None:
    """[SURFACES: Library] The address is that of the registry, of its discovery or of its API."""
    for discovery in (hub.discovery, None):
        hub.discovery = discovery
        for place in ("", "/", "/.well-known/clawhub.json", "/api/v1", "/api/v1/"):
            source = ClawHubSkillSource(f"{hub.stub.url}{place}")
            assert run(source.refresh())
            assert len(run(source.list())) == 2


def test_list_on_disk(hub: Hub, world: World) -> None:
    """[D28] The list is kept for other processes, for its interval; `refresh` asks again, whatever it is."""
    run(ClawHubSkillSource(hub.stub.url).list())
    asked = len(hub.stub.requests)
    again = ClawHubSkillSource(hub.stub.url)
    assert len(run(again.list())) == 2
    assert len(hub.stub.requests) == asked
    hub.pages = [[item("pdf")]]
    fresh = ClawHubSkillSource(hub.stub.url)
    assert run(fresh.refresh())
    assert [str(skill.id) for skill in run(fresh.list())] == ["pdf"]
    assert len(run(ClawHubSkillSource(hub.stub.url, BearerAuth("other")).list())) == 1
    assert hub.stub.requests[-1].headers["authorization"] == "Bearer other"
    lists = list((world.home / ".skillc/cache/sites").glob("*/.list.json"))
    assert len(lists) == 2  # one for each token
    assert all("other" not in file.read_text() for file in lists)
    for file in lists:
        file.write_text('{"skills": [[5]], "base": 5')
    assert len(run(ClawHubSkillSource(hub.stub.url).list())) == 1


def test_away(hub: Hub, caplog: pytest.LogCaptureFixture) -> None:
    """[D28] While the registry is away the last list is served, by a new process too, and what was used."""
    source = ClawHubSkillSource(hub.stub.url, cache_ttl=0)
    run(source.load(PDF))
    hub.stub.gives(page(b"", 500))
    for other in (source, ClawHubSkillSource(hub.stub.url, cache_ttl=0, name="hub")):
        assert len(run(other.list())) == 2
        assert (other.status, run(other.cached_count())) == ("stale", 2)
        assert run(other.load(PDF)).body.endswith("Body.\n")
        with pytest.raises(RepositoryUnavailable, match="status 500"):
            run(other.directory(SkillId("billing/refunds")))
    assert "not refreshed" in caplog.text


def test_at_once(hub: Hub) -> None:
    """[D28] Many that ask at once share the requests."""
    source = ClawHubSkillSource(hub.stub.url)

    async def ask() -> list[str]:
        return await asyncio.gather(*(source.directory(PDF) for _ in range(8)))

    assert len(set(run(ask()))) == 1
    assert (hub.count("download"), hub.count("/skills?")) == (1, 2)


def test_wrong_slugs(hub: Hub, world: World) -> None:
    """[D25] Slugs that can't be IDs, doubles, and skills without version or text are left out."""
    slugs = ["../x", "/etc/passwd", "a/b", "a..b", ".x", "x.", "", "a b", "\x1b[31m", "é", "x" * 300, 5, None]
    versions = ["", None, "../1", "1/2", "1 0", "x" * 200]
    hub.pages = [
        [item(slug) for slug in slugs],
        [item(f"v{number}", version) for number, version in enumerate(versions)],
        [item("PDF_Tools"), item("pdf-tools"), item("silent", summary=" "), 5, None, [], {}],
    ]
    source = ClawHubSkillSource(hub.stub.url)
    assert [str(skill.id) for skill in run(source.list())] == ["pdf-tools"]
    assert source.quarantined == len(slugs) + len(versions) + 6
    diagnostics = run(source.diagnostics())
    assert {each.code for each in diagnostics} == {"E010", "E011"}
    assert not any("\x1b" in each.path for each in diagnostics)
    run(source.load(SkillId("pdf-tools")))
    assert "slug=PDF_Tools&" in hub.stub.paths()[-1]


def test_wrong_files(hub: Hub) -> None:
    """[SURFACES: Library] Files that are not those of the version are E081, and not kept."""
    source = ClawHubSkillSource(hub.stub.url)
    right, hub.files = hub.files, {"SKILL.md": MAIN + b"More."}
    for _ in range(2):
        with pytest.raises(WrongDigest):
            run(source.load(PDF))
    hub.files = right | {"unlisted.md": b"x"}
    with pytest.raises(WrongDigest, match="whole archive"):
        run(source.load(PDF))
    hub.files = right
    assert run(source.load(PDF)).body.endswith("Body.\n")


def test_no_skill_inside(hub: Hub) -> None:
    """[D28] What is no archive, an archive without a SKILL.md and a version that is none are refused."""
    source = ClawHubSkillSource(hub.stub.url)
    hub.files, hub.version = {"README.md": b"x", "a.md": b"y"}, {"version": "1.0.0"}
    with pytest.raises(RepositoryUnavailable, match=r"no SKILL\.md"):
        run(source.load(PDF))
    hub.archive = b"<html>"
    with pytest.raises(ArchiveRefused):
        run(source.load(PDF))
    hub.version = {}
    with pytest.raises(RepositoryUnavailable, match=r"no version '1\.0\.0'"):
        run(source.load(PDF))


def test_moderation(hub: Hub, caplog: pytest.LogCaptureFixture) -> None:
    """[SURFACES: Library] What the registry blocks is E084, and what it flags is a warning."""
    source = ClawHubSkillSource(hub.stub.url)
    hub.moderation = {"isMalwareBlocked": True}
    with pytest.raises(AuditBlocked, match="malicious"):
        run(source.load(PDF))
    assert hub.count("download") == 0
    hub.moderation = {"isSuspicious": True, "summary": "reads keys"}
    run(source.load(PDF))
    assert "W083" in caplog.text


def test_endless_pages(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D28] A list without an end is read to a limit, and says so; one that is a circle is E200."""
    monkeypatch.setattr(wire, "MAX_PAGES", 5)

    def endless(request: Request) -> Chunks:
        cursor = parse_qs(urlsplit(request.path).query).get("cursor", ["0"])[0]
        number = int(cursor)
        return [page({"items": [item(f"s{number}")], "nextCursor": str(number + 1)})]

    hub.stub.answer = endless
    source = ClawHubSkillSource(f"{hub.stub.url}/api/v1")
    assert len(run(source.list())) == 5
    assert len(hub.stub.requests) == 5
    assert "more than the 5 skills" in run(source.diagnostics())[-1].message
    assert "more than the 5" in run(ClawHubSkillSource(f"{hub.stub.url}/api/v1").diagnostics())[-1].message
    hub.stub.gives(page({"items": [], "nextCursor": "same"}))
    with pytest.raises(RepositoryUnavailable, match="circle"):
        run(ClawHubSkillSource(f"{hub.stub.url}/a/api/v1").list())


def test_huge_answers(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D28] A page, all pages together, a page of very many skills and a discovery are bounded."""
    monkeypatch.setattr("skillc.remotes.clawhub.MAX_ANSWER", 2 << 20)
    monkeypatch.setattr("skillc.remotes.clawhub.MAX_LIST", 3 << 20)
    hub.pages = [[item("pdf", summary="x" * (3 << 20))]]
    with pytest.raises(RepositoryUnavailable, match="over 2 MiB"):
        run(ClawHubSkillSource(hub.stub.url).list())
    hub.pages = [[item(f"s{number}", summary="x" * (1 << 20))] for number in range(9)]
    with pytest.raises(RepositoryUnavailable, match="too long"):
        run(ClawHubSkillSource(hub.stub.url).list())
    assert hub.count("/skills?") == 1 + 3
    monkeypatch.setattr(wire, "MAX_SKILLS", 10)
    hub.pages = [[item(f"s{number}") for number in range(1000)]]
    source = ClawHubSkillSource(hub.stub.url)
    assert len(run(source.list())) == 10
    hub.discovery = {"apiBase": "x" * (1 << 20)}
    with pytest.raises(RepositoryUnavailable, match="over 0 MiB"):
        run(ClawHubSkillSource(f"{hub.stub.url}/x").list())


@each("answer", [b"", b"[]", b"{}", b'{"items": 5}', b"<html>", b"[" * 100_000])
def test_nonsense(stub: Stub, world: World, answer: bytes) -> None:
    """[D28] A server that answers nonsense is E200."""
    stub.gives(page(answer))
    with pytest.raises(RepositoryUnavailable):
        run(ClawHubSkillSource(stub.url).list())


def test_hosts_and_credentials(hub: Hub) -> None:
    """[D24] [D28] Another host is asked only if it was named, without credentials; http is for loopback."""
    other = hub.stub.url.replace("127.0.0.1", "localhost")
    hub.discovery = {"apiBase": other}
    address, host = hub.stub.url.replace("://", "://me:secret-word@"), other.removeprefix("http://")
    with pytest.raises(RepositoryUnavailable, match="allow_hosts") as error:
        run(ClawHubSkillSource(address).list())
    assert "secret-word" not in error.value.text()
    run(ClawHubSkillSource(address, allow_hosts=[host]).load(PDF))
    sent = {request.headers["host"]: request.headers.get("authorization") for request in hub.stub.requests}
    assert str(sent[hub.stub.url.removeprefix("http://")]).startswith("Basic ")
    assert sent[host] is None
    hub.discovery = {"apiBase": "http://example.com"}
    with pytest.raises(RepositoryUnavailable, match="over https"):
        run(ClawHubSkillSource(hub.stub.url, allow_hosts=["example.com"]).list())
    with pytest.raises(RepositoryUnavailable, match="over https"):
        run(ClawHubSkillSource("http://example.com").list())


@pytest.mark.slow
def test_configured(hub: Hub, world: World) -> None:
    """[SURFACES: Library] `skc repo add --type clawhub`: listed, browsed, found, loaded, shown and built."""
    world.ok("repo", "add", "hub", hub.stub.url, "--type", "clawhub")
    (repository,) = world.json("repo", "list")["repositories"][:1]
    assert (repository["name"], repository["type"], repository["status"]) == ("hub", "clawhub", "ok")
    assert repository["skills"] == 2
    assert "pdf" in world.ok("browse").stdout
    assert "Body." in world.ok("load", "pdf").stdout
    assert "billing/refunds" in world.ok("find", "refunds").stdout
    assert "more" in world.ok("open", "pdf", "a/b.md").stdout
    world.ok("build", "pdf", "--target", "claude")
    assert "Body." in world.ok("show", "pdf", "--section", "Title").stdout
    assert hub.count("/skills?") == 2  # all commands together
    world.ok("repo", "sync", "hub")
    assert hub.count("/skills?") == 4
    hub.stub.gives(page(b"", 500))
    assert "Body." in world.ok("load", "pdf").stdout
    assert "hub" in world.skc("repo", "sync", "hub").stderr


@each("name", ["../evil.md", "/evil.md", "a/../../evil.md", "C:evil.md", "a\\..\\evil.md"])
def test_archive_that_leaves(hub: Hub, world: World, name: str) -> None:
    """[SURFACES: Library] Nothing of an archive is written with a name that leaves its folder: E083."""
    hub.archive, hub.version = zipped({"SKILL.md": MAIN, name: b"evil"}), {"version": "1.0.0"}
    source = ClawHubSkillSource(hub.stub.url)
    with pytest.raises(ArchiveRefused):
        run(source.load(PDF))
    names = [file for _, _, files in os.walk(world.home / ".skillc") for file in files]
    assert not [file for file in names if "evil" in file or file == "SKILL.md"]


def test_slow(hub: Hub) -> None:
    """[D28] A registry that does not answer, or whose pages never come to an end, is E200 in its time."""
    hub.stub.gives(5.0)
    with pytest.raises(RepositoryUnavailable, match=r"no (whole )?(answer|list) in"):
        run(ClawHubSkillSource(hub.stub.url, time_out=0.1).list())

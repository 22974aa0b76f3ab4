"""`skc add`, `install`, `outdated` and `update` of a registry of ours: versions, tags, yanks and digests."""

from __future__ import annotations

import json
import shutil
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from skillc.errors import OriginNotFound
from skillc.install import fetch_old
from skillc.install.address import parse_origin, recall_origin
from skillc.library import locate_installed
from skillc.registry import SYSTEM, Role
from tests.conftest import World
from tests.support.cases import each
from tests.support.http import Chunks, Request, Stub, page
from tests.support.team import Team


@pytest.fixture
def eve(world: World, team: Team) -> World:
    """A world that may read the registry, with a project of its own."""
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": team.token("eve", Role.READER)})
    team.requests.clear()
    return world


def lock(world: World) -> Any:
    return json.loads((world.project / "skills-lock.json").read_text())["skills"]


def text(world: World, name: str = "refunds", file: str = "a.md") -> str:
    return (world.store / name / file).read_text()


def test_add_one(eve: World, team: Team) -> None:
    """[SURFACES: Registry] [SURFACES: Getting skills] add URL/id takes the latest version, and locks it."""
    team.publish("payments/refunds", {"a.md": "one", "run.sh": "#!/bin/sh\n"}, version="1.0.0")
    team.publish("payments/refunds", {"a.md": "two", "run.sh": "#!/bin/sh\n"}, version="1.1.0")
    (added,) = eve.json("add", f"{team.url}/payments/refunds", "--yes")["added"]
    digest = team.registry.skill(SYSTEM, "payments/refunds").resolve("latest").digest
    assert (added["id"], added["version"], added["digest"]) == ("refunds", "1.1.0", digest)
    assert text(eve) == "two"
    assert (eve.store / "refunds" / "run.sh").stat().st_mode & 0o111
    entry = lock(eve)["refunds"]
    assert entry["source"] == f"skillc:{team.url}/payments/refunds"
    assert (entry["sourceUrl"], entry["sourceType"]) == (team.url, "download")
    assert "ref" not in entry
    ours = entry["skillc"]
    assert (ours["version"], ours["digest"]) == ("1.1.0", digest)
    assert ours["resolved"] == f"{team.url}/skills/payments%2Frefunds/archive.tar.gz?version=1.1.0"
    assert not any("well-known" in path for path in team.paths())
    eve.ok("verify")
    assert "Unchanged" in eve.ok("add", f"{team.url}/payments/refunds", "--yes").stdout


def test_an_old_version(eve: World, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Evals] of a skill in the home's store, its own lock says where old versions are."""
    for version, content in (("1.0.0", "one"), ("1.1.0", "two")):
        team.publish("payments/refunds", {"a.md": content}, version=version)
    eve.ok("add", f"{team.url}/payments/refunds", "--global", "--yes")
    monkeypatch.setenv("HOME", str(eve.home))
    skill = locate_installed("refunds", str(eve.project))
    with fetch_old(skill, "1.0.0", str(eve.project)) as folder:
        assert (Path(folder) / "a.md").read_text() == "one"
    with pytest.raises(OriginNotFound), fetch_old(skill, "2.0.0", str(eve.project)):
        pass


def test_a_version_or_a_tag(eve: World, team: Team) -> None:
    """[SURFACES: Registry] [SURFACES: Near misses] @ names a version or a tag.

    Of one that a skill has not, those nearest to it are named, none yanked.
    """
    for number, tag in (("1.0.0", "latest"), ("1.1.0", "latest"), ("2.0.0-rc.1", "next")):
        team.publish("payments/refunds", {"a.md": number}, version=number, tag=tag)
    refs = {"1.0.0": "1.0.0", "v1": "1.0.0", "next": "2.0.0-rc.1", "latest": "1.1.0"}
    for ref, version in refs.items():
        (added,) = eve.json("add", f"{team.url}/payments/refunds@{ref}", "--yes")["added"]
        assert (added["version"], text(eve)) == (version, version)
        assert lock(eve)["refunds"]["ref"] == ref
        eve.ok("remove", "refunds")
    for number, tag in (("1.0.0", "old"), ("1.2.2", "next"), ("1.2.3", "latest"), ("3.0.0", "yanked")):
        team.publish("payments/banks", {"a.md": number}, version=number, tag=tag)
    team.registry.yank(SYSTEM, "payments/banks", "3.0.0", "wrong")
    for ref, hint in (
        ("1.2.4", "did you mean '1.2.3' or '1.2.2'?"),
        ("1.9", "did you mean '1.2.3' or '1.2.2'?"),
        ("2.0.0", "there are 1.2.3, 1.2.2 and 1 more"),
        ("lates", "did you mean 'latest'?"),
        ("nxt", "did you mean 'next'?"),
    ):
        stderr = eve.fails("E080", "add", f"{team.url}/payments/banks@{ref}", "--yes").stderr
        first, second = stderr.splitlines()
        assert f"'payments/banks' has no version or tag '{ref}' in the registry" in first
        assert second == f"hint: {hint}"


def test_the_page_of_a_skill(eve: World, team: Team) -> None:
    """[SURFACES: Registry] the address of a page means its skill; --skill takes an ID or a name."""
    team.publish("payments/refunds", {"a.md": "one"})
    team.publish("other")
    assert (
        eve.json("add", f"{team.url}/skills/payments/refunds@0.1.0", "--yes")["added"][0]["id"] == "refunds"
    )
    eve.ok("remove", "refunds")
    assert eve.json("add", f"{team.url}/s/payments/refunds", "--yes")["added"][0]["id"] == "refunds"
    for name in ("payments/refunds", "refunds", "payments/refunds@0.1.0"):
        eve.ok("remove", "refunds")
        assert eve.json("add", team.url, "--skill", name, "--yes")["added"][0]["id"] == "refunds"
    assert lock(eve)["refunds"]["source"] == f"skillc:{team.url}/payments/refunds"


def test_all_of_it(eve: World, team: Team) -> None:
    """[SURFACES: Registry] [SURFACES: Near misses] an address lists what the caller may read; the registry
    names what is near.
    """
    team.publish("payments/refunds", {"a.md": "one"})
    team.publish("docs/style", version="3.0.0")
    run = eve.fails("E100", "add", team.url)
    assert "has 2 skills" in run.stderr
    added = eve.json("add", team.url, "--all", "--yes")["added"]
    assert {(each["id"], each["version"]) for each in added} == {("refunds", "0.1.0"), ("style", "3.0.0")}
    assert lock(eve)["style"]["source"] == f"skillc:{team.url}/docs/style"
    assert "skc add" in eve.fails("E080", "add", f"{team.url}/payments/nothing").stderr
    assert "did you mean" in eve.fails("E080", "add", team.url, "--skill", "refund").stderr
    eve.fails("E080", "add", f"{team.url}/payments/refunds@9.9.9")
    eve.fails("E080", "add", f"{team.url}/Not An Id")
    team.publish("payments/other", version="1.2.3")
    eve.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": team.token("mia", Role.MAINTAINER)})
    stderr = eve.fails("E001", "yank", "payments/other@1.2.4", "--reason", "x").stderr
    assert "there is no such version; did you mean '1.2.3'?" in stderr
    stderr = eve.fails("E080", "add", f"{team.url}/payments/refnds", "--yes").stderr
    assert "did you mean 'payments/refunds'?" in stderr
    assert "lists what there is" in eve.fails("E080", "add", f"{team.url}/x", "--yes").stderr


def test_outdated_and_update(eve: World, team: Team) -> None:
    """[SURFACES: Registry] outdated compares digests and downloads nothing; update takes the new version.

    Install fetches just the locked version, though a newer one is there.
    """
    team.publish("payments/refunds", {"a.md": "one"}, version="1.0.0")
    eve.ok("add", f"{team.url}/payments/refunds", "--yes")
    (state,) = eve.json("outdated")["skills"] or [{"changed": False}]
    assert state["changed"] is False
    team.publish("payments/refunds", {"a.md": "two"}, version="1.1.0")
    shutil.rmtree(eve.store / "refunds")
    assert eve.json("install", "--frozen")["installed"] == ["refunds"]
    assert text(eve) == "one"
    team.requests.clear()
    (state,) = eve.json("outdated")["skills"]
    assert (state["current"], state["latest"], state["changed"]) == ("1.0.0", "1.1.0", True)
    assert not any("archive" in path for path in team.paths())
    run = eve.ok("update", "--min-age", "3d")
    assert "version 1.1.0 is 0m old" in run.stderr
    (update,) = eve.json("update")["skills"]
    assert (update["latest"], text(eve)) == ("1.1.0", "two")
    assert lock(eve)["refunds"]["skillc"]["version"] == "1.1.0"


def test_update_keeps_a_version_that_was_asked_for(eve: World, team: Team) -> None:
    """[SURFACES: Registry] a skill that was added at a version stays there; at a tag, it follows the tag."""
    team.publish("a", {"a.md": "one"}, version="1.0.0")
    team.publish("b", {"a.md": "one"}, version="1.0.0", tag="next")
    eve.ok("add", f"{team.url}/a@1.0.0", "--yes")
    eve.ok("add", f"{team.url}/b@next", "--yes")
    team.publish("a", {"a.md": "two"}, version="1.1.0")
    team.publish("b", {"a.md": "two"}, version="1.1.0")
    assert eve.ok("update").stdout.splitlines()[1].startswith("a stays at the version asked for; ")
    assert (text(eve, "a"), text(eve, "b")) == ("one", "one")
    team.registry.set_tag(SYSTEM, "b", "next", "1.1.0")
    eve.ok("update")
    assert (text(eve, "a"), text(eve, "b")) == ("one", "two")


def test_yanked(eve: World, team: Team) -> None:
    """[SURFACES: Registry] a yanked version is not chosen; where it is locked it still comes, with W093."""
    team.publish("payments/refunds", {"a.md": "one"}, version="1.0.0")
    team.publish("payments/refunds", {"a.md": "two"}, version="1.1.0")
    eve.ok("add", f"{team.url}/payments/refunds", "--yes")
    team.registry.yank(SYSTEM, "payments/refunds", "1.1.0", "pays twice")
    shutil.rmtree(eve.store / "refunds")
    run = eve.ok("install", "--frozen")
    assert "warning[W093]: 'refunds' 1.1.0 was yanked: pays twice" in run.stderr
    assert text(eve) == "two"
    assert "W093" in eve.ok("outdated").stderr
    run = eve.ok("update")
    assert "was yanked: pays twice; another takes its place" in run.stderr
    assert text(eve) == "one"
    assert lock(eve)["refunds"]["skillc"]["version"] == "1.0.0"
    assert "W093" not in eve.ok("update").stderr
    eve.ok("remove", "refunds")
    run = eve.ok("add", f"{team.url}/payments/refunds@1.1.0", "--yes")
    assert "'skc update refunds@latest'" in run.stderr
    assert "W093" in eve.ok("update").stderr
    assert text(eve) == "two"
    eve.ok("update", "refunds@latest")
    assert text(eve) == "one"
    assert "W093" not in eve.ok("update").stderr
    assert "W093" in eve.ok("update", "refunds@1.1.0").stderr  # of what comes, not of what goes
    assert "W093" not in eve.ok("update", "refunds@1.0.0").stderr
    team.registry.yank(SYSTEM, "payments/refunds", "1.0.0", "also")
    eve.ok("remove", "refunds")
    assert "not yanked" in eve.fails("E080", "add", f"{team.url}/payments/refunds").stderr


def test_without_a_token(world: World, team: Team) -> None:
    """[SURFACES: Registry] a registry that wants a token is E090, which says how to log in."""
    team.publish("payments/refunds")
    run = world.fails("E090", "add", f"{team.url}/payments/refunds", "--yes")
    assert f"skc login {team.url}" in run.stderr
    env = {"SKILLC_REGISTRY": team.url, "SKILLC_TOKEN": team.token("eve", Role.READER, "other")}
    world.fails("E090", "add", f"{team.url}/payments/refunds", "--yes", env=env)
    env = {"SKILLC_REGISTRY": team.url, "SKILLC_TOKEN": team.token("eve", Role.READER)}
    assert world.json("add", f"{team.url}/payments/refunds", "--yes", env=env)["added"]


def test_what_a_lock_may_say(world: World, team: Team) -> None:
    """[SURFACES: Registry] [SURFACES: Lock file] an entry is read back as what it was written for."""
    entry = {
        "source": f"skillc:{team.url}/a/b",
        "sourceUrl": team.url,
        "sourceType": "download",
        "ref": "1.0.0",
    }
    origin = recall_origin(entry, ".")
    assert (origin.url, origin.slug, origin.ref, origin.is_ours) == (team.url, "a/b", "1.0.0", True)
    assert (
        parse_origin("skillc:https://x.example/a/b@next", ".").label() == "skillc:https://x.example/a/b@next"
    )
    below = recall_origin(
        entry | {"source": f"skillc:{team.url}/base/a", "sourceUrl": f"{team.url}/base"}, "."
    )
    assert (below.url, below.slug) == (f"{team.url}/base", "a")
    for source, url in [
        ("skillc:http://evil.example/a", "http://evil.example"),
        ("skillc:https://one.example/a", "https://two.example"),
        (f"skillc:{team.url}/../a", team.url),
        (f"skillc:{team.url}/", team.url),
        ("skillc:", ""),
    ]:
        with pytest.raises(OriginNotFound):
            recall_origin(entry | {"source": source, "sourceUrl": url}, ".")


# A registry that lies


def archive(files: dict[str, bytes]) -> bytes:
    buffer = BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
        for name, data in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            packed.addfile(member, BytesIO(data))
    return buffer.getvalue()


MAIN = b"---\nname: pdf\ndescription: x\n---\n# Pdf\n"


def lie(stub: Stub, versions: Any, data: bytes = b"") -> None:
    def answer(request: Request) -> Chunks:
        path = request.path.partition("?")[0]
        if path == "/whoami":
            return [page({"subject": "eve", "permissions": []})]
        if path == "/skills/pdf/versions":
            return [page({"versions": versions})]
        return [page(data) if path == "/skills/pdf/archive.tar.gz" else page({}, 404)]

    stub.answer = answer


@each(
    ("data", "code"),
    [
        (archive({"SKILL.md": MAIN}), "E081"),
        (archive({"SKILL.md": MAIN, "../evil": b"x"}), "E083"),
        (archive({"README.md": MAIN}), "E080"),
        (b"no archive", "E083"),
        (b"", "E083"),
    ],
)
def test_other_files_than_the_digest_says(world: World, stub: Stub, data: bytes, code: str) -> None:
    """[SURFACES: Registry] files that are not those of the version's digest are E081; bad archives E083."""
    lie(stub, [{"version": "1.0.0", "digest": "sha256:00", "tags": ["latest"]}], data)
    world.fails(code, "add", f"{stub.url}/pdf", "--yes")
    assert not (world.store / "pdf").exists()


@each("versions", [[], {}, [3], [{"version": 3}], [{"version": "1.0.0", "tags": 3}]])
def test_nonsense(world: World, stub: Stub, versions: Any) -> None:
    """[SURFACES: Registry] a list of versions that is none is E080, and no traceback."""
    lie(stub, versions)
    world.fails("E080", "add", f"{stub.url}/pdf", "--yes")


def test_a_site_is_no_registry(world: World, stub: Stub) -> None:
    """[SURFACES: Well-known discovery] an address that is none of ours is asked as before."""
    digest = {"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": []}
    stub.answer = lambda request: [
        page(digest) if "agent-skills" in request.path else page(b"<html>sign in", 401)
    ]
    world.fails("E080", "add", stub.url, "--yes")
    assert stub.paths() == ["/whoami", "/.well-known/agent-skills/index.json"]

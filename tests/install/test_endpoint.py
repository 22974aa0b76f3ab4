"""Skills of servers that speak MCP: added, installed again and updated; and servers that lie."""

from __future__ import annotations

import base64
import json
import os
import shutil
from pathlib import Path

import pytest

from skillc.errors import OriginNotFound, SkillcError
from skillc.install import endpoint, open_download, parse_origin
from skillc.install.origin import recall_origin
from tests.conftest import World, save
from tests.library import mcp_server
from tests.support.http import Request, Stub, page
from tests.support.skills import skill

PNG = b"\x89PNG\xff\x00"
INDEX = "/.well-known/agent-skills/index.json"


def post(request: Request) -> bytes:
    """Return the server's answer to a request over HTTP."""
    if request.method != "POST":
        return page(b"Method Not Allowed", 405)
    message = json.loads(request.body)
    if "id" not in message:
        return page(b"", 202)
    return page(mcp_server.reply(message), Content_Type="application/json")


def methods(stub: Stub) -> list[str]:
    return [json.loads(each.body)["method"] for each in stub.requests if each.method == "POST"]


@pytest.fixture
def served(world: World, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders that the server serves over HTTP."""
    root = world.root / "served"
    for name in ("good", "bad", "acme/billing/refunds"):
        folder = skill(root, name)
        (folder / "references").mkdir()
        save(folder / "references" / "more.md", f"# More of {name}\n")
        save(folder / "logo.png", PNG + name.encode())
    monkeypatch.setattr(mcp_server, "FOLDER", root)
    monkeypatch.setattr(mcp_server, "LIE", "")
    stub.answer = lambda request: [post(request)]
    return root


def lock(world: World) -> dict[str, dict[str, object]]:
    skills: dict[str, dict[str, object]] = json.loads((world.project / "skills-lock.json").read_text())[
        "skills"
    ]
    return skills


@pytest.mark.slow
@pytest.mark.parametrize("name", ["refunds", "acme/billing/refunds", "acme/billing/refunds/SKILL.md"])
def test_add(world: World, served: Path, stub: Stub, name: str) -> None:
    """[SURFACES: Getting skills] [SURFACES: Lock file] all files of a skill, by its name, ID or path."""
    url = f"{stub.url}/mcp"
    told = world.ok("add", url, "--skill", name)
    assert f"mcp:{url}, acme/billing/refunds/SKILL.md" in told.stderr
    assert (world.store / "refunds" / "logo.png").read_bytes() == PNG + b"acme/billing/refunds"
    assert (world.store / "refunds" / "references" / "more.md").is_file()
    entry = lock(world)["refunds"]
    assert (entry["source"], entry["sourceUrl"]) == (f"mcp:{url}", url)
    assert (entry["sourceType"], entry["skillPath"]) == ("download", "acme/billing/refunds/SKILL.md")
    world.ok("verify")
    assert "Unchanged: 'refunds'" in world.ok("add", url, "--skill", name).stdout
    assert {each.path for each in stub.requests} == {"/mcp"}


@pytest.mark.slow
def test_choice(world: World, served: Path, stub: Stub) -> None:
    """[SURFACES: Getting skills] several skills need a choice; --all takes every one, `#name` one."""
    url = f"{stub.url}/mcp"
    told = world.fails("E100", "add", url).stderr
    assert "has 3 skills" in told
    assert "resources/read" not in methods(stub)
    close = world.fails("E080", "add", url, "--skill", "god").stderr
    assert "there is no skill 'god' in it" in close
    assert "did you mean good?" in close
    world.ok("add", f"{url}#good")
    added = json.loads(world.ok("add", url, "--all", "--format", "json").stdout)
    assert ([each["id"] for each in added["added"]], added["unchanged"]) == (["refunds", "bad"], ["good"])


@pytest.mark.slow
def test_one_name_twice(world: World, served: Path, stub: Stub) -> None:
    """[SURFACES: Getting skills] of two skills with one name, the ID says which."""
    skill(served, "sales/refunds")
    told = world.fails("E080", "add", f"{stub.url}/mcp", "--skill", "refunds").stderr
    assert "did you mean acme/billing/refunds or sales/refunds?" in told
    world.fails("E100", "add", f"{stub.url}/mcp", "--all")
    world.ok("add", f"{stub.url}/mcp", "--skill", "sales/refunds")
    assert lock(world)["refunds"]["skillPath"] == "sales/refunds/SKILL.md"


@pytest.mark.slow
def test_install_and_update(world: World, served: Path, stub: Stub) -> None:
    """[SURFACES: Lock file] install fetches what is locked, outdated and update what is there now."""
    world.ok("add", f"{stub.url}/mcp", "--all")
    skills = json.loads(world.ok("outdated", "--format", "json").stdout)["skills"]
    assert [(each["id"], each["changed"]) for each in skills] == [
        ("bad", False),
        ("good", False),
        ("refunds", False),
    ]
    shutil.rmtree(world.store)
    stub.requests.clear()
    told = json.loads(world.ok("install", "--frozen", "--format", "json").stdout)
    assert sorted(told["installed"]) == ["bad", "good", "refunds"]
    assert "skills/list" not in methods(stub)
    world.ok("verify")
    save(served / "good" / "references" / "more.md", "# Other\n")
    shutil.rmtree(world.store / "good")
    assert "not those of the lock" in world.fails("E081", "install", "--frozen").stderr
    assert not (world.store / "good").exists()
    skills = json.loads(world.skc("outdated", "--format", "json").stdout)["skills"]
    assert [each["id"] for each in skills if each["changed"]] == ["good"]
    world.ok("update", "good", "--yes")
    assert (world.store / "good" / "references" / "more.md").read_text() == "# Other\n"
    world.ok("verify")
    shutil.rmtree(served / "bad")
    assert "W088" in world.skc("outdated").stderr


# What the server says or sends of `bad`: the code, and words of the reason.
LIES = {
    "digest": ("E081", "of the skill 'bad' is not what was asked for"),
    "size": ("E081", "is not what was asked for"),
    "other-content": ("E081", "'SKILL.md' of the skill 'bad'"),
    "longer": ("E081", "is not what was asked for"),
    "100-megabytes": ("E080", "over 32 MiB"),
    "huge": ("E080", "over 16 MiB"),
    "many-files": ("E080", "512 are the limit"),
    "dynamic": ("E080", "nothing could be verified"),
    "description": ("E080", "another 'description' than announced"),
    "other-file": ("E080", "another file was sent"),
    "elsewhere": ("E080", "not in the skill's folder"),
    "other-scheme": ("E080", "not in the skill's folder"),
    "case": ("E080", "a file twice"),
    "spelling": ("E080", "are one name on some systems"),
    "reserved": ("E083", "Windows can't hold the name 'con.txt'"),
    "file-and-folder": ("E080", "where the folder of another one is"),
    **{f"trick-{number}": ("E080", "") for number in range(len(mcp_server.TRICKS))},
}


def get(address: str, *names: str) -> dict[str, list[str]]:
    with open_download(parse_origin(address, "/"), names=names) as found:
        return {each.name: sorted(os.listdir(each.folder)) for each in found.candidates}


@pytest.mark.parametrize("lie", LIES)
def test_lies_about_a_skill(
    world: World, served: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch, lie: str
) -> None:
    """[SEP-2640: host] [SURFACES: Getting skills] it is refused with a reason; the others can be had."""
    monkeypatch.setattr(mcp_server, "LIE", lie)
    code, reason = LIES[lie]
    with pytest.raises(SkillcError) as failed:
        get(f"{stub.url}/mcp", "bad")
    assert failed.value.code == code
    assert reason in failed.value.message
    assert get(f"{stub.url}/mcp", "good") == {"good": ["SKILL.md", "logo.png", "references"]}


@pytest.mark.slow
@pytest.mark.parametrize("lie", ["other-content", "reserved", "trick-0"])
def test_nothing_of_a_lie_is_written(
    world: World, served: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch, lie: str
) -> None:
    """[SEP-2640: host] [SURFACES: Getting skills] neither into the store nor into the lock or the cache."""
    monkeypatch.setattr(mcp_server, "LIE", lie)
    code, reason = LIES[lie]
    assert reason in world.fails(code, "add", f"{stub.url}/mcp", "--skill", "bad", "--yes").stderr
    assert not list(world.store.iterdir())
    assert not (world.project / "skills-lock.json").exists()
    assert not list((world.home / ".skillc" / "cache" / "downloads").iterdir())
    world.ok("add", f"{stub.url}/mcp", "--skill", "good", "--yes")


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        ("endless", "more than 200 pages"),
        ("circle", "goes in circles"),
        ("many", "more than 5000 skills"),
        ("no-list", "list of skills is none"),
        ("undeclared", "does not declare skills"),
        ("unlisted", "there is no skill in it that you may read"),
    ],
)
def test_lies_about_the_list(
    world: World, served: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch, lie: str, reason: str
) -> None:
    """[SEP-2640: host] a list that is none, or has no end, is E080 with the reason."""
    monkeypatch.setattr(mcp_server, "LIE", lie)
    with pytest.raises(OriginNotFound, match=reason):
        get(f"{stub.url}/mcp")


def test_too_much_at_once(world: World, served: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Getting skills] the files of all skills together are bounded; nothing is fetched before."""
    monkeypatch.setattr(endpoint, "MAX_BYTES", 200)
    with pytest.raises(OriginNotFound, match="--skill names some of them"):
        get(f"{stub.url}/mcp")
    assert "resources/read" not in methods(stub)
    assert list(get(f"{stub.url}/mcp", "good")) == ["good"]


@pytest.mark.slow
def test_refused_and_unlisted(
    world: World, served: Path, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[SEP-2640: host] --all leaves out what is refused, with the reason; an ID needs no list."""
    monkeypatch.setattr(mcp_server, "LIE", "dynamic")
    told = world.ok("add", f"{stub.url}/mcp", "--all", "--dry-run")
    assert "warning[W080]" in told.stderr
    assert "nothing could be verified" in told.stderr
    monkeypatch.setattr(mcp_server, "LIE", "unlisted")
    world.ok("add", f"{stub.url}/mcp", "--skill", "good")
    assert (world.store / "good" / "SKILL.md").is_file()


@pytest.mark.slow
def test_any_address(world: World, served: Path, stub: Stub) -> None:
    """[SURFACES: Getting skills] an endpoint need not end in /mcp; `mcp:` before it asks nothing else."""
    world.ok("add", f"{stub.url}/endpoint", "--skill", "good")
    stub.requests.clear()
    assert "Unchanged" in world.ok("add", f"mcp:{stub.url}/endpoint", "--skill", "good").stdout
    assert {(each.method, each.path) for each in stub.requests} == {("POST", "/endpoint")}
    assert lock(world)["good"]["source"] == f"mcp:{stub.url}/endpoint"


@pytest.mark.parametrize(
    "refusal", [page(b"<html>", 404, Content_Type="text/html"), page({"code": "E1"}, 405)]
)
def test_something_else_at_mcp(world: World, stub: Stub, refusal: bytes) -> None:
    """[SURFACES: Getting skills] an address that ends in /mcp can be that of a site, too."""
    main = b"---\nname: pdf\ndescription: About pdf\n---\nBody.\n"
    files = {
        "/docs/mcp/.well-known/skills/index.json": page(
            {"skills": [{"name": "pdf", "description": "x", "files": ["SKILL.md"]}]}
        ),
        "/docs/mcp/.well-known/skills/pdf/SKILL.md": page(main),
    }
    stub.answer = lambda request: [files.get(request.path, refusal)]
    world.ok("add", f"{stub.url}/docs/mcp")
    assert (world.store / "pdf" / "SKILL.md").read_bytes() == main
    assert "there is no MCP server" in world.fails("E080", "add", f"mcp:{stub.url}/docs/mcp").stderr


@pytest.mark.slow
def test_credentials(world: World, served: Path, stub: Stub) -> None:
    """[SURFACES: Getting skills] user and query go to the server alone: not into the lock, not into words."""
    host = stub.url.removeprefix("http://")
    address = f"http://me:s3cret-1@{host}/mcp?team=s3cret-2"
    told = world.ok("add", address, "--skill", "good")
    login = f"Basic {base64.b64encode(b'me:s3cret-1').decode()}"
    assert {each.headers.get("authorization") for each in stub.requests} == {login}
    assert {each.path for each in stub.requests} == {"/mcp?team=s3cret-2"}
    assert "s3cret" not in told.stdout + told.stderr + (world.project / "skills-lock.json").read_text()
    stub.gives(page({"error": "s3cret-2"}, 401, WWW_Authenticate="s3cret-1"))
    told = world.fails("E080", "add", address, "--skill", "good")
    assert "wants other credentials (status 401)" in told.stderr
    assert "s3cret" not in told.stderr


@pytest.mark.slow
def test_redirects(world: World, served: Path, stub: Stub) -> None:
    """[SURFACES: Getting skills] no other host is asked, and none with the login."""
    other = Stub()
    try:
        stub.gives(page(b"", 307, Location=f"{other.url}/mcp?token=abc"))
        told = world.fails("E080", "add", f"mcp:{stub.url.replace('//', '//me:s3cret@')}/mcp").stderr
        assert f"redirects to '{other.url}/mcp?token=***'" in told
        assert other.requests == []
    finally:
        other.close()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("mcp:pdf", "addresses are"),
        ("mcp:ssh://example.com/mcp", "the address of an MCP server is https"),
        ("mcp:http://example.com/mcp", "http is for this machine alone"),
        ("mcp:https:///mcp", "no host"),
        ("mcp:https://[x/mcp", "not a valid URL"),
    ],
)
def test_addresses_that_are_none(text: str, reason: str) -> None:
    """[SURFACES: Getting skills] E080 says what is wrong with an address."""
    with pytest.raises(OriginNotFound, match=reason):
        parse_origin(text, "/")


def test_a_lock_of_another(world: World) -> None:
    """[SURFACES: Lock file] the address of the source counts; `sourceUrl` leads nowhere else."""
    source = "mcp:https://skills.example.com/mcp"
    fields = {"sourceType": "download", "source": source, "sourceUrl": "https://other.example.com/mcp"}
    origin = recall_origin(fields | {"skillPath": "acme/pdf/SKILL.md"}, "/")
    assert (origin.label(), origin.url) == (f"{source}/acme/pdf", "https://skills.example.com/mcp")

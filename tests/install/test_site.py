"""Skills of web sites: well-known discovery 0.2.0 and the form before it, on a real server."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator

import pytest

from skillc.errors import ArchiveRefused, Diagnostic, OriginNotFound, WrongDigest
from skillc.install.address import parse_origin
from skillc.install.download import open_download
from skillc.install.lock import change_lock, read_lock
from tests.conftest import World
from tests.support.cases import each
from tests.support.http import Stub, page
from tests.support.site import INDEX, MAIN, OLD, PLACE, digest, entry, index, pack, serve


def get(address: str, *wanted: str, hosts: frozenset[str] = frozenset()) -> dict[str, list[str]]:
    with open_download(parse_origin(address, "/", hosts), names=wanted) as found:
        return {each.name: sorted(os.listdir(each.folder)) for each in found.candidates}


def test_files_and_archives(world: World, stub: Stub) -> None:
    """[SURFACES: Well-known discovery] [SURFACES: Getting skills] a skill is one file, or an archive at
    any address.
    """
    serve(stub, {INDEX: index(entry()), PLACE: MAIN})
    with open_download(parse_origin(stub.url, "/")) as found:
        pdf = found.candidates[0]
        assert (pdf.name, pdf.description, pdf.digest) == ("pdf", "x", digest(MAIN))
        assert found.origin.type == "well-known"
        assert pdf.remote.address == f"{stub.url}{PLACE}"
        assert os.listdir(pdf.folder) == ["SKILL.md"]
    assert not os.path.exists(pdf.folder)
    plain, wrapped = pack(SKILL_md=MAIN, a_md=b"x"), pack(top__SKILL_md=MAIN, top__b_md=b"x")
    skills = entry(url="/a.zip", data=plain), entry("doc", "/b.zip", wrapped)
    serve(stub, {INDEX: index(*skills), "/a.zip": plain, "/b.zip": wrapped})
    assert get(stub.url) == {"pdf": ["SKILL.md", "a.md"], "doc": ["SKILL.md", "b.md"]}
    serve(stub, {"/latest": pack(SKILL_md=MAIN)})
    assert get(f"{stub.url}/latest") == {"pdf": ["SKILL.md"]}


def test_only_what_is_wanted(world: World, stub: Stub) -> None:
    """[SURFACES: Well-known discovery] [D64] [SURFACES: Lock file] only the wanted skill is downloaded,
    and compared with the lock.
    """
    serve(stub, {INDEX: index(entry(), entry("doc", "doc.md")), PLACE: MAIN})
    assert get(stub.url, "pdf") == {"pdf": ["SKILL.md"]}
    assert "/.well-known/agent-skills/doc.md" not in stub.paths()
    with pytest.raises(OriginNotFound, match="no skill 'dog'") as error:
        get(stub.url, "dog")
    assert "doc" in error.value.details
    serve(stub, {INDEX: index(entry()), PLACE: MAIN})
    world.ok("add", stub.url, "--yes", "--target", "claude")
    lock = world.project / "skills-lock.json"
    assert digest(MAIN) in lock.read_text()
    lock.write_text(lock.read_text().replace(digest(MAIN), digest(b"other")))
    shutil.rmtree(world.store / "pdf")
    assert "not those of the lock" in world.fails("E081", "install").stderr


def test_wrong_digest(world: World, stub: Stub) -> None:
    """[SURFACES: Well-known discovery] A wrong digest is E081, which names the file; nothing stays."""
    serve(stub, {INDEX: index(entry(data=b"other")), PLACE: MAIN})
    with pytest.raises(WrongDigest) as error:
        get(stub.url)
    assert error.value.code == "E081"
    assert PLACE in error.value.message
    assert digest(MAIN) in error.value.message
    assert os.listdir(world.home / ".skillc/cache/downloads") == []


def test_older_form(world: World, stub: Stub) -> None:
    """[SURFACES: Well-known discovery] without $schema, the form with `files`; another one is a warning."""
    older = {"skills": [{"name": "pdf", "description": "x", "files": ["SKILL.md", "a/b c.md"]}]}
    base = "/.well-known/skills/pdf"
    serve(stub, {OLD: older, f"{base}/SKILL.md": MAIN, f"{base}/a/b%20c.md": b"more"})
    assert get(stub.url) == {"pdf": ["SKILL.md", "a"]}
    old = {"skills": [{"name": "old", "description": "x", "files": ["SKILL.md"]}]}
    new = {"$schema": "https://example.com/9.json", "skills": [entry()]}
    serve(stub, {INDEX: new, OLD: old, "/.well-known/skills/old/SKILL.md": MAIN})
    reports: list[Diagnostic] = []
    with open_download(parse_origin(stub.url, "/"), report=reports.append) as found:
        assert [each.name for each in found.candidates] == ["old"]
    assert [report.code for report in reports] == ["W082"]


@each("name", ["../../x", "/etc/passwd", "a\\b", "nul", ""])
def test_older_form_is_hostile(world: World, stub: Stub, name: str) -> None:
    """[SURFACES: Well-known discovery] Names that leave the skill are refused as in an archive."""
    index = {"skills": [{"name": "pdf", "description": "x", "files": ["SKILL.md", name]}]}
    serve(stub, {OLD: index, "/.well-known/skills/pdf/SKILL.md": MAIN})
    with pytest.raises(ArchiveRefused):
        get(stub.url)
    assert os.listdir(world.home / ".skillc/cache/downloads") == []


@each(
    "bad",
    [5, {}, entry(name="../x"), entry(name="A"), entry(type="program"), entry(digest="md5:1"),
     entry(digest=None), entry(url=""), entry() | {"url": 5}, entry(url="https://[::1"),
     entry() | {"name": None}],
)  # fmt: skip
def test_bad_entries(world: World, stub: Stub, bad: object) -> None:
    """[SURFACES: Well-known discovery] An entry that breaks the format is left out with a warning."""
    serve(stub, {INDEX: index(bad, entry()), PLACE: MAIN})
    reports: list[Diagnostic] = []
    with open_download(parse_origin(stub.url, "/"), report=reports.append) as found:
        assert [each.name for each in found.candidates] == ["pdf"]
    (report,) = reports
    assert report.code == "W080"
    assert report.message.endswith("/index.json' is left out: 1 entry that breaks the format")


@each("url", ["http://example.com/SKILL.md", "file:///etc/passwd", "ftp://example.com/x"])
def test_other_addresses(world: World, stub: Stub, url: str) -> None:
    """[SURFACES: Getting skills] Files are asked over https; http is for loopback addresses only."""
    serve(stub, {INDEX: index(entry(url=url))})
    with pytest.raises(OriginNotFound, match="not https"):
        get(stub.url)


def test_redirects(world: World, stub: Stub) -> None:
    """[SURFACES: Getting skills] Redirects are followed a few times, and to http only on this machine."""
    serve(stub, {INDEX: index(entry()), PLACE: MAIN})
    direct = stub.answer
    target = "/loop"
    stub.answer = lambda request: (
        [page(b"", 302, Location=target)] if request.path in (PLACE, "/loop") else direct(request)
    )
    with pytest.raises(OriginNotFound, match="more than 3 redirects"):
        get(stub.url)
    target = "http://example.com/x"
    with pytest.raises(OriginNotFound, match="redirected to http"):
        get(stub.url)


@pytest.fixture
def other() -> Iterator[Stub]:
    """Another host: another port of this machine."""
    made = Stub()
    serve(made, {"/pdf.md": MAIN, "/pdf.zip": pack(SKILL_md=MAIN)})
    yield made
    made.close()


def lead(stub: Stub, other: Stub, way: str) -> str:
    """Have a site lead to another host in a way; gives the address to add."""
    if way == "index":
        serve(stub, {INDEX: index(entry(url=f"{other.url}/pdf.md"))})
        return stub.url
    serve(stub, {INDEX: index(entry())})
    direct = stub.answer
    targets = {PLACE: f"{other.url}/pdf.md", "/pdf.zip": f"{other.url}/pdf.zip?sig=secret-word"}
    stub.answer = lambda request: (
        [page(b"", 302, Location=targets[request.path])] if request.path in targets else direct(request)
    )
    return stub.url if way == "redirect" else f"{stub.url}/pdf.zip"


@each(
    ("known", "message"),
    [(digest(MAIN), "the files are the same"), (digest(b"other"), "other files now"), ("", "it has no hash")],
)
def test_entry_of_another_tool(world: World, stub: Stub, known: str, message: str) -> None:
    """[D64] [SURFACES: Lock file] an entry of another tool is compared by what it has, and W086 says how."""
    serve(stub, {INDEX: index(entry()), PLACE: MAIN})
    fields = {"source": "wellknown/x", "sourceUrl": stub.url, "sourceType": "well-known"}
    fields |= {"wellKnownDigest": known} if known else {}
    lock = world.project / "skills-lock.json"
    lock.write_text(json.dumps({"version": 1, "skills": {"pdf": fields}}))
    shutil.rmtree(world.store / "pdf", ignore_errors=True)
    (warning,) = [line for line in world.ok("install").stderr.splitlines() if "W086" in line]
    assert message in warning


@pytest.mark.slow
@pytest.mark.parametrize("way", ["index", "redirect", "archive"])
def test_another_host_in_the_lock(world: World, stub: Stub, other: Stub, way: str) -> None:
    """[SURFACES: Lock file] The host that a skill really came from is in the lock, and is asked again."""
    address, host = lead(stub, other, way), other.url.removeprefix("http://")
    words = ("add", address, "--yes", "--target", "claude")
    assert f"--allow-host {host}" in world.fails("E080", *words).stderr
    assert other.requests == []
    world.fails("E100", *words, "--allow-host", "no host")
    world.ok(*words, "--allow-host", host)
    lock = (world.project / "skills-lock.json").read_text()
    assert f"{other.url}/pdf." in lock
    assert "secret-word" not in lock
    shutil.rmtree(world.store / "pdf")
    world.ok("install", "--frozen")
    world.ok("outdated")
    with_third = lock.replace(other.url, stub.url)
    (world.project / "skills-lock.json").write_text(with_third)
    change_lock(str(world.project), record=[read_lock(str(world.project))["pdf"].sealed()])
    shutil.rmtree(world.store / "pdf")
    asked = len(other.requests)
    assert f"--allow-host {host}" in world.fails("E081", "install").stderr
    assert f"--allow-host {host}" in world.ok("outdated").stderr
    assert len(other.requests) == asked
    world.ok("install", "--allow-host", host)
    world.ok("update", "--allow-host", host)
    assert "pdf: 0 blocks" in world.ok("audit", address, "--allow-host", host).stdout


def test_nothing_there(world: World, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Getting skills] [SURFACES: Well-known discovery] a site without an index is E080; a file
    over the limit is not read whole.
    """
    serve(stub, {})
    with pytest.raises(OriginNotFound, match="no index of skills, no registry, no git") as error:
        get(stub.url)
    assert "/.well-known/agent-skills/index.json" in error.value.details
    assert not any("secret" in path for path in stub.paths())
    monkeypatch.setattr("skillc.remotes.site.MAX_SKILL_FILE", 1 << 20)
    data = MAIN + bytes(2 << 20)
    serve(stub, {INDEX: index(entry(data=data)), PLACE: data})
    with pytest.raises(OriginNotFound, match="over 1 MiB"):
        get(stub.url)


@pytest.mark.slow
def test_single_file(world: World, stub: Stub) -> None:
    """[SURFACES: Getting skills] The address of a SKILL.md gives one skill, named by its frontmatter."""
    new = MAIN + b"More.\n"
    serve(stub, {"/docs/anything/SKILL.md": MAIN, "/page/SKILL.md": b"<html>Sign in</html>"})
    address = f"{stub.url}/docs/anything/SKILL.md"
    assert get(address) == {"pdf": ["SKILL.md"]}
    world.ok("add", address, "--yes", "--target", "claude")
    fields = json.loads((world.project / "skills-lock.json").read_text())["skills"]["pdf"]
    assert (fields["sourceType"], fields["source"], fields["skillPath"]) == ("download", address, "SKILL.md")
    shutil.rmtree(world.store / "pdf")
    world.ok("install", "--frozen")
    serve(stub, {"/docs/anything/SKILL.md": new})
    world.ok("update")
    assert (world.store / "pdf" / "SKILL.md").read_bytes() == new
    serve(stub, {"/page/SKILL.md": b"<html>Sign in</html>"})
    assert "W080" in world.fails("E080", "add", f"{stub.url}/page/SKILL.md", "--yes").stderr
    world.fails("E080", "add", f"{stub.url}/missing/SKILL.md", "--yes")


@pytest.mark.slow
def test_locked(world: World, stub: Stub) -> None:
    """[SURFACES: Lock file] what a site has under the locked digest is installed, anything else is E081."""
    new = MAIN + b"More.\n"
    serve(stub, {INDEX: index(entry()), PLACE: MAIN})
    world.ok("add", stub.url, "--skill", "pdf", "--yes", "--target", "claude")
    shutil.rmtree(world.store / "pdf")
    assert world.ok("install", "--frozen").stdout == "Installed 'pdf'\n"
    serve(stub, {INDEX: index(entry(data=new)), PLACE: new})
    assert world.ok("install", "--frozen").stdout == "1 skill unchanged\n"
    shutil.rmtree(world.store / "pdf")
    world.fails("E081", "install", "--frozen")
    world.ok("update")
    assert (world.store / "pdf" / "SKILL.md").read_bytes() == new
    serve(stub, {INDEX: index(entry(data=new)), PLACE: MAIN})
    shutil.rmtree(world.store / "pdf")
    assert "digest" in world.fails("E081", "install").stderr


def test_credentials_stay_at_home(world: World, stub: Stub) -> None:
    """[SURFACES: Getting skills] A user in the address is sent to that host alone, and not shown."""
    other = stub.url.replace("127.0.0.1", "localhost")
    serve(stub, {INDEX: index(entry(url=f"{other}/x")), "/x": MAIN})
    address = stub.url.replace("://", "://me:secret-word@")
    assert get(address, hosts=frozenset({other.removeprefix("http://")})) == {"pdf": ["SKILL.md"]}
    sent = {request.path: request.headers.get("authorization") for request in stub.requests}
    assert str(sent[INDEX]).startswith("Basic ")
    assert sent["/x"] is None
    serve(stub, {})
    with pytest.raises(OriginNotFound) as error:
        get(address)
    assert "secret-word" not in error.value.text()

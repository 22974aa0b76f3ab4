"""A client of registries that speak the ClawHub v1 protocol, against a server that speaks it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from skillc.errors import AuditBlocked, Diagnostic, OriginNotFound, WrongDigest
from skillc.install.address import parse_origin
from skillc.install.download import open_download
from skillc.remotes import fingerprint_of
from tests.conftest import World
from tests.support.cases import each
from tests.support.clawhub import MAIN, Hub, describe, item, sha
from tests.support.http import Stub


@pytest.fixture
def hub(stub: Stub, world: World) -> Hub:
    """A registry with a skill in several versions, and a second page."""
    made = Hub(stub)
    made.pages = [[item("pdf", summary="Fill forms")], [item("doc", summary="", displayName="Doc")]]
    made.versions, made.version = {"1.0.0": {"SKILL.md": MAIN}}, {"changelog": ""}
    return made


def get(address: str, *wanted: str) -> tuple[str, list[str]]:
    """The version and the files of the one skill at an address."""
    with open_download(parse_origin(address, "/"), names=wanted) as found:
        (pdf,) = found.candidates
        return pdf.version, sorted(os.listdir(pdf.folder))


def test_versions(hub: Hub) -> None:
    """[SURFACES: Getting skills] The latest version, a version, or what a tag names."""
    hub.versions["1.1.0"] = {"SKILL.md": MAIN, "a.md": b"new"}
    hub.versions["2.0.0-rc.1"] = {"SKILL.md": MAIN, "b.md": b"next"}
    hub.tags = {"latest": "1.1.0", "next": "2.0.0-rc.1"}
    place = f"clawhub:{hub.url}/pdf"
    assert get(place) == ("1.1.0", ["SKILL.md", "a.md"])
    assert get(f"{place}@latest") == ("1.1.0", ["SKILL.md", "a.md"])
    assert get(f"{place}@1.0.0") == ("1.0.0", ["SKILL.md"])
    assert get(f"{place}@v1.0.0") == ("1.0.0", ["SKILL.md"])
    assert get(f"{place}@next") == ("2.0.0-rc.1", ["SKILL.md", "b.md"])


def test_address(hub: Hub, stub: Stub) -> None:
    """[SURFACES: Getting skills] The address of a registry gives its list, in pages, and a skill by name."""
    with open_download(parse_origin(hub.url, "/"), lazy=True) as found:
        assert [(each.name, each.description) for each in found.candidates] == [
            ("pdf", "Fill forms"),
            ("doc", "Doc"),
        ]
        assert found.candidates[0].origin == parse_origin(f"clawhub:{hub.url}/pdf", "/")
        assert not any("download" in path for path in stub.paths())
    assert get(hub.url, "pdf") == ("1.0.0", ["SKILL.md"])


@each(
    ("address", "reason"),
    [
        ("nope", "no skill 'nope'"),
        ("pdf@9.9.9", "no version '9.9.9'"),
        ("pdf@beta", "no version or tag 'beta'"),
    ],
)
def test_not_there(hub: Hub, address: str, reason: str) -> None:
    """[SURFACES: Getting skills] A skill, a version or a tag that is not there is E080."""
    with pytest.raises(OriginNotFound, match=reason):
        get(f"clawhub:{hub.url}/{address}")


def test_verified(hub: Hub, world: World) -> None:
    """[SURFACES: Getting skills] Files and fingerprint are compared with what the registry says: E081."""
    files = {"SKILL.md": MAIN, "a/b.md": b"x", ".hidden": b"y"}
    hub.versions["1.0.0"] = files
    hub.version = describe(files)
    assert get(f"clawhub:{hub.url}/pdf")[0] == "1.0.0"
    hub.version = {"files": [{"path": "a/b.md", "sha256": sha(b"z")}]}
    with pytest.raises(WrongDigest, match=r"'a/b.md' of the skill 'pdf'"):
        get(f"clawhub:{hub.url}/pdf")
    hub.version = {"files": [{"path": "c.md", "sha256": sha(b"z")}]}
    with pytest.raises(WrongDigest, match="missing"):
        get(f"clawhub:{hub.url}/pdf")
    hub.version = {"fingerprint": sha(b"other")}
    with pytest.raises(WrongDigest, match="whole archive"):
        get(f"clawhub:{hub.url}/pdf")
    assert os.listdir(world.home / ".skillc/cache/downloads") == []


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_fingerprint(tmp_path: Path) -> None:
    """[SURFACES: Getting skills] The fingerprint is the one that ClawHub's own program computes."""
    digests = {name: sha(name.encode()) for name in ("SKILL.md", "a/b.md", "A.md", "a-b.md", "_x", "z/é.md")}
    script = """
        const files = JSON.parse(process.argv[1]);
        const lines = Object.entries(files).sort((a, b) => a[0].localeCompare(b[0])).map(f => f.join(":"));
        console.log(require("crypto").createHash("sha256").update(lines.join("\\n")).digest("hex"));
    """
    done = subprocess.run(
        ["node", "-e", script, json.dumps(digests)], capture_output=True, text=True, check=True
    )
    assert fingerprint_of(digests | {".git/x": sha(b"")}) == done.stdout.strip()


def test_moderation(hub: Hub) -> None:
    """[SURFACES: Getting skills] What the registry flags is a warning, and what it blocks is E084."""
    reports: list[Diagnostic] = []
    hub.moderation = {"isSuspicious": True, "isMalwareBlocked": False, "summary": "reads keys"}
    with open_download(parse_origin(f"clawhub:{hub.url}/pdf", "/"), report=reports.append) as found:
        assert len(found.candidates) == 1
    assert [report.line() for report in reports] == [
        "warning[W083]: the registry holds 'pdf' for suspicious: reads keys"
    ]
    hub.moderation = {"isSuspicious": True, "isMalwareBlocked": True}
    with pytest.raises(AuditBlocked, match="malicious"):
        get(f"clawhub:{hub.url}/pdf")


def test_retry_after(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Getting skills] A busy registry is asked again after the time that it names, a few times."""
    waits: list[float] = []
    monkeypatch.setattr("skillc.remotes.http.session.time.sleep", waits.append)
    hub.busy, hub.retry_after = 2, "7"
    assert get(f"clawhub:{hub.url}/pdf")[0] == "1.0.0"
    assert waits == [7.0, 7.0]
    hub.busy = 100
    with pytest.raises(OriginNotFound, match="busy and asks to come again in 7 s"):
        get(f"clawhub:{hub.url}/pdf")
    waits.clear()
    hub.retry_after = "86400"
    with pytest.raises(OriginNotFound, match="in 86400 s"):
        get(f"clawhub:{hub.url}/pdf")
    assert waits == []


@pytest.mark.slow
def test_locked_version(hub: Hub, world: World) -> None:
    """[SURFACES: Lock file] the locked version is installed; a newer one is for update to take."""
    world.ok("add", f"clawhub:{hub.url}/pdf", "--yes", "--target", "claude")
    hub.versions["1.1.0"] = {"SKILL.md": MAIN + b"More.\n"}
    hub.tags["latest"] = "1.1.0"
    shutil.rmtree(world.store / "pdf")
    world.ok("install", "--frozen")
    assert (world.store / "pdf" / "SKILL.md").read_bytes() == MAIN
    (found,) = world.json("outdated")["skills"]
    assert (found["current"], found["latest"], found["changed"]) == ("1.0.0", "1.1.0", True)
    world.ok("update")
    assert (world.store / "pdf" / "SKILL.md").read_bytes() == MAIN + b"More.\n"
    assert world.ok("verify").returncode == 0
    assert world.ok("update").stdout == "1 skill up to date\n"
    del hub.versions["1.1.0"]
    shutil.rmtree(world.store / "pdf")
    world.fails("E081", "install", "--frozen")


def test_another_host(hub: Hub, stub: Stub) -> None:
    """[SURFACES: Getting skills] An API on another host than the registry's is asked if that was named."""
    other = hub.url.replace("127.0.0.1", "localhost")
    hub.discovery = {"apiBase": other}
    host = other.removeprefix("http://")
    with pytest.raises(OriginNotFound, match=f"--allow-host {host}"):
        get(f"clawhub:{hub.url}/pdf")
    assert {request.headers["host"] for request in stub.requests} == {hub.url.removeprefix("http://")}
    origin = parse_origin(f"clawhub:{hub.url}/pdf", "/", frozenset({host}))
    with open_download(origin) as found:
        assert [each.name for each in found.candidates] == ["pdf"]
    assert stub.requests[-1].headers["host"] == host

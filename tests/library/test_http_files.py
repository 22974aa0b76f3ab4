"""All files of a server's skills: fetched, verified, cached, and used as those of a folder are."""

from __future__ import annotations

import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from skillc.errors import RepositoryUnavailable
from skillc.library.sources import HttpSkillSource
from skillc.registry import SYSTEM, Role
from skillc.skills import SkillId
from tests.conftest import World
from tests.support.cases import each
from tests.support.http import Chunks, Request, Stub, entry, page
from tests.support.skills import run
from tests.support.team import Team, serve_registry

TOOL = """---
name: greet
version: 1.0.0
description: Say hello
read_only: true
---
# Greet

### hello

Say hello.

#### Command

```
sh scripts/hello.sh
```

#### Parameters
"""


@pytest.fixture
def reader(world: World, team: Team) -> World:
    """A world with the registry as a repository, logged in as one that may read."""
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": team.token("eve", Role.READER)})
    world.ok("repo", "add", "team", team.url)
    toml = world.project / ".skillc" / "skills.toml"
    toml.write_text(toml.read_text() + "refresh_seconds = 0\n")
    return world


def copies(world: World) -> Path:
    (folder,) = (world.home / ".skillc" / "cache" / "skills").glob("*/payments+refunds")
    return folder


def test_read_as_a_folder(reader: World, team: Team) -> None:
    """[SURFACES: Registry] [D28] show, open, sources and search reach all files of a registry's skill."""
    files: dict[str, str | bytes] = {
        "references/banks.md": "# Banks\n\n## Iban\n\nTwenty-two digits.\n",
        "a.bin": b"\0\1",
    }
    team.publish("payments/refunds", files)
    assert "Text." in reader.ok("show", "payments/refunds", "--section", "Usage").stdout
    shown = reader.ok("show", "payments/refunds", "--section", "Iban", "--file", "references/banks.md").stdout
    assert "Twenty-two digits." in shown
    assert reader.ok("open", "payments/refunds", "references/banks.md").stdout == files["references/banks.md"]
    assert "a.bin" in reader.ok("sources", "payments/refunds").stdout
    found = reader.json("search", "payments/refunds", "digits")
    assert found["results"]
    asked = [each for each in team.requests if "/files/" in each.path]
    assert sorted(each.path for each in asked) == [
        f"/skills/payments%2Frefunds/files/{name}?version=0.1.0"
        for name in ("SKILL.md", "a.bin", "references/banks.md")
    ]
    assert all("authorization" in each.headers for each in asked)


def test_only_what_changed_is_fetched(reader: World, team: Team) -> None:
    """[SURFACES: Registry] of a new version, the files that changed are fetched; gone ones are gone."""
    team.publish("payments/refunds", {"a.md": "one", "b.md": "two", "run.sh": "#!/bin/sh\n"})
    reader.ok("sources", "payments/refunds")
    team.publish("payments/refunds", {"a.md": "one", "c.md": "two", "b.md": "three", "run.sh": "#!/bin/sh\n"})
    team.requests.clear()
    reader.ok("sources", "payments/refunds")
    fetched = [each.path for each in team.requests if "/files/" in each.path]
    assert fetched == ["/skills/payments%2Frefunds/files/b.md?version=0.1.1"]
    names = {path.name: path.read_text() for path in copies(reader).iterdir() if path.name[0] != "."}
    assert {name: names[name] for name in ("a.md", "b.md", "c.md")} == {
        "a.md": "one",
        "b.md": "three",
        "c.md": "two",
    }
    assert stat.S_IMODE((copies(reader) / "run.sh").stat().st_mode) & 0o111
    team.requests.clear()
    reader.ok("open", "payments/refunds", "b.md")
    assert not any("/files/" in each.path for each in team.requests)


def test_while_the_registry_is_away(reader: World, team: Team, tmp_path: Path) -> None:
    """[SURFACES: Registry] [D28] what was read once is read from the cache, with W201, while it is away."""
    team.publish("payments/refunds", {"a.md": "one"})
    reader.ok("open", "payments/refunds", "a.md")
    toml = reader.project / ".skillc" / "skills.toml"
    old = toml.read_text()
    with serve_registry(team.registry) as (url, _):
        toml.write_text(old.replace(team.url, url))
        env = {"SKILLC_REGISTRY": url, "SKILLC_TOKEN": team.secret}
        assert reader.ok("open", "payments/refunds", "a.md", env=env).stdout == "one"
    result = reader.ok("open", "payments/refunds", "a.md", env=env)
    assert result.stdout == "one"
    assert "W201" in result.stderr


def test_run_a_tool_of_it(reader: World, team: Team) -> None:
    """[SURFACES: Registry] its tools are untrusted: nothing runs unasked; what is shown is what would run."""
    team.publish("greet", {"SKILL.md": TOOL, "scripts/hello.sh": "#!/bin/sh\necho hello\n"})
    assert "greet.hello" in reader.ok("tools", "greet").stdout
    assert "E063" in reader.skc("run", "greet", "hello").stderr
    plan = json.loads(reader.ok("run", "greet", "hello", "--dry-run").stdout)
    assert plan["argv"][0].endswith("sh")
    trust = reader.json("trust", "show", "greet")
    assert trust["level"] == "untrusted"


def test_a_token_that_ends(reader: World, team: Team) -> None:
    """[SURFACES: Registry] without a valid token the repository is unavailable, and says why."""
    team.publish("payments/refunds")
    for token in team.registry.accounts.tokens(SYSTEM):
        team.registry.accounts.revoke_token(SYSTEM, token.id)
    states = reader.json("repo", "list")["repositories"]
    assert (states[0]["status"], "401" in states[0]["error"]) == ("unavailable", True)


# A server that lists what it likes


def digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


MAIN = b"---\nname: pdf\ndescription: x\n---\n# Pdf\n"


def item(path: str, data: bytes = b"x", **fields: Any) -> dict[str, Any]:
    return {"path": path, "size": len(data), "digest": digest(data)} | fields


def serve(stub: Stub, files: Any, contents: dict[str, bytes] | None = None) -> HttpSkillSource:
    def answer(request: Request) -> Chunks:
        path = request.path.partition("?")[0]
        if path == "/skills/pdf/files":
            return [page(files if isinstance(files, bytes) else {"files": files})]
        name = path.removeprefix("/skills/pdf/files/")
        if name in (contents or {}):
            return [page((contents or {})[name])]
        return [page(entry("pdf", body="# Pdf\n")) if path == "/skills/pdf" else page({}, 404)]

    stub.answer = answer
    return HttpSkillSource(stub.url, time_out=5.0)


def fetch(source: HttpSkillSource) -> str | None:
    return run(source.directory(SkillId("pdf")))


@each(
    "files",
    [
        b"[]",
        b'{"files": {}}',
        b'{"files": [3]}',
        [item("a.md")],
        [item("SKILL.md", MAIN), item("../a.md")],
        [item("SKILL.md", MAIN), item("/etc/a.md")],
        [item("SKILL.md", MAIN), item("a\\b.md")],
        [item("SKILL.md", MAIN), item("a//b.md")],
        [item("SKILL.md", MAIN), item(".skillc-meta/search.db")],
        [item("SKILL.md", MAIN), item("x/.origin")],
        [item("SKILL.md", MAIN), item("C:a")],
        [item("SKILL.md", MAIN), item("nul")],
        [item("SKILL.md", MAIN), item("skill.MD")],
        [item("SKILL.md", MAIN), item("a"), item("a/b")],
        [item("SKILL.md", MAIN), item("a"), item("a")],
        [item("SKILL.md", MAIN), item("a", size=-1)],
        [item("SKILL.md", MAIN), item("a", size=True)],
        [item("SKILL.md", MAIN), item("a", size=1 << 40)],
        [item("SKILL.md", MAIN), item("a", digest="md5:0")],
        [item("SKILL.md", MAIN), item("\ud800")],
        [item("SKILL.md", MAIN), *(item(f"{n}") for n in range(10_001))],
        [item("SKILL.md", MAIN), *(item(f"{n}", size=60 << 20) for n in range(2))],
    ],
)
def test_lists_that_are_refused(world: World, stub: Stub, files: Any) -> None:
    """[SURFACES: Registry] names that lead elsewhere, sizes and digests that are none: nothing is written."""
    source = serve(stub, files, {"SKILL.md": MAIN, "a": b"x"})
    with pytest.raises(RepositoryUnavailable):
        fetch(source)
    assert not (world.home / ".skillc" / "cache" / "http").exists()


@pytest.mark.parametrize("data", [b"y", b"", b"xx", b"x" * 100_000])
def test_other_bytes_than_were_listed(world: World, stub: Stub, data: bytes) -> None:
    """[SURFACES: Registry] bytes of another digest or size are refused; the skill is not there in part."""
    source = serve(stub, [item("SKILL.md", MAIN), item("a.md")], {"SKILL.md": MAIN, "a.md": data})
    with pytest.raises(RepositoryUnavailable):
        fetch(source)
    assert not list((world.home / ".skillc" / "cache" / "http").glob("*/pdf/*/pdf"))


def test_a_download_that_breaks_off_goes_on(world: World, stub: Stub) -> None:
    """[SURFACES: Registry] files that arrived are not fetched again at the next attempt."""
    listing = [item("SKILL.md", MAIN), *(item(f"f{n}", b"%d" % n) for n in range(8))]
    contents = {"SKILL.md": MAIN, **{f"f{n}": b"%d" % n for n in range(6)}}
    with pytest.raises(RepositoryUnavailable, match="f6"):
        fetch(serve(stub, listing, contents))
    stub.requests.clear()
    folder = fetch(serve(stub, listing, contents | {"f6": b"6", "f7": b"7"}))
    assert folder is not None
    assert {path.name for path in Path(folder).iterdir()} == {each["path"] for each in listing}
    assert sorted(path.rpartition("/")[2] for path in stub.paths()) == ["f6", "f7", "files"]
    assert not (Path(folder).parent.parent / ".parts").exists()


def test_what_changed_on_the_disk_is_fetched_again(world: World, stub: Stub) -> None:
    """[SURFACES: Registry] a folder is verified whenever it is used."""
    contents = {"SKILL.md": MAIN, "a.sh": b"echo"}
    source = serve(stub, [item("SKILL.md", MAIN), item("a.sh", b"echo", executable=True)], contents)
    folder = fetch(source)
    assert folder is not None
    file = Path(folder, "a.sh")
    assert os.access(file, os.X_OK)
    for change in (lambda: file.write_bytes(b"evil"), file.unlink, lambda: file.chmod(0o644)):
        change()
        assert fetch(source) == folder
        assert (file.read_bytes(), os.access(file, os.X_OK)) == (b"echo", True)
    Path(folder, "more.sh").write_text("x")
    assert fetch(source) == folder
    assert sorted(os.listdir(folder)) == ["SKILL.md", "a.sh"]


@each("status", [400, 404, 405, 501])
def test_a_server_without_files(world: World, stub: Stub, status: int) -> None:
    """[D28] a server that knows texts alone still gives those."""
    stub.answer = lambda request: [page({}, status)]
    assert run(HttpSkillSource(stub.url).directory(SkillId("pdf"))) is None

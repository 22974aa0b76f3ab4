"""Marketplaces of a registry, read by git itself, by `skc add`, and byte for byte."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

from skillc.registry import SYSTEM, Role
from skillc.server import ServerSettings, create_registry_app
from skillc.server.protocols import marketplaces
from tests.conftest import World
from tests.support.client import AppClient
from tests.support.team_process import Team, client, running_team

CLAUDE, CODEX = "/.claude-plugin/marketplace.json", "/.agents/plugins/marketplace.json"


def git(folder: Path, *words: str, ok: bool = True) -> str:
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **quiet},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode == 0) is ok, done.stdout + done.stderr
    return done.stdout + done.stderr


def files_below(folder: Path) -> list[str]:
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found if path.parts[0] != ".git")


MANIFESTS = [".claude-plugin/plugin.json", ".codex-plugin/plugin.json", "plugin.json"]


@pytest.mark.slow
def test_git_clones_plugins(tmp_path: Path, world: World) -> None:
    """[SURFACES: Registry protocols] git clones a plugin, deep or shallow, of any version, or all of them."""
    with running_team(tmp_path / "team", public=True) as team:
        team.publish("payments/refunds", "1.0.0", scripts___größe__bin=os.urandom(200_000))
        team.publish("payments/refunds", "2.0.0", text="Newer.", references___rules__md=b"Rules.")
        base = f"{team.url}/plugins/payments/refunds"
        git(world.root, "clone", "--depth", "1", f"{base}.git", "shallow")
        git(world.root, "clone", f"{base}@1.0.0.git", "old")
        git(world.root / "old", "fsck", "--strict")
        skill = ["skills/refunds/SKILL.md", "skills/refunds/references/rules.md"]
        assert files_below(world.root / "shallow") == [*MANIFESTS, *skill]
        assert "skills/refunds/scripts/größe.bin" in files_below(world.root / "old")
        manifest = json.loads((world.root / "shallow" / MANIFESTS[0]).read_text())
        assert manifest == {"name": "refunds", "description": "What refunds is for", "version": "2.0.0"}
        git(world.root / "shallow", "fetch")
        team.publish("payments/refunds", "3.0.0", text="Newest.")
        git(world.root / "shallow", "fetch", "--depth", "1")
        git(world.root / "shallow", "reset", "--hard", "origin/main")
        assert "Newest." in (world.root / "shallow" / skill[0]).read_text()
        assert "not found" in git(world.root, "clone", f"{base}@9.0.0.git", ok=False)
        assert "403" in git(world.root / "old", "push", "origin", "HEAD:refs/heads/other", ok=False)
        git(world.root, "clone", f"{team.url}/payments/marketplace.git", "marketplace")
        assert os.listdir(world.root / "marketplace" / "plugins") == ["refunds"]


def test_files_for_agents(team: Team) -> None:
    """[SURFACES: Registry protocols] both files name each plugin with the address of its repository."""
    team.publish("payments/refunds", "1.0.0")
    team.publish("sales/refunds", "1.0.0")
    reader = client(team, url="https://skills.example.com")
    claude = reader.get(CLAUDE).json()
    assert (claude["name"], claude["owner"]) == ("skillc-skills-example-com", {"name": claude["name"]})
    assert {plugin["name"]: plugin["source"] for plugin in claude["plugins"]} == {
        "refunds": {"source": "url", "url": "https://skills.example.com/plugins/payments/refunds.git"},
        "sales-refunds": {"source": "url", "url": "https://skills.example.com/plugins/sales/refunds.git"},
    }
    codex = reader.get(f"/sales{CODEX}").json()
    assert codex["name"] == "skillc-skills-example-com-sales"
    (plugin,) = codex["plugins"]
    assert (plugin["name"], plugin["version"]) == ("refunds", "1.0.0")
    assert plugin["policy"] == {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}


def test_only_what_is_to_be_read(team: Team) -> None:
    """[SURFACES: Registry protocols] they have what a caller may read; git is asked for a password."""
    team.publish("payments/refunds", "1.0.0")
    team.publish("payments/refunds", "2.0.0", text="Wrong.")
    team.publish("sales/leads", "1.0.0")
    small = client(team, team.token(Role.READER, "sales").secret)
    for path in (CLAUDE, CODEX):
        assert [plugin["name"] for plugin in small.get(path).json()["plugins"]] == ["leads"]
    refs = "/info/refs?service=git-upload-pack"
    assert small.get(f"/plugins/payments/refunds.git{refs}").status_code == 403
    assert small.get(f"/plugins/sales/leads.git{refs}").status_code == 200
    assert small.get(f"/plugins/sales/nothing.git{refs}").status_code == 404
    nobody = AppClient(create_registry_app(team.registry))
    for path in (f"/plugins/sales/leads.git{refs}", f"/marketplace.git{refs}"):
        response = nobody.get(path)
        assert (response.status_code, response.headers["WWW-Authenticate"][:5]) == (401, "Basic")
    admin = client(team)
    team.registry.yank(SYSTEM, "payments/refunds", "2.0.0", "wrong")
    assert {plugin["version"] for plugin in admin.get(CLAUDE).json()["plugins"]} == {"1.0.0"}
    whole, part = admin.get(f"/marketplace.git{refs}").text, small.get(f"/marketplace.git{refs}").text
    assert whole != part  # of one cache
    team.registry.delete(SYSTEM, "payments/refunds")
    assert admin.get(f"/plugins/payments/refunds@1.0.0.git{refs}").status_code == 404
    assert admin.get(f"/marketplace.git{refs}").text == part


def test_names_do_not_move(team: Team) -> None:
    """[SURFACES: Registry protocols] a plugin's name stays with its ID when that is yanked or deleted."""
    team.publish("payments/refunds", "1.0.0")
    team.publish("sales/refunds", "1.0.0")
    team.registry.yank(SYSTEM, "payments/refunds", "1.0.0", "wrong sums")
    for path in (CLAUDE, CODEX):
        assert [plugin["name"] for plugin in client(team).get(path).json()["plugins"]] == ["sales-refunds"]
    team.registry.delete(SYSTEM, "payments/refunds")
    assert [plugin["name"] for plugin in client(team).get(CLAUDE).json()["plugins"]] == ["sales-refunds"]


def test_nothing_of_a_skill_is_a_plugin_part(team: Team) -> None:
    """[SURFACES: Registry protocols] hooks, commands and manifests of a skill stay in its folder."""
    team.publish("evil", "1.0.0", hooks___hooks__json=b"{}", plugin__json=b"{}", commands___x__md=b"x")
    version = team.registry.skill(SYSTEM, "evil").resolve()
    app = marketplaces.Service(team.registry, ServerSettings())
    files = marketplaces._read_plugin(app, SYSTEM, marketplaces.Entry(version, "evil"))
    outside = sorted(path for path in files if not path.startswith("skills/evil/"))
    assert outside == MANIFESTS
    assert json.loads(files["plugin.json"][0])["name"] == "evil"


def line(text: str) -> bytes:
    return f"{len(text) + 4:04x}{text}".encode()


def test_the_protocol(team: Team) -> None:
    """[SURFACES: Registry protocols] what is wanted, had and done, with and without bands, packed or not."""
    team.publish("pdf", "1.0.0")
    reader = client(team)
    refs = reader.get("/plugins/pdf.git/info/refs?service=git-upload-pack")
    assert refs.headers["Content-Type"] == "application/x-git-upload-pack-advertisement"
    commit = refs.text.partition("0000")[2][4:44]
    want = line(f"want {commit} ofs-delta\n") + b"0000"

    def post(data: bytes, **headers: str) -> bytes:
        response = reader.post("/plugins/pdf.git/git-upload-pack", content=data, headers=headers)
        assert response.status_code == 200, response.text
        return response.content

    assert post(want) == b""
    assert post(want + line(f"have {'0' * 40}\n") + b"0000") == b"0008NAK\n"
    assert post(want + line("done\n")).startswith(b"0008NAK\nPACK")
    assert post(want + line(f"have {commit}\n") + line("done\n")).startswith(
        line(f"ACK {commit}\n") + b"PACK"
    )
    assert post(gzip.compress(want + line("done\n")), **{"Content-Encoding": "gzip"})[8:12] == b"PACK"
    banded = post(line(f"want {commit} side-band-64k\n") + line("deepen 1\n") + b"0000" + line("done\n"))
    assert banded.startswith(b"00000008NAK\n")
    assert banded[16:21] == b"\1PACK"
    assert banded.endswith(b"0000")
    assert post(line(f"want {'1' * 40}\n") + b"0000" + line("done\n")).startswith(b"004aERR upload-pack: not")
    assert b"ERR upload-pack" in post(b"")


def test_hostile_requests(team: Team) -> None:
    """[SURFACES: Registry protocols] what is not git's is 400, and what unpacks to too much 413."""
    team.publish("pdf", "1.0.0")
    reader = client(team)
    place = "/plugins/pdf.git/git-upload-pack"
    packed = {"Content-Encoding": "gzip"}
    for data in (b"zzzz", b"00ff", b"0010want", b"\xff\xff\xff\xff", b"want"):
        assert reader.post(place, content=data).status_code == 400
        assert reader.post(place, content=data, headers=packed).status_code == 400
    bomb = gzip.compress(b"0000" * (1 << 20))
    assert reader.post(place, content=bomb, headers=packed).status_code == 413
    assert reader.post(place, content=b"0" * (2 << 20)).status_code == 413
    assert reader.get("/plugins/pdf.git/info/refs").status_code == 403
    assert reader.get("/plugins/pdf.git/info/refs?service=git-receive-pack").status_code == 403
    for path in ("/plugins/..%2F.git", "/plugins/A.git", "/plugins/pdf@.git", "/plugins/pdf@latest@.git"):
        assert reader.get(f"{path}/info/refs?service=git-upload-pack").status_code in (200, 400, 404)


def test_bounds(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry protocols] a repository of too many skills is refused, and says what to do."""
    for number in range(3):
        team.publish(f"many/skill-{number}", "1.0.0", large__bin=os.urandom(20_000))
    reader = client(team)
    path = "/marketplace.git/info/refs?service=git-upload-pack"
    for name, value in (("MAX_PLUGINS", 2), ("MAX_BYTES", 30_000)):
        with monkeypatch.context() as patch:
            patch.setattr(marketplaces, name, value)
            response = reader.get(path)
            assert (response.status_code, "add a prefix" in response.text) == (403, True)
    monkeypatch.setattr(marketplaces, "MAX_CACHE", 50_000)
    for number in (0, 1, 2, 0):
        place = f"/plugins/many/skill-{number}.git/info/refs?service=git-upload-pack"
        assert reader.get(place).status_code == 200

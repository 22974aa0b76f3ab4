"""`skc publisher` at a real registry, and a job of CI that publishes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from skillc.registry import Role
from tests.conftest import World
from tests.support.issuer import Issuer, issuer
from tests.support.registry import serving
from tests.support.team import Team

__all__ = ["issuer"]


@pytest.fixture
def admin(world: World, team: Team) -> World:
    """A world that is logged in as the admin."""
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": team.secret})
    return world


def as_json(world: World, *words: str, **options: Any) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(world.ok(*words, "--format", "json", **options).stdout)
    return value


def test_publishers(admin: World, team: Team) -> None:
    """[SURFACES: Sign-in] trusted publishers are added, listed and removed; GitHub is the default."""
    assert admin.ok("publisher", "list").stdout == "No trusted publishers.\n"
    words = ("acme/skills", "release.yml", "--prefix", "payments", "--ref", "refs/tags/v*")
    made = as_json(admin, "publisher", "add", *words)
    assert made == {
        "id": made["id"],
        "repository": "acme/skills",
        "workflow": "release.yml",
        "prefix": "payments",
        "ref": "refs/tags/v*",
        "environment": "",
        "issuer": "https://token.actions.githubusercontent.com",
        "registry": team.url,
    }
    run = admin.ok(
        *("publisher", "add", "acme/tools/skills", ".gitlab-ci.yml", "--prefix", "tools"),
        *("--issuer", "https://gitlab.com", "--environment", "release"),
    )
    assert ".gitlab-ci.yml of acme/tools/skills may publish below tools now" in run.stdout
    first, second = as_json(admin, "publisher", "list")["publishers"]
    assert (first["id"], second["issuer"]) == (made["id"], "https://gitlab.com")
    rows = [line.split() for line in admin.ok("publisher", "list").stdout.splitlines()]
    assert (rows[0][0], rows[1][:3]) == ("ID", [made["id"], "acme/skills", "release.yml"])
    assert "its tokens ended" in admin.ok("publisher", "remove", made["id"]).stdout
    assert len(as_json(admin, "publisher", "list")["publishers"]) == 1
    admin.fails("E062", "publisher", "remove", made["id"])


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("E100", ("trust", "acme/skills")),
        ("E100", ("add", "acme/skills", "release.yml")),
        ("E100", ("add", "acme/skills", "--prefix", "payments")),
        ("E100", ("list", "acme/skills")),
        ("E100", ("list", "--prefix", "payments")),
        ("E100", ("remove",)),
        ("E100", ("add", "a/b", "c.yml", "--prefix", "p", "--issuer", "https://login.example.com")),
        ("E062", ("add", "skills", "release.yml", "--prefix", "payments")),
        ("E062", ("add", "acme/skills", "release.yml", "--prefix", "payments", "--ref", "main")),
        ("E070", ("add", "acme/skills", "release.yml", "--prefix", "Not a path")),
    ],
)
def test_mistakes(admin: World, code: str, words: tuple[str, ...]) -> None:
    """[SURFACES: Sign-in] a mistake is one coded line."""
    admin.fails(code, "publisher", *words)


def test_admins(world: World, team: Team) -> None:
    """[SURFACES: Sign-in] only admins of the path trust workflows."""
    token = team.token("ada", Role.ADMIN, "payments")
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": token})
    world.ok("publisher", "add", "acme/skills", "release.yml", "--prefix", "payments/eu")
    world.fails("E090", "publisher", "add", "acme/skills", "release.yml", "--prefix", "other")
    world.fails("E090", "publisher", "add", "acme/skills", "release.yml", "--prefix", "")


@pytest.mark.slow
def test_from_ci(world: World, tmp_path: Path, issuer: Issuer) -> None:
    """[SURFACES: Sign-in] a job exchanges its ID token and publishes with what it gets, below its prefix."""
    home = tmp_path / "server"
    home.mkdir()
    (home / "registry.toml").write_text(f'[publishing]\ngithub = ["{issuer.url}"]\naudience = "skills"\n')
    with serving(home, "--config", "registry.toml") as server:
        world.ok("login", server.url, "--token-env", "TEAM", env={"TEAM": server.token})
        words = ("acme/skills", "release.yml", "--prefix", "payments", "--issuer", issuer.url)
        world.ok("publisher", "add", *words)
        world.ok("logout", server.url)
        with httpx2.Client(base_url=server.url, trust_env=False) as client:
            audience = client.get("/_/oidc/audience").json()["audience"]
            id_token = issuer.sign(issuer.claims(aud=audience))
            token = client.post("/_/oidc/mint-token", json={"token": id_token}).json()["token"]
        world.skill("refunds")
        variables = {"SKILLC_REGISTRY": server.url, "SKILLC_TOKEN": token}
        world.ok("publish", "refunds", "--id", "payments/refunds", env=variables)
        world.fails("E090", "publish", "refunds", "--id", "other/refunds", env=variables)
        with server.client() as client:
            (version,) = client.get("/skills/payments%2Frefunds/versions").json()["versions"]
        assert version["published_by"].endswith("/acme/skills")
    assert id_token not in server.log.read_text()


def test_workflows_to_copy() -> None:
    """[SURFACES: Sign-in] the workflows in the documentation are YAML, and ask for what they need."""
    page = Path(__file__).parents[2].joinpath("docs/registry.md").read_text()
    github, gitlab = map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", page, re.DOTALL))
    assert github["permissions"]["id-token"] == "write"
    assert gitlab["publish"]["id_tokens"]["SKILLC_ID_TOKEN"]["aud"].startswith("https://")
    for steps in (github["jobs"]["publish"]["steps"][-1]["run"], gitlab["publish"]["script"][-1]):
        assert "/_/oidc/mint-token" in steps
        assert "skc publish" in steps

"""Each protocol of a running registry with each of our commands: `skc add`, `skc repo add` and `skc find`.

At the gate every second place is added after a login, and every second one is a repository.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from skillc.registry import Role
from tests.conftest import World
from tests.support.examples import sample
from tests.support.team_process import Team, running_team

INDEX, OLD = "/.well-known/agent-skills/index.json", "/.well-known/skills/index.json"
CLAUDE, CODEX = "/.claude-plugin/marketplace.json", "/.agents/plugins/marketplace.json"
PLACES = ["", "/payments", "/skills/payments/refunds", "/s/payments/refunds"]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """A private registry; a token for `payments` sees two of its skills."""
    with running_team(tmp_path_factory.mktemp("team"), has_mcp=True) as team:
        team.publish("payments/refunds", "1.0.0", references___rules__md=b"Rules.")
        team.publish("payments/cards/disputes", "1.0.0")
        team.publish("sales/leads", "1.0.0")
        team.publish("tools/mcp", "1.0.0")
        yield team


@pytest.fixture(scope="module")
def secret(team: Team) -> str:
    return team.token(Role.READER, "payments").secret


def check_added(world: World, name: str = "refunds") -> None:
    assert (world.store / name / "references" / "rules.md").read_bytes() == b"Rules."
    lock = (world.project / "skills-lock.json").read_text()
    assert "skc_" not in lock
    world.ok("verify")


ADD = [
    *(f"{place}{INDEX}" for place in PLACES),
    *(f"{place}{OLD}" for place in PLACES[:3]),
    *(f"{place}{file}" for place in PLACES[:2] for file in (CLAUDE, CODEX)),
    "/marketplace.git",
    "/payments/marketplace.git",
    "/plugins/payments/refunds.git",
    "/plugins/payments/refunds@1.0.0.git",
]


@pytest.mark.parametrize("path", ADD)
def test_add_with_a_password(team: Team, secret: str, world: World, path: str) -> None:
    """[SURFACES: Registry protocols] [SURFACES: Getting skills] add, by the token as a password."""
    world.fails("E080", "add", f"{team.url}{path}", "--skill", "refunds", "--yes")
    world.ok("add", team.with_token(secret, path), "--skill", "refunds", "--yes")
    check_added(world)


AFTER_LOGIN = [*ADD[:11], "", "/payments", "/payments/refunds", "/s/payments/refunds"]


@pytest.mark.parametrize("path", [*sample(AFTER_LOGIN, 2)])
def test_add_after_login(team: Team, secret: str, world: World, path: str) -> None:
    """[SURFACES: Registry protocols] [SURFACES: Getting skills] add, by what `skc login` stored."""
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": secret})
    world.ok("add", f"{team.url}{path}", "--skill", "refunds", "--yes")
    check_added(world)


def test_add_a_skill_named_mcp(team: Team, world: World) -> None:
    """[SURFACES: Registry protocols] an address that ends in /mcp can be that of a skill."""
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": team.admin})
    world.ok("add", f"{team.url}/tools/mcp", "--yes")
    assert f"skillc:{team.url}/tools/mcp" in (world.project / "skills-lock.json").read_text()


def test_add_by_clawhub(team: Team, secret: str, world: World) -> None:
    """[SURFACES: Registry protocols] [SURFACES: Getting skills] add, by ClawHub's protocol."""
    world.ok("login", team.url, "--token-env", "TEAM", env={"TEAM": secret})
    world.ok("add", f"clawhub:{team.url}/payments.refunds", "--yes")
    check_added(world, "payments-refunds")
    world.fails("E080", "add", f"clawhub:{team.url}/sales.leads", "--yes")


REPOSITORIES = [
    *((f"{place}", "well-known") for place in PLACES[:2]),
    *((f"{place}{INDEX}", "") for place in PLACES),
    *((f"{place}{OLD}", "") for place in PLACES[:2]),
    *((f"{place}{file}", "") for place in PLACES[:2] for file in (CLAUDE, CODEX)),
    ("/plugins/payments/refunds.git", ""),
    ("/payments/marketplace.git", ""),
    ("/.well-known/clawhub.json", ""),
    ("", "clawhub"),
    ("", ""),
    ("/mcp", ""),
]


@pytest.mark.parametrize(("path", "kind"), [*sample(REPOSITORIES, 2, start=1)])
def test_repository_and_find(team: Team, secret: str, world: World, path: str, kind: str) -> None:
    """[SURFACES: Registry protocols] [SURFACES: Library] repo add with a token; find, load and open."""
    env = {"TEAM_TOKEN": secret}
    words = ("--auth-token-env", "TEAM_TOKEN", "--global", *(("--type", kind) if kind else ()))
    world.ok("repo", "add", "team", f"{team.url}{path}", *words, env=env)
    states = world.json("repo", "list", env=env)["repositories"]
    (state,) = [each for each in states if each["name"] == "team"]
    count = 1 if "refunds" in path else 2
    assert (state["status"], state["skills"]) == ("ok", count), state
    results = world.json("find", "refunds", env=env)["results"]
    assert results[0]["name"] == "refunds"
    assert "Text." in world.ok("load", results[0]["id"], env=env).stdout
    assert "Rules." in world.ok("open", results[0]["id"], "references/rules.md", env=env).stdout
    results = world.json("find", "leads", env=env)["results"]
    assert "leads" not in [each["name"] for each in results]

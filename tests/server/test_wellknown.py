"""Well-known discovery of a registry: read by our own `skc add`, and by npm's `skills`."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from skillc.registry import SYSTEM, ReviewRules, Role, make_package
from skillc.registry.model import Caller, Permission
from skillc.server import ServerSettings, create_registry_app
from skillc.server.protocols import wellknown
from tests.conftest import World
from tests.support.client import AppClient
from tests.support.npm import Installer
from tests.support.team_process import Team, client, running_team

INDEX = "/.well-known/agent-skills/index.json"
MAIN = b"---\nname: refunds\ndescription: Pay money back\n---\n"


@pytest.fixture
def public(tmp_path: Path) -> Iterator[Team]:
    with running_team(tmp_path / "team", public=True) as team:
        yield team


def names(team: Team, path: str = INDEX, token: str = "") -> dict[str, str]:
    """The skills of an index: the addresses by name."""
    client = AppClient(create_registry_app(team.registry))
    response = client.get(path, headers={"Authorization": f"Bearer {token or team.admin}"})
    assert response.status_code == 200, response.text
    return {entry["name"]: entry["url"] for entry in response.json()["skills"]}


def test_index_and_archives(team: Team) -> None:
    """[SURFACES: Registry protocols] each entry has an archive with the digest that the index says."""
    team.publish("payments/refunds", "1.0.0", references___rules__md=b"Rules.")
    client = AppClient(create_registry_app(team.registry, ServerSettings(public_read=True)))
    response = client.get(INDEX)
    index = response.json()
    assert index["$schema"] == "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
    (entry,) = index["skills"]
    assert (entry["name"], entry["type"]) == ("refunds", "archive")
    assert entry["description"] == "What refunds is for"
    archive = client.get(f"/.well-known/agent-skills/{entry['url']}")
    assert f"sha256:{hashlib.sha256(archive.content).hexdigest()}" == entry["digest"]
    assert archive.headers["Content-Type"] == "application/gzip"
    assert "immutable" in archive.headers["Cache-Control"]
    with tarfile.open(fileobj=io.BytesIO(archive.content)) as files:
        assert files.getnames() == ["SKILL.md", "references/rules.md"]
    again = client.get(INDEX, headers={"If-None-Match": response.headers["ETag"]})
    assert again.status_code == 304


def test_prefixes_and_skills(team: Team) -> None:
    """[SURFACES: Registry protocols] an index for each prefix and each skill, also where its page is."""
    for skill_id in ("payments/refunds", "payments/cards/disputes", "payments-old", "skills/pdf"):
        team.publish(skill_id, "1.0.0")
    everything = {"refunds", "disputes", "payments-old", "pdf"}
    assert names(team).keys() == everything
    assert names(team, f"/payments{INDEX}").keys() == {"refunds", "disputes"}
    assert names(team, f"/payments/refunds{INDEX}").keys() == {"refunds"}
    assert names(team, f"/skills/payments/refunds{INDEX}").keys() == {"refunds"}
    assert names(team, f"/s/payments/refunds{INDEX}").keys() == {"refunds"}
    assert names(team, f"/skills/skills{INDEX}").keys() == {"pdf"}
    assert names(team, f"/skills{INDEX}").keys() == everything
    assert names(team, f"/nothing{INDEX}") == {}


def test_older_form(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry protocols] the older form lists the files of each skill, which are data."""
    team.publish("payments/refunds", "1.0.0", references___rules__md=b"<script>Rules.")
    team.publish("sales/refunds", "1.0.0")
    small = client(team, team.token(Role.READER, "payments").secret)
    for above, reader in (("", small), ("/payments", client(team)), ("/s/payments/refunds", client(team))):
        place = f"{above}/.well-known/skills"
        (entry,) = reader.get(f"{place}/index.json").json()["skills"]
        assert entry["files"] == ["SKILL.md", "references/rules.md"]
        assert (entry["name"], entry["description"]) == ("refunds", "What refunds is for")
        response = reader.get(f"{place}/refunds/references/rules.md")
        assert response.content == b"<script>Rules."
        assert response.headers["Content-Disposition"] == "attachment"
        for path in ("refunds/none.md", "sales-refunds/SKILL.md", "refunds/%2e%2e/x", "refunds//etc/x"):
            assert reader.get(f"{place}/{path}").status_code == 404
    every = client(team).get("/.well-known/skills/index.json").json()["skills"]
    assert {entry["name"] for entry in every} == {"refunds", "sales-refunds"}
    monkeypatch.setattr(wellknown, "MAX_OLD", 1)
    assert client(team).get("/.well-known/skills/index.json").status_code == 403


def test_names_stay(team: Team) -> None:
    """[SURFACES: Registry protocols] no new skill takes the name that an older one has in an index."""
    team.publish("payments/refunds", "1.0.0")
    assert names(team).keys() == {"refunds"}
    team.publish("a/refunds", "1.0.0")
    team.publish("refunds", "9.0.0")
    expected = {
        "refunds": "archives/payments/refunds/1.0.0.tar.gz",
        "a-refunds": "archives/a/refunds/1.0.0.tar.gz",
    }
    assert names(team) == expected
    team.publish("a-refunds", "1.0.0")  # both names of it are taken
    team.publish(f"{'x' * 60}/refunds", "1.0.0")  # too long for a name
    assert names(team) == expected
    assert names(team, f"/a-refunds{INDEX}") == {"a-refunds": "archives/a-refunds/1.0.0.tar.gz"}
    team.publish("odd/a--b", "1.0.0")
    assert "a-b" in names(team)


def test_names_do_not_move(team: Team) -> None:
    """[SURFACES: Registry protocols] a name stays with its ID when that is yanked, deleted and gone."""
    team.publish("payments/refunds", "1.0.0")
    team.publish("a/refunds", "1.0.0")
    other = {"a-refunds": "archives/a/refunds/1.0.0.tar.gz"}
    team.registry.yank(SYSTEM, "payments/refunds", "1.0.0", "wrong sums")
    assert names(team) == other
    team.registry.delete(SYSTEM, "payments/refunds")
    team.publish("b/refunds", "1.0.0")
    other["b-refunds"] = "archives/b/refunds/1.0.0.tar.gz"
    assert names(team) == other
    later = datetime.now(UTC) + timedelta(days=31)
    team.registry._clock = lambda: later
    team.registry.collect(SYSTEM)
    team.publish("refunds", "1.0.0")  # the name that the first one had is all that it could have
    assert names(team) == other
    team.publish("payments/refunds", "2.0.0")
    assert names(team) == {"refunds": "archives/payments/refunds/2.0.0.tar.gz", **other}


def test_names_of_what_waits(team: Team) -> None:
    """[SURFACES: Registry protocols] a version that waits for a review takes no name until it is approved."""
    team.registry._rules = ReviewRules(("payments",))
    publisher = Caller("ana", (Permission(Role.PUBLISHER),))
    team.registry.publish(publisher, make_package("payments/refunds", {"SKILL.md": MAIN}), version="1.0.0")
    team.publish("a/refunds", "1.0.0")
    team.registry.review(SYSTEM, "payments/refunds", "1.0.0", approve=True)
    assert names(team).keys() == {"payments-refunds", "refunds"}
    assert names(team)["refunds"] == "archives/a/refunds/1.0.0.tar.gz"


def test_names_tell_nothing_of_others(team: Team) -> None:
    """[SURFACES: Registry protocols] readers of one prefix get the names of its list, in any list."""
    team.publish("payments/refunds", "1.0.0")
    team.publish("sales/refunds", "1.0.0")
    small = team.token(Role.READER, "sales").secret
    expected = {"refunds": "archives/sales/refunds/1.0.0.tar.gz"}
    assert names(team, token=small) == names(team, f"/sales{INDEX}") == expected
    assert names(team).keys() == {"refunds", "sales-refunds"}


def test_only_what_is_to_be_read(team: Team) -> None:
    """[SURFACES: Registry protocols] the index has what its caller may read; yanked and deleted are gone."""
    team.publish("payments/refunds", "1.0.0")
    team.publish("payments/refunds", "2.0.0", text="New.")
    team.publish("sales/leads", "1.0.0")
    small = team.token(Role.READER, "sales").secret
    assert names(team, token=small).keys() == {"leads"}
    assert names(team, f"/payments{INDEX}", small) == {}
    client = AppClient(create_registry_app(team.registry))
    path = "/.well-known/agent-skills/archives/payments/refunds/1.0.0.tar.gz"
    assert client.get(path).status_code == 401
    assert client.get(INDEX).status_code == 401
    assert client.get(path, headers={"Authorization": f"Bearer {small}"}).status_code == 403
    team.registry.yank(SYSTEM, "payments/refunds", "2.0.0", "wrong sums")
    assert names(team)["refunds"].endswith("/1.0.0.tar.gz")
    team.registry.yank(SYSTEM, "payments/refunds", "1.0.0", "wrong, too")
    assert names(team).keys() == {"leads"}
    bearer = {"Authorization": f"Bearer {team.admin}"}
    assert client.get(path, headers=bearer).status_code == 200  # what is installed can be had again
    team.registry.delete(SYSTEM, "payments/refunds")
    assert client.get(path, headers=bearer).status_code == 404


HOSTILE = ("/A/B", "/a//b", "/%2e%2e/x", "/a.b", "/-", f"/{'x' * 65}", "/%00", "/%F0%9F")


def test_hostile_prefixes(team: Team) -> None:
    """[SURFACES: Registry protocols] a path that is no prefix is 404, or has nothing below it."""
    team.publish("payments/refunds", "1.0.0")
    client = AppClient(create_registry_app(team.registry, ServerSettings(public_read=True)))
    for path in HOSTILE:
        response = client.get(f"{path}{INDEX}")
        assert (response.status_code, response.json().get("skills")) in [(404, None), (200, [])], path
        archive = client.get(f"{path}/.well-known/agent-skills/archives{path}/1.0.0.tar.gz")
        assert archive.status_code in (400, 404)


def test_passwords(team: Team) -> None:
    """[SURFACES: Registry protocols] a token can be the password of Basic, or the name; others are 401."""
    team.publish("pdf", "1.0.0")
    client = AppClient(create_registry_app(team.registry))
    for pair in (("anything", team.admin), (team.admin, "")):
        assert client.get(INDEX, auth=pair).status_code == 200
    for pair in (("anything", "wrong"), (team.admin, "wrong"), ("", "")):
        assert client.get(INDEX, auth=pair).status_code == 401
    for header in ("Basic", "Basic ///", "Basic /w==", "Digest x", "Basic " + "A" * 10_000):
        assert client.get(INDEX, headers={"Authorization": header}).status_code == 401


def read_lock(world: World) -> dict[str, Any]:
    return dict(json.loads((world.project / "skills-lock.json").read_text())["skills"])


@pytest.mark.slow
def test_npm_skills(public: Team, installer: Installer) -> None:
    """[SURFACES: Registry protocols] npm's `skills` adds a prefix of a registry, and updates from it."""
    public.publish("payments/refunds", "1.0.0", references___rules__md=b"Rules.")
    public.publish("sales/leads", "1.0.0")
    installer.run("add", f"{public.url}/payments", "-y", "--copy", "-a", "claude-code")
    folder = installer.world.project / ".claude" / "skills"
    assert [path.name for path in folder.iterdir()] == ["refunds"]
    assert (folder / "refunds" / "references" / "rules.md").read_bytes() == b"Rules."
    before = installer.lock()["refunds"]
    public.publish("payments/refunds", "1.1.0", text="Newer.")
    installer.run("update", "-y")
    assert "Newer." in (folder / "refunds" / "SKILL.md").read_text()
    assert installer.lock()["refunds"]["wellKnownDigest"] != before["wellKnownDigest"]


@pytest.mark.slow
def test_skc_add(public: Team, world: World) -> None:
    """[SURFACES: Registry protocols] `skc add` takes an index, or the address of a prefix or a page.

    `update` follows, also back to what is not yanked.
    """
    public.publish("payments/refunds", "1.0.0", references___rules__md=b"Rules.")
    public.publish("payments/cards/disputes", "1.0.0")
    public.publish("sales/leads", "1.0.0")
    world.ok("add", f"{public.url}/skills/payments/refunds{INDEX}", "--yes")
    assert (world.store / "refunds" / "references" / "rules.md").read_bytes() == b"Rules."
    assert read_lock(world)["refunds"]["sourceType"] == "well-known"
    for file in (".claude-plugin", ".agents/plugins"):
        words = ("--yes", "--dry-run", "--format", "json")
        shown = world.ok("add", f"{public.url}/sales/{file}/marketplace.json", *words)
        assert [added["id"] for added in json.loads(shown.stdout)["added"]] == ["leads"]
    for place in (f"/paymants{INDEX}", "/paymants"):
        world.fails("E080", "add", f"{public.url}{place}", "--yes")
    world.fails("E080", "add", f"{public.url}/payments", "--skill", "leads", "--yes")
    world.ok("add", f"{public.url}/payments", "--skill", "disputes", "--yes")
    world.ok("add", f"{public.url}/skills/sales", "--skill", "leads", "--yes")
    assert sorted(read_lock(world)) == ["disputes", "leads", "refunds"]
    for skill_id in ("payments/refunds", "payments/cards/disputes"):
        public.publish(skill_id, "1.1.0", text="Newer.")
    world.ok("update", "--yes")
    for name in ("refunds", "disputes"):
        assert "Newer." in (world.store / name / "SKILL.md").read_text()
    public.registry.yank(SYSTEM, "payments/refunds", "1.1.0", "wrong")
    world.ok("update", "--yes")
    assert "Text." in (world.store / "refunds" / "SKILL.md").read_text()

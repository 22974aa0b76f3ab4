"""A registry over MCP: the SDK's client, our own repositories, and callers that see what they may."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from skillc.registry import SYSTEM, Role, make_package
from tests.support.mcp import ERAS, NEW, ask, instructions_for, with_token
from tests.support.team_process import Team, running_team

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def read_team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """A registry for tests that change nothing."""
    with open_team(tmp_path_factory.mktemp("team")) as team:
        yield team


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    with open_team(tmp_path / "team") as team:
        yield team


@contextmanager
def open_team(folder: Path) -> Iterator[Team]:
    with running_team(folder, has_mcp=True) as team:
        team.publish(
            "payments/refunds", "1.0.0", references___rules__md=b"Rules.", logo__png=b"\x89PNG\xff\0"
        )
        team.publish("payments/cards/disputes", "1.0.0")
        team.publish("sales/leads", "1.0.0")
        team.settle_search("leads")
        yield team


async def list_skills(client: Client) -> dict[str, dict[str, Any]]:
    page = await ask(client, "skills/list")
    assert "nextCursor" not in page
    return {entry["uri"]: entry for entry in page["skills"]}


async def read(client: Client, uri: str) -> bytes:
    [part] = (await client.read_resource(uri)).contents
    return base64.b64decode(part.blob) if hasattr(part, "blob") else part.text.encode()


async def call(client: Client, name: str, **arguments: Any) -> Any:
    return await client.call_tool(name, arguments)


@pytest.mark.parametrize("era", ERAS)
def test_skills_over_mcp(read_team: Team, era: str) -> None:
    """[SEP-2640: server] the latest versions of a registry: entries that are true, files, directories."""

    async def check() -> None:
        async with with_token(f"{read_team.url}/mcp", era, token=read_team.admin) as client:
            assert "registry of skills" in str(await instructions_for(client, era))
            skills = await list_skills(client)
            assert sorted(skills) == [
                "skill://payments/cards/disputes/SKILL.md",
                "skill://payments/refunds/SKILL.md",
                "skill://sales/leads/SKILL.md",
            ]
            entry = skills["skill://payments/refunds/SKILL.md"]
            assert entry["frontmatter"] == {"name": "refunds", "description": "What refunds is for"}
            assert len(entry["resources"]) == 3
            for resource in entry["resources"]:
                data = await read(client, resource["uri"])
                assert f"sha256:{hashlib.sha256(data).hexdigest()}" == resource["digest"]
                assert len(data) == resource["size"]
            single = await ask(client, "skills/get", uri=entry["uri"])
            assert single["skill"] == entry
            folder = await ask(client, "resources/directory/read", uri="skill://payments/refunds")
            assert [each["name"] for each in folder["resources"]] == ["refunds", "logo.png", "references"]
            above = await ask(client, "resources/directory/read", uri="skill://payments")
            assert [each["name"] for each in above["resources"]] == ["cards", "refunds"]
            assert len((await client.list_resources()).resources) == 6
            assert b"refunds" in await read(client, "skillc://inventory")

    asyncio.run(check())


@pytest.mark.parametrize("era", ERAS)
def test_tools(read_team: Team, era: str) -> None:
    """[SURFACES: Registry protocols] tools find, browse and load skills, as those of a workspace do."""

    async def check() -> None:
        async with with_token(f"{read_team.url}/mcp", era, token=read_team.admin) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["skc_find", "browse_skills", "load_skill"]
            found = await call(client, "skc_find", task="refunds")
            assert found.structured_content["results"][0]["id"] == "payments/refunds"
            browsed = await call(client, "browse_skills", path="payments")
            assert "refunds" in json.dumps(browsed.structured_content)
            loaded = await call(client, "load_skill", id="payments/refunds")
            assert "Text." in loaded.content[0].text
            missing = await call(client, "load_skill", id="payments/nothing")
            assert missing.is_error
            assert "E001" in missing.content[0].text
            wrong = await call(client, "skc_find", words="x")
            assert wrong.is_error
            with pytest.raises(MCPError):
                await client.call_tool("skc_build", {})

    asyncio.run(check())


def test_callers_see_what_they_may(team: Team) -> None:
    """[SURFACES: Registry protocols] each request is for its own caller; yanked and deleted are gone."""
    small = team.token(Role.READER, "sales").secret

    async def check() -> None:
        async with with_token(f"{team.url}/mcp", NEW, token=small) as client:
            assert list(await list_skills(client)) == ["skill://sales/leads/SKILL.md"]
            for uri in ("skill://payments/refunds/SKILL.md", "skill://payments/nothing/SKILL.md"):
                with pytest.raises(MCPError) as refused:
                    await ask(client, "skills/get", uri=uri)
                assert refused.value.error.message == f"skill '{uri[8:-9]}' is not served"
                with pytest.raises(MCPError):
                    await client.read_resource(uri)
            with pytest.raises(MCPError):
                await ask(client, "resources/directory/read", uri="skill://payments")
            loaded = await call(client, "load_skill", id="payments/refunds")
            assert loaded.is_error
            found = await call(client, "skc_find", task="refunds leads")
            assert [result["id"] for result in found.structured_content["results"]] == ["sales/leads"]
        async with with_token(f"{team.url}/mcp", NEW, token=team.admin) as client:
            team.publish("payments/refunds", "2.0.0", text="Newer.")
            uri = "skill://payments/refunds/SKILL.md"
            assert "Newer." in str(await ask(client, "resources/read", uri=uri))  # not from a cache
            team.registry.yank(SYSTEM, "payments/refunds", "2.0.0", "wrong")
            assert "Text." in str(await ask(client, "resources/read", uri=uri))
            team.registry.delete(SYSTEM, "payments/refunds")
            assert uri not in await list_skills(client)
            with pytest.raises(MCPError):
                await ask(client, "resources/read", uri=uri)

    asyncio.run(check())


def test_requests_without_a_token(team: Team) -> None:
    """[SURFACES: Registry protocols] without a valid token, 401 and nothing told; one that expires ends."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "skills/list"}
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": NEW}
    for token in ("", "skc_wrong"):
        more = {"Authorization": f"Bearer {token}"} if token else {}
        response = httpx2.post(f"{team.url}/mcp", json=body, headers=headers | more, trust_env=False)
        assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert "leads" not in response.text
    reader = team.token(Role.READER)
    bearer = headers | {"Authorization": f"Bearer {reader.secret}"}
    huge = httpx2.post(f"{team.url}/mcp", content=b" " * (5 << 20), headers=bearer, trust_env=False)
    assert huge.status_code == 413
    team.registry.accounts.revoke_token(SYSTEM, reader.token.id)
    team.publish("sales/leads", "1.0.1", text="After it.")
    end = time.monotonic() + 30  # the server hears of it in a moment
    while httpx2.post(f"{team.url}/mcp", json=body, headers=bearer, trust_env=False).status_code != 401:
        assert time.monotonic() < end
        time.sleep(0.1)


HOSTILE = [
    *("skill://payments/refunds/../../sales/leads/SKILL.md", "skill://payments%2Frefunds/%2e%2e/SKILL.md"),
    *("skill://payments/refunds/SKILL.md%00", "skill://PAYMENTS/refunds/SKILL.md"),
    *("skill://" + "a/" * 2000 + "SKILL.md", "skill:///SKILL.md", "file:///etc/passwd"),
]


def test_hostile_addresses(read_team: Team) -> None:
    """[SURFACES: Registry protocols] an address that leads nowhere is an invalid parameter."""

    async def check() -> None:
        async with with_token(f"{read_team.url}/mcp", NEW, token=read_team.admin) as client:
            for uri in HOSTILE:
                for method in ("skills/get", "resources/directory/read", "resources/read"):
                    with pytest.raises(MCPError) as refused:
                        await ask(client, method, uri=uri)
                    assert "What leads" not in str(refused.value), uri

    asyncio.run(check())


def test_what_no_host_takes(team: Team) -> None:
    """[SEP-2640: server] a skill that breaks the format is not listed, and says why when it is asked for."""
    main = b"---\nname: Other Name\ndescription: About it\n---\n# Odd\n"
    team.registry.publish(SYSTEM, make_package("odd", {"SKILL.md": main}), version="1.0.0")
    many = {f"{number}.md": b"x" for number in range(600)}
    main = b"---\nname: many\ndescription: About it\n---\n# Many\n"
    team.registry.publish(SYSTEM, make_package("many", {"SKILL.md": main, **many}), version="1.0.0")

    async def check() -> None:
        async with with_token(f"{team.url}/mcp", NEW, token=team.admin) as client:
            assert len(await list_skills(client)) == 3
            for name, reason in (("odd", "its name"), ("many", "601 files")):
                with pytest.raises(MCPError, match=reason):
                    await ask(client, "skills/get", uri=f"skill://{name}/SKILL.md")

    asyncio.run(check())

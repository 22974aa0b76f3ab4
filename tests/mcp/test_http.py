"""`skc mcp` over streamable HTTP: both eras, Host and Origin, a token, and its end."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.conftest import World
from tests.support.mcp import ERAS, ask, over_http

pytestmark = pytest.mark.slow

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
TYPES = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.mark.parametrize("era", ERAS)
def test_both_eras(world: World, era: str) -> None:
    """[SURFACES: Serving] the same server for clients that shake hands and for those that do not."""
    world.skill("pdf")
    world.ok("build", "pdf")

    async def calls(url: str) -> None:
        async with Client(url, mode=era) as client:
            answer = await client.call_tool("skc_show", {"skill": "pdf", "section": "usage"})
            assert answer.structured_content["heading"] == "Usage"
            told: list[Any] = []

            async def note(progress: float, total: float | None, message: str | None) -> None:
                told.append(progress)

            await client.call_tool("skc_build", {"skill": "pdf", "force": True}, progress_callback=note)
            assert told
            entries = (await ask(client, "skills/list"))["skills"]
            assert "skill://pdf/SKILL.md" in [entry["uri"] for entry in entries]

    with over_http(world) as (url, _):
        asyncio.run(calls(url))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "internal.example"}, 200),
    ],
)
def test_host_and_origin(world: World, headers: dict[str, str], status: int) -> None:
    """[SURFACES: Serving] a page elsewhere can't reach it, by whatever name that leads here."""
    with over_http(world, "--allow-host", "internal.example") as (url, _):
        answer = httpx2.post(url, json=HELLO, headers=TYPES | headers)
        assert answer.status_code == status, answer.text
        assert httpx2.post(url, json=HELLO, headers=TYPES | {"Origin": url.removesuffix("/mcp")}).is_success


def test_token(world: World) -> None:
    """[SURFACES: Serving] with a token, only who sends it; it is compared whole and shown nowhere."""
    with over_http(world, token="s3cret") as (url, process):
        for given in (None, "Bearer", "Bearer s3cre", "Bearer s3cret2", "Basic s3cret", "s3cret"):
            headers = {"Authorization": given} if given else {}
            assert httpx2.post(url, json=HELLO, headers=TYPES | headers).status_code == 401, given

        async def calls() -> int:
            async with (
                httpx2.AsyncClient(headers={"Authorization": "Bearer s3cret"}) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                return len((await client.list_tools()).tools)

        assert asyncio.run(calls()) > 5
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
        assert "s3cret" not in out + err


def test_others_need_a_token(world: World) -> None:
    """[SURFACES: Serving] what others could reach is not served without a token."""
    failed = world.fails("E100", "mcp", "--http", "0.0.0.0:0")
    assert "SKILLC_MCP_TOKEN" in failed.stderr


def test_a_signal_ends_it(world: World) -> None:
    """[SURFACES: Serving] SIGTERM is the end, with status 0; a port that is taken is one line."""
    with over_http(world) as (url, process):
        port = url.rpartition(":")[2].removesuffix("/mcp")
        assert "cannot listen" in world.fails("E999", "mcp", "--http", f"127.0.0.1:{port}").stderr
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0

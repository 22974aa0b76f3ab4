"""Talking to our server as others do: the SDK's client, in this process, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any, TypeVar

import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from skillc.mcp import create_server
from skillc.workspace import Workspace
from tests.conftest import World
from tests.support.forks import start_skc

Result = TypeVar("Result")
OLD, NEW = "legacy", "2026-07-28"  # who shakes hands, and who does not
ERAS = (OLD, NEW)
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


def request(number: int | str, method: str, **params: Any) -> str:
    """Return a request as a line of JSON."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": META}})


class AnyResult(types.Result):
    """A result of a method that the SDK does not know, as it came."""

    model_config = {"extra": "allow"}


class AnyRequest(types.Request[dict[str, Any], str]):
    method: str
    params: dict[str, Any]


async def ask(client: Client, method: str, **params: Any) -> dict[str, Any]:
    """Call any method."""
    answer = await client.session.send_request(AnyRequest(method=method, params=params), AnyResult)
    return answer.model_dump(by_alias=True)


async def refusal(client: Client, method: str, **params: Any) -> str:
    """The message of a call that is refused for its parameters."""
    with pytest.raises(MCPError) as failed:
        await ask(client, method, **params)
    assert failed.value.error.code == -32602, (method, params)
    return failed.value.error.message


async def instructions_for(client: Client, era: str) -> str | None:
    """What the server says of itself: in its handshake, or when it is asked."""
    if era == OLD:
        return client.instructions
    answer = await ask(client, "server/discover")
    return answer.get("instructions")


def near(era: str = NEW, **more: Any) -> Client:
    """A client of a server in this process and working directory."""
    return Client(create_server(Workspace(), ("all", "run")), mode=era, **more)


def talk(conversation: Callable[[Client], Awaitable[Result]], era: str = NEW, **more: Any) -> Result:
    """What a conversation with a server in this process and working directory comes to."""

    async def run() -> Result:
        async with near(era, **more) as client:
            return await conversation(client)

    return asyncio.run(run())


def call_tools(*calls: tuple[str, dict[str, Any]], era: str = NEW, **more: Any) -> list[Any]:
    """What some calls return, one after the other, of a client that knows the tools."""

    async def call(client: Client) -> list[Any]:
        await client.list_tools()
        return [await client.call_tool(name, given) for name, given in calls]

    return talk(call, era, **more)


@asynccontextmanager
async def over_stdio(world: World, era: str = "auto", **more: Any) -> AsyncIterator[Client]:
    """A client of `skc mcp` as a process."""
    words = ["-m", "skillc", "mcp", "--tools", "all,run"]
    server = StdioServerParameters(command=sys.executable, args=words, cwd=world.project, env=world.env)
    async with Client(server, mode=era, **more) as client:
        yield client


def server_of(world: World) -> int:
    """Return the process of `skc mcp` that works in the world's project.

    Other children may have ended and wait to be collected: those have no directory any more.
    """
    own = os.getpid()
    children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
    places = {pid: f"/proc/{pid}/cwd" for pid in children}
    [server] = [
        pid for pid, place in places.items() if os.path.exists(place) and world.project.samefile(place)
    ]
    return int(server)


TOKEN = "a token of the tests"


@contextmanager
def over_http(
    world: World, *words: str, token: str = TOKEN, program: tuple[str, ...] = ()
) -> Iterator[tuple[str, Popen[str]]]:
    """The URL of `skc mcp --http` as a process, and the process; `program` is run in its place."""
    env = world.env | ({"SKILLC_MCP_TOKEN": token} if token else {})
    words = ("mcp", "--tools", "all,run", "--http", "127.0.0.1:0", *words)
    streams: dict[str, Any] = {"stdout": PIPE, "stderr": PIPE, "encoding": "utf-8"}
    with (
        Popen([sys.executable, *program, *words], cwd=world.project, env=env, **streams)
        if program
        else start_skc(words, cwd=world.project, env=env, **streams)
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("Serving on http://127.0.0.1:"), line
            yield line.removeprefix("Serving on ").strip(), process
        finally:
            process.kill()


@asynccontextmanager
async def with_token(
    url: str, era: str = "auto", *, token: str = TOKEN, **more: Any
) -> AsyncIterator[Client]:
    """A client over HTTP that sends a token."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http), mode=era, **more) as client,
    ):
        yield client


YES = ElicitResult(action="accept", content={"approve": True})


def answering(result: ElicitResult, asked: list[str]) -> Any:
    async def answer(context: Any, params: Any) -> ElicitResult:
        asked.append(params.message)
        return result

    return answer

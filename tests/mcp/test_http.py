"""`skc mcp` over streamable HTTP: both eras, Host and Origin, a token, and its end."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.conftest import World
from tests.support.mcp import ERAS, NEW, OLD, TOKEN, YES, answering, ask, over_http, with_token
from tests.support.tools import executable, tool

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
BEARER = TYPES | {"Authorization": f"Bearer {TOKEN}"}
COUNT = tool("count", "./scripts/count.sh {{word}}", "word | string | yes | Anything.")
RUN: dict[str, Any] = {"skill": "counter", "tool": "count", "parameters": {"word": "x"}}

# `skc mcp` with sessions that end soon, and few of them.
HASTY = """
import sys
from skillc.mcp import server
server.IDLE_TIME, server.MAX_SESSIONS = 0.3, 3
from skillc.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("era", ERAS)
def test_both_eras(world: World, era: str) -> None:
    """[SURFACES: Serving] the same server for clients that shake hands and for those that do not."""
    world.skill("pdf")
    world.ok("build", "pdf")

    async def calls(url: str) -> None:
        async with with_token(url, era) as client:
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


def test_host_and_origin(world: World) -> None:
    """[SURFACES: Serving] a page elsewhere can't reach it, by whatever name that leads here."""
    with over_http(world, "--allow-host", "internal.example") as (url, _):
        for headers, status in (
            ({}, 200),
            ({"Host": "evil.example"}, 421),
            ({"Host": "127.0.0.1.evil.example"}, 421),
            ({"Origin": "https://evil.example"}, 403),
            ({"Origin": "null"}, 403),
            ({"Origin": url.removesuffix("/mcp")}, 200),
            ({"Host": "internal.example"}, 200),
        ):
            answer = httpx2.post(url, json=HELLO, headers=BEARER | headers)
            assert answer.status_code == status, (headers, answer.text)


def test_token(world: World) -> None:
    """[SURFACES: Serving] with a token, only who sends it; it is compared whole and shown nowhere.

    SIGTERM is the end, with status 0; a port that is taken is one line.
    """
    with over_http(world, token="s3cret") as (url, process):
        for given in (None, "Bearer", "Bearer s3cre", "Bearer s3cret2", "Basic s3cret", "s3cret"):
            headers = {"Authorization": given} if given else {}
            assert httpx2.post(url, json=HELLO, headers=TYPES | headers).status_code == 401, given

        async def calls() -> int:
            async with with_token(url, token="s3cret") as client:
                return len((await client.list_tools()).tools)

        assert asyncio.run(calls()) > 5
        taken = world.fails("E999", "mcp", "--http", url.removeprefix("http://").removesuffix("/mcp"))
        assert "choose another port with --http" in taken.stderr
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=20)
        assert process.returncode == 0
        assert "s3cret" not in out + err


def made_token(process: Any) -> str:
    """The token that the server printed."""
    note = process.stderr.readline()
    assert note.startswith("note: SKILLC_MCP_TOKEN is not set; clients must send 'Authorization: Bearer "), (
        note
    )
    return str(note.strip().removesuffix("'").rpartition(" ")[2])


def test_a_token_is_made(world: World) -> None:
    """[SURFACES: Serving] where none is set, one is made each time, and nothing answers without it."""
    found = []
    for _ in range(2):
        with over_http(world, token="") as (url, process):
            found.append(made_token(process))
            for method in ("GET", "POST", "DELETE"):
                for version in ("2025-11-25", "2026-07-28"):
                    headers = TYPES | {"MCP-Protocol-Version": version}
                    answer = httpx2.request(method, url, json=HELLO, headers=headers)
                    assert answer.status_code == 401

            async def calls(era: str, url: str = url, token: str = found[-1]) -> int:
                async with with_token(url, era, token=token) as client:
                    return len((await client.list_tools()).tools)

            assert all(asyncio.run(calls(era)) > 5 for era in ERAS)
    assert len(set(found)) == 2
    assert all(len(token) >= 43 for token in found)  # 32 bytes


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A skill of the user's own with a tool."""
    world = World(tmp_path_factory.mktemp("counter"))
    executable(world.global_store, "counter", COUNT, count='echo "$1"')
    return world


@pytest.fixture(scope="module")
def counting(counter: World) -> Iterator[str]:
    """The address of a server that runs the tool for those who are asked."""
    with over_http(counter) as (url, _):
        yield url


def test_a_neighbour_runs_nothing(counter: World) -> None:
    """[SURFACES: Serving] a client without the token can't answer its own question: it never sees one."""

    async def attack(url: str, era: str, asked: list[str]) -> None:
        async with with_token(url, era, token="guess", elicitation_callback=answering(YES, asked)) as client:
            await client.call_tool("run_tool", RUN)

    asked: list[str] = []
    with over_http(counter, token="") as (url, _):
        for era in ERAS:
            with pytest.raises(ExceptionGroup):
                asyncio.run(attack(url, era, asked))
    assert asked == []


@pytest.mark.parametrize("era", ERAS)
def test_a_person_says_yes(counting: str, era: str) -> None:
    """[SURFACES: Serving] each run asks again; a yes among a tool's arguments is no approval."""
    asked: list[str] = []

    async def calls() -> list[Any]:
        found = []
        async with with_token(counting, era, elicitation_callback=answering(YES, asked)) as client:
            found += [await client.call_tool("run_tool", RUN) for _ in range(2)]
        async with with_token(counting, era) as client:
            for more in ({}, {"approve": True}, {"approval": "yes"}, {"yes": True}):
                found.append(await client.call_tool("run_tool", RUN | more))
        return found

    *good, silent, one, two, three = asyncio.run(calls())
    assert [answer.structured_content["success"] for answer in good] == [True, True]
    assert len(asked) == 2
    assert silent.content[0].text.startswith("error[E063]: ")
    for answer in (one, two, three):
        assert answer.is_error
        assert answer.content[0].text.startswith("error[E100]: ")


def test_a_yes_is_good_once(counting: str) -> None:
    """[SURFACES: Serving] the state of an answered question can't be replayed, by this client or another."""
    yes = {"approval": {"action": "accept", "content": {"approve": True}}}

    async def calls() -> list[dict[str, Any]]:
        async def send(client: Any, state: str, **change: Any) -> dict[str, Any]:
            arguments = RUN | change
            return await ask(
                client,
                "tools/call",
                name="run_tool",
                arguments=arguments,
                inputResponses=yes,
                requestState=state,
            )

        async def question(client: Any) -> str:
            first = await ask(client, "tools/call", name="run_tool", arguments=RUN)
            assert first["resultType"] == "input_required"
            return str(first["requestState"])

        found = []
        callback = answering(YES, [])
        async with with_token(counting, NEW, elicitation_callback=callback) as client:
            state = await question(client)
            found += [await send(client, state), await send(client, state)]
            found.append(await send(client, await question(client), parameters={"word": "y"}))
            state = await question(client)
            async with with_token(counting, NEW) as other:  # one that has no person
                found.append(await send(other, state))
            found.append(await send(client, state))  # and that was its end
        return found

    good, *bad = asyncio.run(calls())
    assert good["structuredContent"]["success"]
    for answer in bad:
        assert answer["content"][0]["text"].startswith("error[E063]: "), answer


def test_only_forms_ask(counting: str) -> None:
    """[SURFACES: Serving] a client that opens links, but shows no forms, has nobody to ask."""

    def result(elicitation: dict[str, Any]) -> dict[str, Any]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": NEW,
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": elicitation},
        }
        params = {"name": "run_tool", "arguments": RUN, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"MCP-Protocol-Version": NEW, "Mcp-Method": "tools/call", "Mcp-Name": "run_tool"}
        answer: dict[str, Any] = httpx2.post(counting, json=body, headers=BEARER | headers).json()["result"]
        return answer

    assert result({})["resultType"] == "input_required"
    assert result({"form": {}, "url": {}})["resultType"] == "input_required"
    assert result({"url": {}})["content"][0]["text"].startswith("error[E063]: ")


def test_sessions_end(world: World) -> None:
    """[SURFACES: Serving] a session that is not used ends, and only so many are open at a time."""

    def begin(url: str) -> httpx2.Response:
        return httpx2.post(url, json=HELLO, headers=BEARER)

    with over_http(world, program=("-c", HASTY)) as (url, _):
        answers = [begin(url) for _ in range(8)]
        assert {answer.status_code for answer in answers} <= {200, 503}
        session = {"Mcp-Session-Id": answers[0].headers["mcp-session-id"]}
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        for _ in range(200):
            time.sleep(0.6)
            if httpx2.post(url, json=ping, headers=BEARER | session).status_code == 404:
                break
        else:
            pytest.fail("the session never ended")
        assert begin(url).status_code == 200


def test_sessions_are_few(world: World) -> None:
    """[SURFACES: Serving] one session too many is refused, and those that are open go on."""
    program = HASTY.replace("0.3, 3", "600, 3")

    async def calls(url: str) -> None:
        async with with_token(url, OLD) as client:
            status = [httpx2.post(url, json=HELLO, headers=BEARER).status_code for _ in range(4)]
            assert status == [200, 200, 503, 503]
            assert (await client.list_tools()).tools

    with over_http(world, program=("-c", program)) as (url, _):
        asyncio.run(calls(url))


def test_others_need_a_token(world: World) -> None:
    """[SURFACES: Serving] what others could reach is not served without a token."""
    failed = world.fails("E100", "mcp", "--http", "0.0.0.0:0")
    assert "SKILLC_MCP_TOKEN" in failed.stderr

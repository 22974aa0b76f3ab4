"""`skc mcp` as a process: nothing but protocol on stdout, a long session, rubbish, and its end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import World
from tests.support.mcp import ERAS, over_stdio, request, server_of

# A tool that is as loud as it can be, in the server's own process and in one that it starts.
NOISY = """
import os, subprocess, sys
from skillc.mcp import server
from skillc.mcp.tools.definition import Answer, tool

@tool("Shout", "gateway", "init")
def shout(call):
    print("printed")
    sys.stdout.write("written")
    sys.stdout.flush()
    os.write(1, b"to the descriptor\\n")
    subprocess.run(["echo", "by a child"])
    subprocess.run([sys.executable, "-c", "import sys; assert sys.stdin.read() == ''"], check=True)
    return Answer({"name": None, "path": ""}, "quiet")

server.TOOLS = (*server.TOOLS, shout)
from skillc.cli import main
sys.exit(main(["mcp", "--tools", "all,run"]))
"""


@pytest.mark.slow
def test_nothing_but_protocol_on_stdout(world: World) -> None:
    """[SURFACES: Serving] whatever a tool prints, or what it starts, goes to stderr."""
    with subprocess.Popen(
        [sys.executable, "-c", NOISY],
        cwd=world.project,
        env=world.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(request(1, "tools/call", name="shout", arguments={}) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        rest, errors = process.communicate(timeout=30)
    assert answer["result"]["content"] == [{"type": "text", "text": "quiet"}]
    assert rest == ""
    for words in ("printed", "written", "to the descriptor", "by a child"):
        assert words in errors


@pytest.mark.slow
def test_rubbish_is_survived(world: World) -> None:
    """[SURFACES: Serving] lines that are no messages are answered, as unknown methods are; it goes on."""
    world.skill("pdf")
    deep = "[" * 100_000
    lines = ["", "rubbish", deep, "{}", '{"jsonrpc":"2.0"}', "\ud800".encode("utf-8", "replace").decode()]
    lines += ['{"jsonrpc":"2.0","id":3,"method":"\\ud800"}', "[]"]
    lines += [request(1, "no/such/method"), request(2, "tools/call", name="skc_list", arguments={})]

    async def last() -> list[dict[str, Any]]:
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-m", "skillc", "mcp", "--tools", "all,run"],
            cwd=world.project,
            env=world.env,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            limit=1 << 20,
        )
        assert process.stdin
        assert process.stdout
        process.stdin.write("\n".join(lines).encode() + b"\n")
        found: list[dict[str, Any]] = []
        while {1, 2} - {message.get("id") for message in found}:
            found.append(json.loads(await asyncio.wait_for(process.stdout.readline(), 60)))
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), 60) == 0
        return found

    messages = asyncio.run(last())
    codes = [message["error"]["code"] for message in messages if message.get("id", 0) is None]
    assert codes == [-32700, -32700, -32600, -32600, -32700, -32700, -32600]
    answers = {message.get("id"): message for message in messages}
    assert answers[1]["error"]["code"] == -32601
    assert answers[2]["result"]["structuredContent"]["total"] == 1


ROUND = 44  # calls after which what the server holds is counted: four of each


@pytest.mark.slow
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc to look at")
@pytest.mark.parametrize("era", ERAS)
def test_a_long_session_holds_nothing(world: World, era: str) -> None:
    """[SURFACES: Serving] no descriptor and no process is left behind by calls, failing ones too."""
    world.skill("pdf")
    world.ok("build", "pdf")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("skc_show", {"skill": "pdf", "section": "usage"}),
        ("skc_show", {"skill": "pdf", "section": "none"}),
        ("skc_search", {"skill": "pdf", "query": "text"}),
        ("skc_open", {"skill": "pdf", "path": "SKILL.md"}),
        ("skc_open", {"skill": "pdf", "path": "../x"}),
        ("skc_outline", {"skill": "pdf"}),
        ("skc_lint", {"skill": "pdf"}),
        ("skc_stats", {"skill": "pdf"}),
        ("skc_list", {}),
        ("load_skill", {"id": "pdf"}),
        ("skc_build", {"skill": "pdf", "target": "cursor"}),
    ]

    async def session() -> tuple[list[tuple[int, int]], int]:
        held = []
        async with over_stdio(world, era) as client:
            server = server_of(world)
            for number in range(1, 3 * ROUND + 1):
                name, given = calls[number % len(calls)]
                await client.call_tool(name, given)
                if number in (ROUND, 3 * ROUND):
                    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
                    held.append((len(os.listdir(f"/proc/{server}/fd")), len(children)))
        return held, server

    held, server = asyncio.run(session())
    assert held[1][0] <= held[0][0]  # the moment of collecting garbage may let it drop
    assert held[0][1] == held[1][1] == 0
    assert not Path(f"/proc/{server}").exists()


@pytest.mark.slow
def test_interrupted(world: World) -> None:
    """[SURFACES: Serving] Ctrl+C ends it without a traceback."""
    with subprocess.Popen(
        [sys.executable, "-m", "skillc", "mcp", "--tools", "all,run"],
        cwd=world.project,
        env=world.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_DFL
        ),  # ignored, if we are in the background
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(request(1, "tools/list") + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        errors = process.stderr.read() if process.stderr else ""
    assert "Traceback" not in errors

"""The first answers of `skc mcp`: before the SDK is loaded, and what the SDK would have said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import chdir
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from skillc.mcp.stdio import make_opening
from skillc.workspace import Workspace
from tests.conftest import World
from tests.support.forks import start_skc
from tests.support.mcp import ERAS, META, OLD, request

# The SDK can't be loaded, but only after the client has left.
WITHOUT_SDK = """
import sys, threading
from types import ModuleType

class Missing(ModuleType):
    def __getattr__(self, name):
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                thread.join()
        raise ImportError("no anyio")

sys.modules["anyio"] = Missing("anyio")
from skillc.cli import main
sys.exit(main(sys.argv[1:]))
"""
INITIALIZED = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})


def hello(number: int | str = 0, version: str = "1", **more: Any) -> str:
    client = {"name": "test", "version": version}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client, **more}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params})


def ask(number: int | str, method: str, **params: Any) -> str:
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return json.dumps(message | ({"params": params} if params else {}))


OPENINGS = {
    OLD: [hello(), INITIALIZED, ask(1, "tools/list"), ask(2, "prompts/list"), ask(3, "resources/list")],
    "2026-07-28": [
        request(0, "server/discover"),
        ask(1, "tools/list", _meta=META | {"progressToken": 1}),
    ],
}


def talk(world: World, lines: list[str], *words: str) -> list[dict[str, Any]]:
    """Send lines at once; return the answers, in the order of their IDs."""
    with start_skc(
        ["mcp", *words],
        cwd=world.project,
        env=world.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("".join(f"{line}\n" for line in lines))
        process.stdin.flush()
        wanted = sum('"id"' in line or "jsonrpc" not in line for line in lines)
        answers = [json.loads(process.stdout.readline()) for _ in range(wanted)]
        process.stdin.close()
        assert process.stdout.read() == ""
        assert process.wait(30) == 0
    return sorted(answers, key=lambda answer: (answer["id"] is not None, answer["id"]))


def talk_without_sdk(world: World, lines: list[str], *words: str) -> list[dict[str, Any]]:
    """Return what is answered by a server that can't load the SDK."""
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_SDK, "mcp", *words],
        input="".join(f"{line}\n" for line in lines),
        cwd=world.project,
        env=world.env,
        capture_output=True,
        encoding="utf-8",
    )
    assert run.returncode == 1
    assert "anyio" in run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


def answers_of(world: World, lines: list[str], tools: tuple[str, ...] = (), preload: str = "") -> list[Any]:
    """Return what is answered before the SDK is loaded, in this process."""
    file, out = world.root / "lines", BytesIO()
    file.write_text("".join(f"{line}\n" for line in lines))
    with patch.dict(os.environ, world.env, clear=True), chdir(world.project), file.open() as source:
        opening = make_opening(Workspace(), tools, [preload] if preload else [])
        count = threading.active_count()
        with opening.serve(source.fileno(), out):
            while threading.active_count() > count:
                time.sleep(0.001)
        assert not opening.read or opening.read == file.read_bytes()
    return [json.loads(line) for line in out.getvalue().splitlines()]


def kept(world: World, text: str) -> Path:
    """Return the file with the answer that has a text."""
    [file] = [file for file in openings(world) if text in file.read_text()]
    return file


def openings(world: World) -> list[Path]:
    return list((world.home / ".skillc" / "cache" / "openings").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_first_answers(world: World, era: str) -> None:
    """[D78] The first requests are answered without the SDK, as it answered them in an earlier session."""
    lines = OPENINGS[era]
    answers = talk(world, lines)
    assert len(answers[1]["result"]["tools"]) == 7
    assert talk_without_sdk(world, lines) == answers
    others = [
        hello("a", "2"),
        INITIALIZED,
        ask("b", "tools/list"),
    ]  # another version of the client, other IDs
    if era != OLD:
        others = [request("a", "server/discover"), ask("b", "tools/list", _meta=META | {"progressToken": 5})]
    assert [each["id"] for each in answers_of(world, others)] == ["a", "b"]
    world.ok("clean", "--yes")
    assert answers_of(world, lines) == []


@pytest.mark.slow
def test_the_sdk_takes_over(world: World) -> None:
    """[D78] After the first answers the SDK goes on with the session; each request is answered once."""
    world.skill("pdf")
    call = ask(5, "tools/call", name="load_skill", arguments={"id": "pdf"})
    lines = [*OPENINGS[OLD], ask(4, "ping"), "rubbish", call, ask(6, "tools/list")]
    cold, warm = talk(world, lines), talk(world, lines)
    assert warm == cold
    assert [answer["id"] for answer in warm] == [None, 0, 1, 2, 3, 4, 5, 6]
    assert warm[0]["error"]["code"] == -32700
    assert "Usage" in warm[6]["result"]["content"][0]["text"]
    first = [request(1, "tools/call", name="load_skill", arguments={"id": "pdf"}), request(2, "tools/list")]
    assert talk(world, first) == talk(world, first)


@pytest.mark.slow
def test_an_answer_that_changed(world: World) -> None:
    """[D78] What the SDK says otherwise by now is not sent, but is the answer of the next session."""
    answers = talk(world, OPENINGS[OLD])
    file = kept(world, "Find the skills")
    text = file.read_text()
    file.write_text(text.replace("Find the skills", "Look for skills"))
    assert "Look for skills" in json.dumps(talk(world, OPENINGS[OLD]))
    assert json.loads(file.read_text()) == json.loads(text)
    assert answers_of(world, OPENINGS[OLD]) == answers


def test_resources_that_changed(world: World) -> None:
    """[D78] A client that was told of the resources of another day is told that they changed."""
    world.skill("old")
    talk(world, OPENINGS[OLD])
    world.skill("new")
    with start_skc(
        ["mcp"],
        cwd=world.project,
        env=world.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("".join(f"{line}\n" for line in OPENINGS[OLD]))
        process.stdin.flush()
        lines = [process.stdout.readline() for _ in range(5)]
        process.stdin.write(ask(9, "resources/list") + "\n")
        process.stdin.flush()
        now = process.stdout.readline()
        process.stdin.close()
    assert ["skill://new" in line for line in lines] == [False] * 5
    assert json.loads(lines[4]) == {"jsonrpc": "2.0", "method": "notifications/resources/list_changed"}
    assert "skill://new" in now


def test_what_is_left_to_the_sdk(world: World) -> None:
    """[D78] Whatever has not been answered by the SDK like this, it answers; so it does after an update."""
    talk(world, OPENINGS[OLD])
    list_tools, meta = OPENINGS[OLD][-1], META | {"io.modelcontextprotocol/clientInfo": {"name": "x"}}
    others = {
        "another protocol": hello(protocolVersion="2025-06-18"),
        "another client": hello(capabilities={"roots": {}}),
        "no version": hello(clientInfo={"name": "test"}),
        "a version that is none": hello(clientInfo={"name": "test", "version": 1}),
        "no ID": hello().replace('"id": 0, ', ""),
        "an ID that is none": hello().replace('"id": 0', '"id": true'),
        "another era": ask(0, "tools/list", _meta=meta),
        "no message": "[]",
        "no JSON": hello()[:-1],
        "deep": "[" * 100_000,
        "tools first": list_tools,
    }
    wrong = [name for name, line in others.items() if answers_of(world, [line, list_tools])]
    assert wrong == []
    assert answers_of(world, OPENINGS[OLD], ("all",)) == []
    assert answers_of(world, OPENINGS[OLD], preload="pdf") == []
    config = world.project / ".skillc" / "skills.toml"
    config.write_text("enabled = false\n")
    assert answers_of(world, OPENINGS[OLD]) == []
    config.unlink()
    for damage in ("{", "[]", '{"answer": []}', "{}"):
        for file in openings(world):
            file.write_text(damage)
        assert answers_of(world, OPENINGS[OLD]) == []


def test_answers_that_are_kept(world: World) -> None:
    """[D78] The oldest answers go, where there are many."""
    talk(world, OPENINGS[OLD])
    file = openings(world)[0]
    for number in range(300):
        os.utime(shutil.copy(file, file.with_name(f"{number}.json")), (number, number))
    talk(world, OPENINGS[OLD], "--tools", "all")
    names = {file.name for file in openings(world)}
    assert len(names) < 300
    assert "299.json" in names
    assert "0.json" not in names

"""What MCP costs: calls of `skc mcp` over stdio beside a tool that returns a constant, by the same SDK.

    .venv/bin/python scripts/bench_mcp.py [--quick]

The constant is the very answer of the call beside it, with the same schema, so that what is sent and what
the client checks is the same. Then both calls in a skill of 2,000 files, beside a server of the same SDK
that only runs the SQL. Calls of all servers take turns, so that a noisy machine disturbs them alike; a
ratio is the median of ours over the other's. Then the processor time from the start until the tools are
listed, in a home where they were listed once, beside a server with nothing but the SDK. Then 5,000 mixed
calls in one session: what the server holds in memory, descriptors and threads, before and after.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import large_skill
from mcp import Client
from mcp.client.stdio import StdioServerParameters

ROOT = Path(__file__).parent.parent
SKILL = "release-notes"
SHOW = ("skc_show", {"skill": SKILL, "section": "Breaking changes"})
SEARCH = ("skc_search", {"skill": SKILL, "query": "breaking change"})
LIMIT = 1.5
LARGE_LIMIT = 3.0  # in a skill of 2,000 files
READY_LIMIT = 1 / 3
GROWTH = 8 << 20  # bytes that 4,000 more calls may add

CONSTANT = """
import json, sys
import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, Tool

with open(sys.argv[1], encoding="utf-8") as file:
    known = json.load(file)

async def listed(ctx, params):
    schema = {"type": "object"}
    tools = [Tool(name=n, input_schema=schema, output_schema=s) for n, (s, _) in known.items()]
    return ListToolsResult(tools=tools)

async def call(ctx, params):
    return CallToolResult.model_validate(known[params.name][1])

async def main():
    server = Server("constant", on_list_tools=listed, on_call_tool=call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""

SQL = """
import json, os, sqlite3, sys
import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

root, path = sys.argv[1:]
database = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
FIND = "SELECT file, start_line, end_line FROM headings WHERE text = ? COLLATE NOCASE"
SEARCH = (
    "SELECT file, section, snippet(sections, 2, '[MATCH]', '[/MATCH]', '...', 32), rank "
    "FROM sections WHERE sections MATCH ? ORDER BY rank LIMIT 10"
)

async def listed(ctx, params):
    return ListToolsResult(tools=[Tool(name=n, input_schema={"type": "object"}) for n in ("show", "search")])

async def call(ctx, params):
    if params.name == "show":
        name, first, end = database.execute(FIND, (params.arguments["section"],)).fetchone()
        with open(os.path.join(root, name), "rb") as file:
            text = b"".join(file.read().splitlines(True)[first - 1:end - 1]).decode()
    else:
        words = " ".join(f'"{word}"' for word in params.arguments["query"].split())
        text = json.dumps(database.execute(SEARCH, (words,)).fetchall())
    return CallToolResult(content=[TextContent(text=text)])

async def main():
    server = Server("sql", on_list_tools=listed, on_call_tool=call)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""

MIXED: list[tuple[str, dict[str, Any]]] = [
    SHOW,
    SEARCH,
    ("skc_outline", {"skill": SKILL}),
    ("skc_open", {"skill": SKILL, "path": "scripts/commits.sh"}),
    ("skc_sources", {"skill": SKILL}),
    ("browse_skills", {}),
    ("load_skill", {"id": SKILL}),
    ("skc_show", {"skill": SKILL, "section": "not there"}),
    ("skc_list", {}),
    ("skc_stats", {"skill": SKILL}),
]


class Place:
    """A home and a project with the example skill, built."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="skillc-bench-mcp-"))
        self.project = self.root / "project"
        shutil.copytree(ROOT / "examples" / SKILL, self.project / ".skillc" / "skills" / SKILL)
        (self.root / "home").mkdir()
        self.env = {"HOME": str(self.root / "home"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def client(self, *words: str) -> Client:
        server = StdioServerParameters(
            command=sys.executable, args=list(words), cwd=self.project, env=self.env
        )
        return Client(server, mode="2026-07-28")

    def ours(self) -> Client:
        return self.client("-m", "skillc", "mcp", "--tools", "all")


async def medians(place: Place, calls: int) -> list[tuple[str, float, float]]:
    """What was called, its median, and the constant's."""
    async with place.ours() as ours:
        await ours.call_tool("skc_build", {"skill": SKILL})
        schemas = {tool.name: tool.output_schema for tool in (await ours.list_tools()).tools}
        known = {}
        for name, given in (SHOW, SEARCH):
            answer = await ours.call_tool(name, given)
            known[name] = (schemas[name], answer.model_dump(by_alias=True, mode="json"))
        answers, program = place.root / "answers.json", place.root / "constant.py"
        answers.write_text(json.dumps(known), encoding="utf-8")
        program.write_text(CONSTANT, encoding="utf-8")
        async with place.client(str(program), str(answers)) as constant:
            await constant.list_tools()
            questions = [(client, call) for call in (SHOW, SEARCH) for client in (ours, constant)]
            taken: list[list[float]] = [[] for _ in questions]
            for turn in range(calls + 50):
                for times, (client, (name, given)) in zip(taken, questions, strict=True):
                    started = time.perf_counter()
                    await client.call_tool(name, given)
                    if turn >= 50:  # the first ones warm up
                        times.append(time.perf_counter() - started)
    middle = [statistics.median(times) for times in taken]
    return [("skc_show", middle[0], middle[1]), ("skc_search", middle[2], middle[3])]


async def large_medians(place: Place, calls: int) -> list[tuple[str, float, float]]:
    """The same for a skill of 2,000 files, beside a server that only runs the SQL."""
    store = place.project / ".skillc"
    title = large_skill(store / "skills" / "large")[1500][1][5][0]
    program = place.root / "sql.py"
    program.write_text(SQL, encoding="utf-8")
    async with place.ours() as ours:
        await ours.call_tool("skc_build", {"skill": "large"})
        [index] = (store / "runtime" / "large" / ".skillc-meta").glob("search-*.db")
        async with place.client(str(program), str(store / "skills" / "large"), str(index)) as bare:
            await bare.list_tools()
            questions = [
                (ours, "skc_show", {"skill": "large", "section": title}),
                (bare, "show", {"section": title}),
                (ours, "skc_search", {"skill": "large", "query": title}),
                (bare, "search", {"query": title}),
            ]
            taken: list[list[float]] = [[] for _ in questions]
            for turn in range(calls + 20):
                for times, (client, name, given) in zip(taken, questions, strict=True):
                    started = time.perf_counter()
                    answer = await client.call_tool(name, given)
                    assert not answer.is_error, answer
                    if turn >= 20:
                        times.append(time.perf_counter() - started)
    middle = [statistics.median(times) for times in taken]
    return [("large, skc_show", middle[0], middle[1]), ("large, skc_search", middle[2], middle[3])]


def readiness(place: Place, runs: int) -> list[tuple[str, float, float]]:
    """The least processor time until the tools are listed."""
    (place.root / "none.json").write_text("{}", encoding="utf-8")
    (place.root / "constant.py").write_text(CONSTANT, encoding="utf-8")
    ours, bare = ["-m", "skillc", "mcp"], [str(place.root / "constant.py"), str(place.root / "none.json")]
    open_session(place, ours)  # the first session keeps its answers
    times = [(open_session(place, ours), open_session(place, bare)) for _ in range(runs)]
    return [("tools are listed", min(mine for mine, _ in times), min(other for _, other in times))]


def open_session(place: Place, words: list[str]) -> float:
    """Shake hands and ask for the tools; return the processor time that the server took, in seconds."""
    client = {"name": "bench", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": client}
    steps: list[list[dict[str, Any]]] = [
        [{"id": 0, "method": "initialize", "params": params}],
        [{"method": "notifications/initialized"}, {"id": 1, "method": "tools/list"}],
    ]
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=place.project,
        env=place.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        assert server.stdin
        assert server.stdout
        for messages in steps:
            for message in messages:
                server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            server.stdin.flush()
            assert b'"result"' in server.stdout.readline()
        threads = Path(f"/proc/{server.pid}/task").iterdir()
        used = sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)
        server.stdin.close()
        server.stdout.read()
    return used / 1e9


def held(pid: int) -> tuple[int, int, int, int]:
    """Bytes in memory, descriptors, threads and children of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    memory = int(fields["VmRSS"].split()[0]) * 1024
    return memory, len(os.listdir(f"/proc/{pid}/fd")), int(fields["Threads"]), len(children)


async def session(place: Place, calls: int) -> list[tuple[int, tuple[int, int, int, int]]]:
    """What a server holds after so many calls."""
    found = []
    before = _children()
    async with place.ours() as client:
        [server] = _children() - before
        for number in range(1, calls + 1):
            name, given = MIXED[number % len(MIXED)]
            await client.call_tool(name, given)
            if number in (calls // 5, calls):
                found.append((number, held(server)))
        await client.list_resources()
    assert not Path(f"/proc/{server}").exists(), "the server is still there"
    return found


def _children() -> set[int]:
    own = os.getpid()
    return {int(pid) for pid in Path(f"/proc/{own}/task/{own}/children").read_text().split()}


def main() -> int:
    quick = "--quick" in sys.argv
    place = Place()
    wrong = 0
    try:
        print(f"{'call over stdio':<18} {'ours':>9} {'other':>9} {'ratio':>6} {'limit':>6}")
        for measure, limit in ((medians, LIMIT), (large_medians, LARGE_LIMIT)):
            for name, ours, other in asyncio.run(measure(place, 100 if quick else 1000)):
                ratio = ours / other
                wrong += ratio > limit
                print(f"{name:<18} {ours * 1e3:7.2f}ms {other * 1e3:7.2f}ms {ratio:6.2f} {limit:6.2f}")
        print(f"\n{'processor time':<18} {'ours':>9} {'other':>9} {'ratio':>6} {'limit':>6}")
        for name, ours, other in readiness(place, 3 if quick else 10):
            wrong += ours / other > READY_LIMIT
            ratio = ours / other
            print(f"{name:<18} {ours * 1e3:7.0f}ms {other * 1e3:7.0f}ms {ratio:6.2f} {READY_LIMIT:6.2f}")
        print(f"\n{'after calls':<12} {'memory':>9} {'descriptors':>12} {'threads':>8} {'children':>9}")
        rows = asyncio.run(session(place, 500 if quick else 5000))
        for number, (memory, descriptors, threads, children) in rows:
            print(f"{number:<12} {memory / (1 << 20):6.1f}MiB {descriptors:>12} {threads:>8} {children:>9}")
        (_, first), (_, last) = rows
        wrong += last[0] - first[0] > GROWTH or last[1] > first[1] or last[3] > first[3]
    finally:
        shutil.rmtree(place.root)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

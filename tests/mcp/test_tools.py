"""The tools, by the SDK's client: equal to the command line, declared for models, logged, cancelled."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
import sys
from typing import Any

import anyio
import jsonschema  # type: ignore[import-untyped]
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from skillc.mcp.server import DEFAULT, TOOLS, choose_tools, create_server
from skillc.workspace import Workspace
from tests.conftest import World, save
from tests.support.mcp import ERAS, NEW, YES, answering, call_tools, near, over_stdio, talk

MAIN = """---
name: pdf
description: Fill forms. Use when someone has a PDF.
---
# pdf

## Filling forms

Fields have names.

## Größe 名前

Ümläute.

## Filling forms

A second one.
"""


@pytest.fixture
def pdf(world: World) -> World:
    folder = world.skill("pdf", MAIN)
    (folder / "references").mkdir()
    save(folder / "references" / "api.md", "# API\n\n## Fields\n\nOne\nTwo\nThree\n")
    save(folder / "logo.png", b"\x89PNG\r\n\xff\x00")
    world.ok("build", "pdf")
    return world


# A tool's name, its arguments, and the words of the command that says the same.
SAME: list[tuple[str, dict[str, Any], list[str]]] = [
    ("skc_list", {}, ["list"]),
    ("skc_list", {"scope": "global", "check_obsolete": True}, ["list", "--scope", "global"]),
    ("skc_build", {"skill": "pdf"}, ["build", "pdf"]),
    ("skc_lint", {"skill": "pdf"}, ["lint", "pdf"]),
    ("skc_outline", {"skill": "pdf", "level": 2}, ["outline", "pdf", "--level", "2"]),
    ("skc_show", {"skill": "pdf", "section": "größe 名前"}, ["show", "pdf", "--section", "größe 名前"]),
    (
        "skc_show",
        {"skill": "pdf", "section": "Fields", "file": "references/api.md", "max_lines": 3},
        ["show", "pdf", "--section", "Fields", "--file", "references/api.md", "--max-lines", "3"],
    ),
    ("skc_open", {"skill": "pdf", "path": "SKILL.md"}, ["open", "pdf", "SKILL.md"]),
    ("skc_open", {"skill": "pdf", "path": "logo.png"}, ["open", "pdf", "logo.png"]),
    ("skc_sources", {"skill": "pdf", "depth": 1}, ["sources", "pdf", "--depth", "1"]),
    ("skc_search", {"skill": "pdf", "query": "fields"}, ["search", "pdf", "fields"]),
    ("skc_search", {"skill": "pdf", "query": "one x", "mode": "any"}, ["search", "pdf", "one x", "--any"]),
    ("skc_find", {"task": "fill in a form", "limit": 3}, ["find", "fill in a form", "--limit", "3"]),
    (
        "skc_find",
        {"task": "fill in a form", "all": True, "tag": "x"},
        ["find", "fill in a form", "--all", "--tag", "x"],
    ),
    ("skc_find", {"task": "fileds", "repository": "project"}, ["find", "fileds", "--repository", "project"]),
    ("browse_skills", {}, ["browse"]),
    ("browse_skills", {"query": "forms"}, ["browse", "--query", "forms"]),
    ("browse_skills", {"query": "xyzzy"}, ["browse", "--query", "xyzzy"]),
    ("load_skill", {"id": "pdf"}, ["load", "pdf"]),
    ("skc_list", {"limit": 1}, ["list", "--limit", "1"]),
    ("skc_list", {"pattern": "none"}, ["list", "--pattern", "none"]),
    ("skc_lint", {"skill": "pdf", "strict": True}, ["lint", "pdf", "--strict"]),
    ("skc_search", {"skill": "pdf", "query": "xyzzy"}, ["search", "pdf", "xyzzy"]),
    ("skc_stats", {"until": "2020-01-01"}, ["stats", "--until", "2020-01-01"]),
    (
        "skc_stats",
        {"skill": "pdf", "group_by": "commands", "until": "2020-01-01"},
        ["stats", "pdf", "--group-by", "commands", "--until", "2020-01-01"],
    ),
    ("run_tool", {"skill": "go", "tool": "go"}, ["run", "go", "go", "--yes"]),
    ("run_tool", {"skill": "fails", "tool": "go"}, ["run", "fails", "go", "--yes"]),
    (
        "skc_stats",
        {"group_by": "search", "until": "2020-01-01"},
        ["stats", "--group-by", "search", "--until", "2020-01-01"],
    ),
]


@pytest.mark.slow
def test_results_are_the_commands(pdf: World) -> None:
    """[RFC-0007] [SURFACES: JSON] structured content is the command's JSON, text what it prints on a pipe.

    The client checks the structured content against the schema. What is no text can't be one over MCP.
    """
    pdf.skill("go", HEAD.format("go") + GO, store=pdf.global_store)
    pdf.skill("fails", HEAD.format("fails") + GO.replace("echo", "ls"), store=pdf.global_store)
    calls = [(name, given) for name, given, _ in SAME]
    callback = answering(YES, [])
    answers = [call_tools(*calls, era=era, elicitation_callback=callback) for era in ERAS]
    for number, (name, given, words) in enumerate(SAME):
        form = "object" if name == "skc_outline" else "json"
        run = pdf.skc(*words, "--format", form)
        wanted = json.loads(run.stdout)
        is_text = wanted.get("encoding") != "base64"
        text = pdf.skc(*words, "--format", "text").stdout if is_text else ""
        if name == "run_tool":
            assert wanted.pop("duration_ms") >= 0
        for answer in (of_era[number] for of_era in answers):
            value = dict(answer.structured_content)
            assert name != "run_tool" or value.pop("duration_ms") >= 0
            assert answer.is_error is (name == "run_tool" and run.returncode == 1), answer
            assert value == wanted, (name, given)
            if is_text:
                assert text in (answer.content[0].text, f"{answer.content[0].text}\n"), (name, given)


GO = """
### go

Goes.

#### Parameters

None.

#### Command

```bash
echo gone away
```
"""
HEAD = "---\nname: {}\ndescription: Goes.\nversion: 1.0.0\n---\n# x\n"
# A call of each tool, and the fields that the structured content has alone: what the client gave, and numbers
# and hashes for programs.
ALIKE: list[tuple[str, dict[str, Any], str]] = [
    ("skc_init", {"name": "new"}, ""),
    ("skc_list", {}, "source_path runtime_path filtered path method state description metadata body"),
    ("skc_build", {"skill": "pdf"}, "source_path source_hash"),
    ("skc_lint", {"skill": "pdf"}, "path tokens file total"),
    ("skc_stats", {"skill": "pdf", "group_by": "commands"}, "skill_path"),
    ("skc_outline", {"skill": "pdf"}, "level line"),
    ("skc_show", {"skill": "pdf", "section": "Fields", "max_lines": 3}, "file line"),
    ("skc_open", {"skill": "pdf", "path": "references/api.md", "max_lines": 2}, "path size encoding"),
    ("skc_open", {"skill": "pdf", "path": "logo.png"}, "content"),
    ("skc_sources", {"skill": "pdf", "depth": 1, "limit": 2}, "type"),
    ("skc_search", {"skill": "pdf", "query": "fields"}, "query score"),
    ("skc_find", {"task": "fill in a form"}, "query score confidence fields"),
    ("browse_skills", {}, "type scope source_name"),
    ("load_skill", {"id": "pdf"}, "byte_size"),
    ("run_tool", {"skill": "go", "tool": "go"}, "sandbox duration_ms"),
    ("run_tool", {"skill": "fails", "tool": "go"}, "sandbox duration_ms"),
]


def facts(value: Any, name: str = "") -> list[tuple[str, str]]:
    """Every text and number in a value, with the name of its field, in one line."""
    if isinstance(value, dict):
        return [fact for key, item in value.items() for fact in facts(item, key)]
    if isinstance(value, list):
        return [fact for item in value for fact in facts(item, name)]
    return [(name, " ".join(str(value).split()))] if value and not isinstance(value, bool) else []


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_text_and_structured_content_are_alike(pdf: World, era: str) -> None:
    """[SURFACES: Serving] a model that reads the text alone knows what one knows that reads the other."""
    pdf.skill("go", HEAD.format("go") + GO, store=pdf.global_store)
    pdf.skill("fails", HEAD.format("fails") + GO.replace("echo", "ls"), store=pdf.global_store)
    calls = [(name, given) for name, given, _ in ALIKE]
    results = call_tools(*calls, era=era, elicitation_callback=answering(YES, []))
    for (name, given, alone), result in zip(ALIKE, results, strict=True):
        text = " ".join("\n".join(block.text for block in result.content).split()).lower()
        lacks = {field: fact for field, fact in facts(result.structured_content) if fact.lower() not in text}
        assert lacks.keys() <= set(alone.split()), (name, given, lacks)
        assert result.structured_content, (name, text)
    assert {name for name, _, _ in ALIKE} == {tool.name for tool in TOOLS}


@pytest.mark.parametrize("era", ERAS)
def test_finding(pdf: World, era: str) -> None:
    """[SURFACES: Serving] [D32] a task finds its skill with reasons; no words are E004, a bad limit E100."""
    given: list[dict[str, Any]] = [{"task": "a PDF"}, {"task": "xyzzy"}, {"task": "?!"}]
    given += [{"task": "pdf", "limit": 1001}, {}]
    calls = [("skc_find", words) for words in given]
    found, nothing, empty, many, missing = call_tools(*calls, era=era)
    best = found.structured_content["results"][0]
    assert (best["id"], best["source_name"]) == ("pdf", "project")
    assert "pdf" in [match["term"].lower() for match in best["matched"]]
    assert found.content[0].text.startswith("pdf  (")
    assert nothing.structured_content == {"query": "xyzzy", "results": []}
    assert nothing.content[0].text == "No skills fit."
    assert empty.is_error
    assert empty.content[0].text.startswith("error[E004]: ")
    assert [answer.content[0].text[:12] for answer in (many, missing)] == ["error[E100]:"] * 2


def test_init_and_stats_of_one(world: World) -> None:
    """[RFC-0006] [RFC-0003] a new skill through MCP can be built, read and counted at once."""
    made, built, shown, counted, again = call_tools(
        ("skc_init", {"name": "notes", "description": "Write notes."}),
        ("skc_build", {"skill": "notes", "target": "cursor"}),
        ("skc_show", {"skill": "notes", "section": "Notes"}),
        ("skc_stats", {"skill": "notes", "group_by": "commands"}),
        ("skc_init", {"name": "notes"}),
    )
    assert made.structured_content == {"name": "notes", "path": str(world.store / "notes" / "SKILL.md")}
    assert built.structured_content["deployments"][0]["target"] == "cursor"
    assert shown.structured_content["heading"] == "Notes"
    assert counted.structured_content["data"] == {"show": 1}
    assert again.is_error
    assert again.content[0].text.startswith("error[E050]: ")


def test_declared_for_a_model(world: World) -> None:
    """[SURFACES: Serving] every tool has a title, hints, words for each parameter, and an output schema."""
    tools: dict[str, Any] = {tool.name: tool for tool in talk(Client.list_tools).tools}
    assert set(tools) == {tool.name for tool in TOOLS}
    for tool in tools.values():
        assert tool.title
        assert len(tool.description) > 30
        assert tool.annotations.read_only_hint is (tool.name not in ("skc_init", "skc_build", "run_tool"))
        assert tool.output_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        for name, schema in tool.input_schema["properties"].items():
            assert len(schema["description"]) > 10, (tool.name, name)


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("skc_show", {"skill": "pdf", "section": "Nowhere"}, "E020"),
    ("skc_show", {"skill": "pdf", "section": "filling"}, "E020"),
    ("skc_show", {"skill": "not-there", "section": "x"}, "E001"),
    ("skc_show", {"skill": "pdf"}, "E100"),
    ("skc_show", {"skill": "pdf", "section": "x", "max_lines": 0}, "E100"),
    ("skc_show", {"skill": "pdf", "section": "x", "max_lines": True}, "E100"),
    ("skc_show", {"skill": "pdf", "section": 7}, "E100"),
    ("skc_show", {"skill": "pdf", "section": "x", "colour": "red"}, "E100"),
    ("skc_outline", {"skill": "pdf", "level": 7}, "E100"),
    ("skc_open", {"skill": "pdf", "path": "../../../etc/passwd"}, "E012"),
    ("skc_open", {"skill": "pdf", "path": "none.md"}, "E021"),
    ("skc_sources", {"skill": "pdf", "dir": "none"}, "E022"),
    ("skc_search", {"skill": "pdf", "query": "  "}, "E004"),
    ("skc_search", {"skill": "pdf", "query": "x", "mode": "some"}, "E100"),
    ("skc_stats", {"skill": "pdf", "since": "yesterday"}, "E031"),
    ("skc_build", {"skill": "pdf", "target": "no-such-agent"}, "E100"),
    ("load_skill", {"id": "not/there"}, "E001"),
    ("load_skill", {"id": "../etc"}, "E070"),
    ("skc_init", {"name": "pdf"}, "E050"),
    ("skc_list", {"limit": 0}, "E100"),
    ("skc_lint", {"skill": "not-there"}, "E001"),
    ("skc_find", {"task": "?!"}, "E004"),
    ("browse_skills", {"cursor": "x"}, "E100"),
    ("run_tool", {"skill": "not-there", "tool": "x"}, "E001"),
]


@pytest.mark.parametrize("era", ERAS)
def test_errors_are_results(pdf: World, era: str) -> None:
    """[RFC-0005] [D62] what goes wrong is a result with isError, the diagnostic's text, and its JSON."""

    async def calls(client: Client) -> tuple[list[Any], dict[str, Any]]:
        schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        return [await client.call_tool(name, given) for name, given, _ in WRONG], schemas

    answers, schemas = talk(calls, era)
    for answer, (name, _, _) in zip(answers, WRONG, strict=True):
        jsonschema.validate(answer.structured_content, schemas[name])  # as clients do that check errors, too
    for answer, (name, given, code) in zip(answers, WRONG, strict=True):
        assert answer.is_error, (name, given)
        error = answer.structured_content["error"]  # which the tool's schema allows
        assert (error["code"], sorted(error)) == (code, ["code", "hint", "message"])
        assert answer.content[0].text.splitlines()[0] == f"error[{code}]: {error['message']}"
    assert "- Filling forms (SKILL.md)" in answers[1].content[0].text


def test_protocol_errors_stay_protocol_errors(world: World) -> None:
    """[SURFACES: Serving] an unknown tool, prompt or resource is the protocol's error."""

    async def calls() -> list[int]:
        codes = []
        async with near() as client:
            for question in (
                client.call_tool("no_such_tool", {}),
                client.get_prompt("no_such_prompt"),
                client.get_prompt("use_skill", {}),
                client.read_resource("skill://not/there/SKILL.md"),
                client.read_resource("file:///etc/passwd"),
                client.list_resources(cursor="../.."),
            ):
                with pytest.raises(MCPError) as failed:
                    await question
                codes.append(failed.value.error.code)
        return codes

    assert asyncio.run(calls()) == [-32602] * 6


def test_notices_are_told(pdf: World) -> None:
    """[D16] [D18] warnings of the command come as further lines, never in the result itself."""
    save(pdf.store / "pdf" / "references" / "api.md", "# API\n\nChanged.\n")
    shown, found = call_tools(
        ("skc_show", {"skill": "pdf", "section": "filling forms"}),
        ("skc_search", {"skill": "pdf", "query": "three ümläute"}),
    )
    assert shown.content[1].text == "warning[W001]: multiple matches for 'filling forms'; showing first"
    told = [block.text for block in found.content[1:]]
    assert told[0].startswith("warning[W004]: ")
    assert "these occur: three" in told[1]


@pytest.mark.slow
def test_logged_as_by_the_command(pdf: World) -> None:
    """[RFC-0007] [RFC-0004:C-LOGGING] rows of the access log are those of the command line, failures too."""
    calls = [
        ("skc_outline", {"skill": "pdf"}, ["outline", "pdf"]),
        ("skc_show", {"skill": "pdf", "section": "FIELDS"}, ["show", "pdf", "--section", "FIELDS"]),
        ("skc_show", {"skill": "pdf", "section": "gone"}, ["show", "pdf", "--section", "gone"]),
        ("skc_open", {"skill": "pdf", "path": "logo.png"}, ["open", "pdf", "logo.png"]),
        ("skc_sources", {"skill": "pdf", "pattern": "*.md"}, ["sources", "pdf", "--pattern", "*.md"]),
        ("skc_search", {"skill": "pdf", "query": "fields"}, ["search", "pdf", "fields"]),
        ("skc_lint", {"skill": "pdf"}, ["lint", "pdf"]),
        ("skc_stats", {"skill": "pdf"}, ["stats", "pdf"]),
        ("skc_build", {"skill": "pdf"}, ["build", "pdf"]),
    ]

    async def through_mcp() -> None:
        async with over_stdio(pdf) as client:
            for name, given, _ in calls:
                await client.call_tool(name, given)

    for _, _, words in calls:
        pdf.skc(*words)
    asyncio.run(through_mcp())
    with sqlite3.connect(pdf.runtime / "pdf" / ".skillc-meta" / "logs.db") as log:
        rows = log.execute(
            "SELECT command, skill, skill_path, cwd, args, error FROM access_log ORDER BY id"
        ).fetchall()
    log.close()
    rows = rows[1:]  # without the fixture's build
    assert len(rows) == 2 * len(calls)
    assert rows[: len(calls)] == rows[len(calls) :]


def big(world: World, files: int) -> None:
    folder = world.skill("big")
    for number in range(files):
        text = f"# Part {number}\n\n" + "".join(f"## Point {n}\n\nWords of {number}.\n\n" for n in range(40))
        (folder / f"part-{number}.md").write_text(text)


@pytest.mark.parametrize("era", ERAS)
def test_progress_of_a_build(world: World, era: str) -> None:
    """[SURFACES: Serving] who asks for progress is told how many files of how many are done, to the last."""
    big(world, 60)
    told: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, total, message))

    async def call(client: Client) -> Any:
        return await client.call_tool("skc_build", {"skill": "big"}, progress_callback=note)

    assert talk(call, era).structured_content["files"] == 61
    assert told[-1] == (61, 61, "61 of 61 files of 'big'")
    assert [progress for progress, _, _ in told] == sorted({progress for progress, _, _ in told})


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_cancelled_build(world: World, era: str) -> None:
    """[D11] [SURFACES: Serving] a build that nobody waits for ends; the last one serves, and it is logged."""
    big(world, 1)
    world.ok("build", "big")
    before = world.ok("list", "--format", "json").stdout
    manifest = (world.runtime / "big" / ".skillc" / "manifest.json").read_bytes()
    big(world, 1500)

    async def cancel() -> bool:
        async with over_stdio(world, era) as client:
            with anyio.CancelScope() as scope:

                async def stop(progress: float, total: float | None, message: str | None) -> None:
                    if total and progress < total:
                        scope.cancel()

                await client.call_tool("skc_build", {"skill": "big"}, progress_callback=stop)
            for _ in range(600):  # the build ends by itself; another call is served meanwhile
                await client.call_tool("skc_outline", {"skill": "big", "level": 1})
                if logged_errors(world) == ["cancelled"]:
                    return True
                await anyio.sleep(0.05)
        return False

    assert asyncio.run(cancel())
    assert world.ok("list", "--format", "json").stdout == before
    assert (world.runtime / "big" / ".skillc" / "manifest.json").read_bytes() == manifest
    assert not list((world.runtime / "big").rglob(".*.tmp"))


def logged_errors(world: World) -> list[str]:
    log = sqlite3.connect(world.runtime / "big" / ".skillc-meta" / "logs.db")
    try:
        rows = log.execute("SELECT error FROM access_log WHERE command = 'build' AND error IS NOT NULL")
        return [row[0] for row in rows]
    finally:
        log.close()


def test_tools_by_default(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D78] seven tools in 6,000 characters, and no text names another; running is asked for by name."""
    monkeypatch.chdir(world.project)
    every = {tool.name for tool in choose_tools(["all", "run"])}
    assert {tool.name for tool in choose_tools(["all"])} == every - {"run_tool"}
    for words in (DEFAULT, ("gateway",), ("library",), ("skc_find",)):
        server = create_server(Workspace(), words)
        chosen = [tool.declaration for tool in choose_tools(words)]
        schemas = "".join(json.dumps(tool.input_schema, separators=(",", ":")) for tool in chosen)
        text = "".join(tool.name + (tool.description or "") for tool in chosen) + schemas
        assert len(text) < 6_000
        said = {*re.findall(r"\w+", f"{text} {server.instructions}")} & every
        assert said <= {tool.name for tool in chosen}
        assert all(tool.description for tool in chosen)


@pytest.mark.slow
def test_groups_of_tools(world: World) -> None:
    """[SURFACES: Serving] --tools offers some groups alone; a group that is none is E100."""

    async def names(words: list[str]) -> set[str]:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "skillc", "mcp", *words],
            cwd=world.project,
            env=world.env,
        )
        async with Client(server, mode=NEW) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    library = {"skc_find", "browse_skills", "load_skill"}
    assert asyncio.run(names(["--tools", "library"])) == library
    assert asyncio.run(names(["--tools", "run_tool,library"])) == {*library, "run_tool"}
    world.fails("E100", "mcp", "--tools", "gateway,nonsense")
    world.fails("E100", "mcp", "--http", "127.0.0.1:99999")
    world.fails("E100", "mcp", "--print")


def test_skills_toml_is_followed(world: World) -> None:
    """[D23] an edit of skills.toml counts from the next call on; a wrong one is the call's error."""
    world.skill("elsewhere", store=world.root / "others")

    async def calls(client: Client) -> list[Any]:
        found = [await client.call_tool("browse_skills", {})]
        table = '[[repositories]]\nname = "o"\ntype = "filesystem"\npath = "../others"\n'
        for text in (table, "nonsense ="):
            save(world.project / ".skillc" / "skills.toml", text)
            found.append(await client.call_tool("browse_skills", {}))
        return found

    before, after, broken = talk(calls)
    assert "elsewhere" not in [skill["id"] for skill in before.structured_content["skills"]]
    assert "elsewhere" in [skill["id"] for skill in after.structured_content["skills"]]
    assert broken.content[0].text.startswith("error[E071]: ")

"""Skills over MCP, the server's side: entries, their files, directories, limits, changes."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import ResourceListChangedNotification, ResourceUpdatedNotification

from tests.conftest import World, save
from tests.support.mcp import ERAS, NEW, OLD, ask, near, over_stdio, refusal, talk
from tests.support.skills import skill


@pytest.fixture
def library(world: World) -> World:
    for path in ("pdf", "acme/billing/refunds", "acme/support/refunds"):
        skill(world.store, path)
    folder = world.store / "acme" / "billing" / "refunds"
    (folder / "templates" / "eu").mkdir(parents=True)
    save(folder / "templates" / "eu" / "invoice ü.md", "# Invoice\r\n")
    save(folder / "templates" / "a.txt", "plain")
    save(folder / "logo.png", b"\x89PNG\xff\x00")
    save(folder / ".secret", "never")
    fields = "name: pdf\ndescription: Forms\nlicense: MIT\nmetadata:\n  version: 1.10\n  on: true\n"
    save(world.store / "pdf" / "SKILL.md", f"---\n{fields}---\n# PDF\n")
    return world


async def content(client: Client, uri: str) -> bytes:
    [part] = (await client.read_resource(uri)).contents
    assert part.uri == uri
    return base64.b64decode(part.blob) if hasattr(part, "blob") else part.text.encode()


async def everything(client: Client) -> list[dict[str, Any]]:
    """All entries, page by page."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = await ask(client, "skills/list", **cursor)
        assert (page["resultType"], page["cacheScope"]) == ("complete", "private")
        assert page["ttlMs"] >= 0
        found += page["skills"]
        if "nextCursor" not in page:
            return found
        cursor = {"cursor": page["nextCursor"]}


def test_declared(world: World) -> None:
    """[SEP-2640: server] the extension and resources are declared; a client of before does not hear of it."""

    async def capabilities(era: str) -> Any:
        async with near(era) as client:
            return (await ask(client, "server/discover"))["capabilities"]

    declared = asyncio.run(capabilities(NEW))
    assert declared["extensions"] == {"io.modelcontextprotocol/skills": {"directoryRead": True}}
    assert declared["resources"] == {"subscribe": True, "listChanged": True}


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_entries_are_complete_and_true(library: World, era: str) -> None:
    """[SEP-2640: server] frontmatter verbatim; every file once, with the digest and size of what is read."""

    async def check(client: Client) -> dict[str, Any]:
        entries = {entry["uri"]: entry for entry in await everything(client)}
        for uri, entry in entries.items():
            assert (await ask(client, "skills/get", uri=uri))["skill"] == entry
            uris = [file["uri"] for file in entry["resources"]]
            assert uri in uris
            assert len(uris) == len(set(uris))
            for file in entry["resources"]:
                data = await content(client, file["uri"])
                assert file["size"] == len(data)
                assert file["digest"] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        return entries

    entries = talk(check, era)
    assert set(entries) >= {
        "skill://pdf/SKILL.md",
        "skill://acme/billing/refunds/SKILL.md",
        "skill://acme/support/refunds/SKILL.md",
    }
    assert entries["skill://pdf/SKILL.md"]["frontmatter"] == {
        "name": "pdf",
        "description": "Forms",
        "license": "MIT",
        "metadata": {"version": 1.1, "on": True},
    }
    files = [file["uri"] for file in entries["skill://acme/billing/refunds/SKILL.md"]["resources"]]
    assert files == [
        "skill://acme/billing/refunds/SKILL.md",
        "skill://acme/billing/refunds/logo.png",
        "skill://acme/billing/refunds/templates/a.txt",
        "skill://acme/billing/refunds/templates/eu/invoice%20%C3%BC.md",
    ]


def test_resources_are_listed(library: World) -> None:
    """[SEP-2640: server] [RFC-0007] every file is a resource; one that is read is an `open` in the log."""
    found = {resource.uri: resource for resource in talk(Client.list_resources).resources}
    main = found["skill://pdf/SKILL.md"]
    assert (main.name, main.description, main.mime_type) == ("pdf", "Forms", "text/markdown")
    assert found["skill://acme/billing/refunds/logo.png"].mime_type == "image/png"
    assert not any(".secret" in uri for uri in found)
    assert "skillc://inventory" in found
    talk(lambda client: client.read_resource("skill://pdf/SKILL.md"))
    told = library.ok("stats", "pdf", "--group-by", "files", "--format", "json").stdout
    assert '"file": "SKILL.md"' in told


@pytest.mark.parametrize("era", ERAS)
def test_unknown_cursors(world: World, era: str) -> None:
    """[SEP-2640: server] [SURFACES: Serving] many skills come in pages, each skill once, in order.

    A cursor that this list did not give is -32602.
    """
    for number in range(60):
        skill(world.store, f"many/s{number:02}")

    async def calls(client: Client) -> list[str]:
        given = {m: (await ask(client, m))["nextCursor"] for m in ("skills/list", "resources/list")}
        assert len((await ask(client, "skills/list"))["skills"]) == 50
        for method, other in zip(given, reversed(given), strict=True):
            assert await ask(client, method, cursor=given[method])
            for cursor in (given[other], "s10", "s99", "", "nonsense", "../..", f"{given[method]}9"):
                await refusal(client, method, cursor=cursor)
        for method in ("tools/list", "prompts/list", "resources/templates/list"):
            for cursor in (given["skills/list"], ""):
                await refusal(client, method, cursor=cursor)
        await refusal(client, "resources/directory/read", uri="skill://", cursor="skill://s10")
        return [entry["uri"] for entry in await everything(client)]

    uris = [uri for uri in talk(calls, era) if "many" in uri]
    assert uris == [f"skill://many/s{number:02}/SKILL.md" for number in range(60)]


def test_a_link_that_escapes(world: World) -> None:
    """[SURFACES: Serving] a path that leads out of the skill is -32602, for whichever method."""
    folder = skill(world.store, "pdf")
    save(world.root / "secret.md", "outside")
    (folder / "out.md").symlink_to(world.root / "secret.md")

    async def calls(client: Client) -> None:
        for method, path in (
            ("resources/read", "/out.md"),
            ("resources/read", "/SKILL.md"),
            ("resources/directory/read", ""),
            ("skills/get", "/SKILL.md"),
        ):
            assert "escapes" in await refusal(client, method, uri=f"skill://pdf{path}")

    talk(calls)


UNKNOWN = [
    *("skill://pdf", "skill://pdf/", "skill://pdf/skill.md", "skill://none/SKILL.md"),
    *("skill://pdf/../pdf/SKILL.md", "skill://pdf/SKILL.md?x=1", "skill://pdf/SKILL.md#top"),
    *("skill://pdf//SKILL.md", "skill://PDF/SKILL.md", "skill:pdf/SKILL.md", "file:///etc/passwd"),
    *("skill://pdf/%2e%2e/%2e%2e/%2e%2e/secret", "skill://pdf/SKILL.md%00"),
    "skill://acme/billing/refunds/.secret",
    "skill://" + "a/" * 5000,
    "",
]


def test_what_is_not_served(library: World) -> None:
    """[SEP-2640: server] a URI that leads to no skill, file or directory is -32602, whatever its tricks."""
    save(library.store / "secret", "outside of any skill")

    async def calls(client: Client) -> None:
        for uri in UNKNOWN:
            await refusal(client, "skills/get", uri=uri)
            if uri not in ("skill://pdf",):
                await refusal(client, "resources/read", uri=uri)
        for uri in ("skill://pdf/SKILL.md", "skill://none", "skill://acme/billing/refunds/none", "x://y", ""):
            await refusal(client, "resources/directory/read", uri=uri)

    talk(calls)


def test_directories(library: World) -> None:
    """[SEP-2640: server] direct children only, directories as inode/directory without a slash at the end."""

    async def read(client: Client, uri: str) -> list[tuple[str, str, str]]:
        answer = await ask(client, "resources/directory/read", uri=uri)
        assert answer["resultType"] == "complete"
        return [(r["uri"], r["name"], r["mimeType"]) for r in answer["resources"]]

    async def calls(client: Client) -> list[list[tuple[str, str, str]]]:
        uris = (
            "skill://acme/billing/refunds",
            "skill://acme/billing/refunds/templates",
            "skill://acme/billing/refunds/templates/eu",
            "skill://acme",
        )
        return [await read(client, uri) for uri in uris]

    root, templates, deepest, collection = talk(calls)
    base = "skill://acme/billing/refunds"
    assert root == [
        (f"{base}/SKILL.md", "refunds", "text/markdown"),
        (f"{base}/logo.png", "logo.png", "image/png"),
        (f"{base}/templates", "templates", "inode/directory"),
    ]
    assert templates == [
        (f"{base}/templates/a.txt", "a.txt", "text/plain"),
        (f"{base}/templates/eu", "eu", "inode/directory"),
    ]
    assert deepest == [(f"{base}/templates/eu/invoice%20%C3%BC.md", "invoice ü.md", "text/markdown")]
    assert [child[0] for child in collection] == ["skill://acme/billing", "skill://acme/support"]


REFUSED = {
    "unlike": ("---\nname: other\ndescription: D\n---\n", "is not its folder's"),
    "nameless": ("---\ndescription: D\n---\n", "repaired"),
    "colon": ("---\nname: colon\ndescription: Use when: never\n---\n", "repaired"),
    "endless": (f"---\nname: endless\ndescription: {'x' * 1025}\n---\n", "1024"),
}


def test_limits_and_the_format(world: World) -> None:
    """[SEP-2640: server] what hosts would have to refuse is not served, and `skills/get` says why."""
    for name, (text, _) in REFUSED.items():
        world.skill(name, text)
    many = world.skill("many")
    for number in range(512):
        (many / f"{number}.txt").write_text("")
    heavy = world.skill("heavy")
    (heavy / "blob").write_bytes(bytes(16 << 20))
    fits = world.skill("fits")
    (fits / "blob").write_bytes(bytes((16 << 20) - (fits / "SKILL.md").stat().st_size))

    async def calls() -> tuple[list[str], dict[str, str]]:
        reasons = {}
        async with near() as client:
            listed = [entry["uri"] for entry in await everything(client)]
            for name in (*REFUSED, "many", "heavy"):
                with pytest.raises(MCPError) as failed:
                    await ask(client, "skills/get", uri=f"skill://{name}/SKILL.md")
                assert failed.value.error.code == -32602
                reasons[name] = failed.value.error.message
            return listed, reasons

    listed, reasons = asyncio.run(calls())
    assert "skill://fits/SKILL.md" in listed
    for name, (_, words) in (REFUSED | {"many": ("", "512"), "heavy": ("", "16 MiB")}).items():
        assert f"skill://{name}/SKILL.md" not in listed
        assert words in reasons[name], reasons[name]


def test_an_entry_is_of_one_snapshot(world: World) -> None:
    """[SEP-2640: server] files that are changed together are never told of apart."""
    folder = world.skill("twins")
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            for name in ("a.md", "b.md", "c.md"):
                save(folder / name, f"{number}")

    def entries() -> list[dict[str, Any]]:
        async def calls() -> list[dict[str, Any]]:
            found = []
            async with near() as client:
                for _ in range(60):
                    try:
                        found.append((await ask(client, "skills/get", uri="skill://twins/SKILL.md"))["skill"])
                    except MCPError as error:
                        if "changes while it is read" not in error.error.message:
                            raise
            return found

        return asyncio.run(calls())

    save(folder / "a.md", "0")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        found = entries()
    finally:
        stop.set()
        writer.join()
    digests = {hashlib.sha256(f"{n}".encode()).hexdigest(): n for n in range(100_000)}
    for entry in found:
        names = ("a.md", "b.md", "c.md")
        told = {file["uri"].rpartition("/")[2]: file["digest"][7:] for file in entry["resources"]}
        numbers = [digests[told[name]] for name in names if name in told]
        # The writer goes a, b, c: at any moment the numbers fall by at most one on the way.
        assert sorted(numbers, reverse=True) == numbers
        assert max(numbers, default=0) - min(numbers, default=0) <= 1


@pytest.mark.slow
def test_what_cannot_be_read(library: World, unprivileged: tuple[str, ...]) -> None:
    """[SEP-2640: server] [RFC-0005] what can't be read is an error in one line, of one skill."""
    (library.store / "pdf" / "SKILL.md").chmod(0)
    if not unprivileged:
        with pytest.raises(PermissionError):
            (library.store / "pdf" / "SKILL.md").read_bytes()
    program = [sys.executable, "-m", "skillc", "mcp", "--tools", "all,run"]

    async def calls() -> tuple[list[str], MCPError]:
        command, *words = [*unprivileged, *program]
        server = StdioServerParameters(command=command, args=words, cwd=library.project, env=library.env)
        async with Client(server, mode=NEW) as client:
            listed = [entry["uri"] for entry in await everything(client)]
            with pytest.raises(MCPError) as failed:
                await ask(client, "skills/get", uri="skill://pdf/SKILL.md")
            return listed, failed.value

    listed, error = asyncio.run(calls())
    assert "skill://acme/billing/refunds/SKILL.md" in listed
    assert "skill://pdf/SKILL.md" not in listed
    assert error.error.code in (-32602, -32603)
    assert "\n" not in error.error.message


def change(folder: Path) -> None:
    save(folder / "SKILL.md", "---\nname: pdf\ndescription: New words\n---\n# PDF\n")


@pytest.mark.slow
def test_changes_are_told_to_who_shook_hands(library: World) -> None:
    """[SEP-2640: server] a changed file is told to subscribers, a changed list to all who shook hands."""
    heard: list[Any] = []

    async def calls() -> None:
        told = anyio.Event()

        async def hear(message: Any) -> None:
            heard.append(message)
            if {type(m) for m in heard} >= {ResourceListChangedNotification, ResourceUpdatedNotification}:
                told.set()

        async with over_stdio(library, OLD, message_handler=hear) as client:
            await ask(client, "resources/subscribe", uri="skill://pdf/SKILL.md")
            await client.list_resources()
            change(library.store / "pdf")
            with anyio.fail_after(30):
                await told.wait()

    asyncio.run(calls())
    [updated] = [m for m in heard if isinstance(m, ResourceUpdatedNotification)]
    assert updated.params.uri == "skill://pdf/SKILL.md"


@pytest.mark.slow
def test_changes_are_told_to_who_listens(library: World) -> None:
    """[SEP-2640: server] the same on a stream of `subscriptions/listen`; a new file changes the list."""

    async def calls() -> set[str]:
        heard: set[str] = set()
        async with over_stdio(library, NEW) as client:
            wanted = ["skill://pdf/SKILL.md", "skill://pdf/new.md"]
            async with client.listen(resources_list_changed=True, resource_subscriptions=wanted) as stream:
                change(library.store / "pdf")
                save(library.store / "pdf" / "new.md", "# New\n")
                with anyio.fail_after(30):
                    async for event in stream:
                        heard.add(getattr(event, "uri", type(event).__name__))
                        if len(heard) == 3:
                            break
        return heard

    heard = asyncio.run(calls())
    assert heard == {"ResourcesListChanged", "skill://pdf/SKILL.md", "skill://pdf/new.md"}


def test_prompts_and_completion(library: World) -> None:
    """[SURFACES: Serving] a person puts a skill into the chat by its ID, which is completed."""

    async def calls() -> tuple[str, str, list[str], str]:
        from mcp_types import PromptReference

        async with near() as client:
            names = [prompt.name for prompt in (await client.list_prompts()).prompts]
            assert names == ["use_skill", "find_skill", "turn"]
            used = await client.get_prompt("use_skill", {"skill": "acme/billing/refunds", "task": "Pay it."})
            found = await client.get_prompt("find_skill", {"task": "fill a form"})
            ref = PromptReference(type="ref/prompt", name="use_skill")
            completed = await client.complete(ref, {"name": "skill", "value": "acme/"})
            inventory = await content(client, "skillc://inventory")
            texts: list[Any] = [answer.messages[0].content for answer in (used, found)]
            return texts[0].text, texts[1].text, completed.completion.values, inventory.decode()

    used, found, completed, inventory = asyncio.run(calls())
    assert used.startswith('<skill id="acme/billing/refunds">')
    assert used.endswith("\n\nPay it.")
    assert inventory in found
    assert completed == ["acme/billing/refunds", "acme/support/refunds"]
    assert '<skill id="pdf">' in inventory


@pytest.mark.slow
def test_skills_that_are_elsewhere(world: World, served: str) -> None:
    """[SEP-2640: server] a skill of an HTTP repository is not listed, since nothing is fetched ahead of need,
    but `skills/get` and its files answer for it."""
    (world.project / ".skillc" / "skills.toml").write_text(
        f'[[repositories]]\nname = "team"\ntype = "http"\nurl = "{served}"\n'
    )
    uri = "skill://extraction/email-extractor/SKILL.md"

    async def calls(client: Client) -> tuple[Any, Any, Any]:
        listed = await ask(client, "skills/list")
        return listed, await ask(client, "skills/get", uri=uri), await client.read_resource(uri)

    listed, got, read = talk(calls)
    assert uri not in [skill["uri"] for skill in listed["skills"]]
    assert got["skill"]["frontmatter"]["name"] == "email-extractor"
    text = read.contents[0].text
    assert "Body." in text
    (resource,) = got["skill"]["resources"]
    assert resource["size"] == len(text.encode())
    assert resource["digest"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

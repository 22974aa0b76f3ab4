"""Skills over MCP, the host's side: lazily, verified, below a label of ours, and against servers that lie."""

from __future__ import annotations

import gzip
import itertools
import json
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from skillc.engine import DefaultSkillEngine
from skillc.errors import InvalidConfiguration, InvalidSkill, RepositoryUnavailable, SkillNotFound
from skillc.library.repositories import resolve_repositories
from skillc.library.repositories.config import SkillsConfig
from skillc.library.sources.composite import CompositeSkillSource, NamedSource
from skillc.library.sources.filesystem import FilesystemSkillSource
from skillc.library.sources.mcp import McpSkillSource
from skillc.remotes.http import BearerAuth
from skillc.skills import SkillId
from tests.conftest import World, save
from tests.library.mcp_server import TRICKS, URIS
from tests.support.cases import each
from tests.support.examples import sample
from tests.support.http import Chunks, Request, Stub, page
from tests.support.mcp import over_http
from tests.support.skills import run, skill

SERVER = str(Path(__file__).with_name("mcp_server.py"))
GOOD, BAD = SkillId("company/good"), SkillId("company/bad")


@pytest.fixture
def served(world: World) -> Path:
    """Folders that the server serves."""
    root = world.root / "served"
    for name in ("good", "bad", "acme/billing/refunds"):
        folder = skill(root, name)
        (folder / "references").mkdir()
        save(folder / "references" / "more.md", f"# More of {name}\n")
        save(folder / "logo.png", b"\x89PNG\xff\x00" + name.encode())
    return root


def source(served: Path, lie: str = "nothing", **more: Any) -> McpSkillSource:
    return McpSkillSource("company", command=command_of(served, lie), **more)


def command_of(served: Path, lie: str = "nothing") -> list[str]:
    return [sys.executable, SERVER, str(served), lie, str(served.parent / "requests")]


def configure(folder: Path, settings: str) -> None:
    """Have a server as a repository of a project, or of the user."""
    file = folder / ".skillc" / "skills.toml"
    file.parent.mkdir(exist_ok=True)
    save(file, f'[[repositories]]\nname = "company"\ntype = "mcp"\n{settings}\n')


def requests(served: Path) -> list[str]:
    log = served.parent / "requests"
    return log.read_text().splitlines() if log.exists() else []


def test_listing_brings_entries_alone(served: Path, world: World) -> None:
    """[SEP-2640: host] IDs are below our label, the origin is visible, also in paths; no file is fetched."""
    found = run(source(served).list())
    assert [s.id for s in found] == ["company/acme/billing/refunds", "company/bad", "company/good"]
    assert all("from the MCP server 'company'" in s.description and s.scope == "remote" for s in found)
    assert found[-1].metadata["mcp_uri"] == "skill://good/SKILL.md"
    assert requests(served) == ["server/discover", "skills/list"]
    folder = Path(run(source(served).directory(SkillId("company/acme/billing/refunds"))))
    parts = folder.relative_to(world.home / ".skillc" / "cache" / "mcp").parts
    assert (parts[0], parts[1], parts[-1]) == ("company", "acme%2Fbilling%2Frefunds", "refunds")
    assert "refunds" not in world.ok("list", "--format", "json").stdout


def test_loading_fetches_what_is_needed(served: Path) -> None:
    """[SEP-2640: host] SKILL.md for `load`, the rest for `directory`; each file once."""
    own = source(served)
    document = run(own.load(GOOD))
    assert document.body.splitlines()[0].startswith("> This skill comes from the MCP server 'company'")
    assert document.body.endswith("# good\n\nBody.\n")
    assert requests(served)[-2:] == [
        "skills/get skill://good/SKILL.md",
        "resources/read skill://good/SKILL.md",
    ]
    folder = Path(run(own.directory(GOOD)))
    assert folder.name == "good"
    assert (folder / "references" / "more.md").read_text() == "# More of good\n"
    assert (folder / "logo.png").read_bytes() == b"\x89PNG\xff\x00good"
    assert sum("SKILL.md" in line and "read" in line for line in requests(served)) == 1
    before = requests(served)
    assert (run(own.load(GOOD)), Path(run(own.directory(GOOD)))) == (document, folder)
    assert requests(served) == before
    again = source(served)  # another process would find the files, too
    assert Path(run(again.directory(GOOD))) == folder
    assert not [line for line in requests(served)[len(before) :] if "resources/read" in line]


@pytest.mark.parametrize("what", ["file", "folder", "extra"])
def test_a_cache_that_was_touched(served: Path, world: World, what: str) -> None:
    """[SEP-2640: host] bytes from the cache are verified each time; what was changed is fetched again."""
    own = source(served)
    if what == "file":
        run(own.load(GOOD))
        parts = list((world.home / ".skillc" / "cache" / "mcp" / "company").glob("*/.parts/*"))
        assert len(parts) == 1
        parts[0].write_bytes(b"evil")
    folder = Path(run(own.directory(GOOD)))
    if what == "folder":
        (folder / "SKILL.md").write_bytes(b"evil")
    if what == "extra":
        (folder / ".hidden").write_bytes(b"evil")
    assert "Body." in run(own.load(GOOD)).body
    again = Path(run(own.directory(GOOD)))
    assert sorted(p.name for p in again.rglob("*") if p.is_file()) == ["SKILL.md", "logo.png", "more.md"]
    assert b"evil" not in (again / "SKILL.md").read_bytes()


# A lie about a skill `<lie>/bad`, and words of the reason that it is refused for.
LIES = {
    "digest": "another digest",
    "size": "bytes, not the",
    "other-content": "another digest",
    "longer": "bytes, not the",
    "frontmatter": "another 'license'",
    "description": "another 'description'",
    "name": "not the last part of its URI",
    "no-description": "description is missing",
    "no-digest": "no SHA-256 digest",
    "upper-digest": "no SHA-256 digest",
    "negative": "no size",
    "true-size": "no size",
    "huge": "over 16 MiB",
    "many-files": "512 are the limit",
    "no-main": "is not among its files",
    "dynamic": "nothing could be verified",
    "none": "no list of 'resources'",
    "twice": "a file twice",
    "case": "a file twice",
    "file-and-folder": "where the folder of another one is",
    "elsewhere": "not in the skill's folder",
    "other-scheme": "not in the skill's folder",
    "other-file": "another file was sent",
    "not-base64": "can't be decoded",
    "two-contents": "not sent as one file",
    "no-contents": "not sent as one file",
    "100-megabytes": "over 32 MiB",
} | {f"trick-{number}": "" for number in range(len(TRICKS))}


@pytest.mark.slow
def test_lies_about_a_skill(served: Path, world: World) -> None:
    """[SEP-2640: host] each is refused with its reason, listed or not; others are not.

    A skill whose URI leads elsewhere is not listed, and reported. At the gate each lie is met in one way.
    """
    for lie in (*LIES, *URIS):
        shutil.copytree(served / "bad", served / lie / "bad")
    shutil.rmtree(served / "bad")
    listed, asked = source(served), source(served)
    true = {GOOD, "company/acme/billing/refunds"}
    assert true <= {s.id for s in run(listed.list())} <= true | {f"company/{lie}/bad" for lie in LIES}
    assert listed.quarantined >= len(URIS)
    ways = ((listed, listed.load), (asked, asked.directory))
    for number, (lie, reason) in enumerate(LIES.items()):
        skill_id = SkillId(f"company/{lie}/bad")
        for own, question in sample(ways, 2, start=number % 2):
            with pytest.raises(InvalidSkill) as refused:
                run(question(skill_id))
            assert reason in refused.value.message
            assert any(lie in told.path and reason in told.message for told in run(own.diagnostics())), lie
    for lie in URIS:
        with pytest.raises((InvalidSkill, SkillNotFound)):
            run(listed.load(SkillId(f"company/{lie}/bad")))
    assert all("Body." in run(own.load(GOOD)).body for own in (listed, asked))
    cache = world.home / ".skillc" / "cache"
    assert not [path for path in cache.rglob("*") if path.is_file() and path.read_bytes() == b"x"]


LISTS = {
    "many": "more than 5000 skills",
    "endless": "more than 200 pages",
    "circle": "in circles",
    "cursor": "in circles",
    "no-list": "list of skills is none",
    "undeclared": "does not declare skills",
    "no-newline": "over 32 MiB",
}


@pytest.mark.slow
@each("lie", LISTS)
def test_lies_about_the_list(served: Path, world: World, lie: str) -> None:
    """[SEP-2640: host] [D27] a list that is none is the server's failure; other repositories go on."""
    local = FilesystemSkillSource(world.store)
    world.skill("pdf")
    own = source(served, lie)
    whole = CompositeSkillSource([NamedSource("local", local), NamedSource("company", own)])
    assert [s.id for s in run(whole.list())] == ["pdf"]
    assert LISTS[lie] in whole.failures["company"].message
    with pytest.raises(RepositoryUnavailable, match="unavailable"):
        run(own.list())


@pytest.mark.slow
def test_a_server_that_says_nothing(served: Path) -> None:
    """[SEP-2640: host] [D27] time is bounded, and the process is gone afterwards."""
    own = source(served, "silent", time_out=0.5)
    with pytest.raises(RepositoryUnavailable, match="no whole answer"):
        run(own.list())
    assert _processes(served) == []


@pytest.mark.slow
def test_a_command_leaves_no_process(served: Path, world: World) -> None:
    """[D27] a command that does not wait for a mute server ends it before it leaves."""
    command = json.dumps(command_of(served, "silent"))
    configure(world.home, f"command = {command}\ntimeout_seconds = 1")
    assert "no answer in 1 s" in world.process("repo", "list").stdout
    assert _processes(served) == []


def _processes(served: Path) -> list[Path]:
    """Return the processes that have these folders among their arguments."""
    return [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(served).encode() in _bytes(p)]


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_chatter_rubbish_and_unlisted_skills(served: Path) -> None:
    """[SEP-2640: host] what is no message or entry is passed over; a skill in no list is had by its URI."""
    assert len(run(source(served, "chatter").list())) == 3
    own = source(served, "rubbish")
    assert len(run(own.list())) == 3
    assert len(run(own.diagnostics())) == 5
    own = source(served, "same-path")
    assert [s.id for s in run(own.list())] == ["company/bad", "company/good"]
    own = source(served, "unlisted")
    assert run(own.list()) == []
    assert "Body." in run(own.load(GOOD)).body
    with pytest.raises(SkillNotFound):
        run(own.load(SkillId("company/nowhere")))
    with pytest.raises(SkillNotFound):
        run(own.load(SkillId("good")))


def test_a_skill_that_changes(served: Path) -> None:
    """[SEP-2640: host] a changed file makes a new set: another digest, another folder, no failure."""
    own = source(served)
    run(own.list())
    before, digest = run(own.directory(GOOD)), run(own.digest(GOOD))
    save(served / "good" / "SKILL.md", "---\nname: good\ndescription: About good\n---\nNew body.\n")
    assert "New body." in run(own.load(GOOD)).body or "Body." in run(own.load(GOOD)).body
    fresh = source(served)
    assert "New body." in run(fresh.load(GOOD)).body
    assert run(fresh.digest(GOOD)) != digest
    assert run(fresh.directory(GOOD)) != before
    assert Path(before).is_dir()  # for who was sent there


def test_no_skill_shadows_another(served: Path, world: World) -> None:
    """[SEP-2640: host] a local skill of the same ID wins, wherever the server is configured."""
    skill(world.store, "company/good", "---\nname: good\ndescription: Ours\n---\nOurs.\n")
    local = f'[[repositories]]\nname = "local"\ntype = "filesystem"\npath = "{world.store}"'
    configure(world.home, f"command = {json.dumps(command_of(served))}\n{local}")
    whole = resolve_repositories(SkillsConfig.load(str(world.project)))
    assert run(whole.load(GOOD)).body == "Ours.\n"
    assert {s.id: s.source_name for s in run(whole.list())}[GOOD] == "local"
    told = run(whole.diagnostics())
    assert [(t.source_name, t.code) for t in told if t.path == GOOD] == [("company", "W022")]
    assert "Body." in run(whole.load(BAD)).body
    states = {state.name: state for state in run(whole.states())}
    assert (states["company"].type, states["company"].status, states["company"].skills) == ("mcp", "ok", 2)


def test_permissions_are_not_the_servers_to_give(served: Path) -> None:
    """[SEP-2640: host] `allowed-tools` and the like are ignored."""
    main = "---\nname: good\ndescription: D\nallowed-tools: Bash\nlicense: MIT\n---\nBody.\n"
    save(served / "good" / "SKILL.md", main)
    assert dict(run(source(served).load(GOOD)).extensions) == {"license": "MIT"}


@pytest.mark.slow
def test_a_command_of_a_project_is_not_run(served: Path, world: World) -> None:
    """[SEP-2640: host] what a cloned project configures starts nothing, unless its user says so."""
    configure(world.project, f"command = {json.dumps(command_of(served))}")
    failed = world.fails("E200", "load", "company/good")
    assert "set it in ~/.skillc/skills.toml" in failed.stderr
    assert requests(served) == []
    assert "Body." in world.ok("load", "company/good", env={"SKILLC_ALLOW_COMMANDS": "1"}).stdout


@each(
    "settings",
    ["", 'command = ["x"]\nurl = "http://x"', "command = [7]", 'command = "x y"', "url = 7", "command = []"],
)
def test_settings_that_are_wrong(world: World, settings: str) -> None:
    """[D23a] a server has either a command, which is a list of words, or a URL."""
    configure(world.project, settings)
    world.fails("E071", "browse")


def test_urls_that_are_wrong(world: World) -> None:
    """[D28] a URL that can't be asked is refused; nothing secret is in the words."""
    for url in ("ftp://x/mcp", "http://user:s3cret@x/mcp", "http://", "http://[::1/mcp", "not a url"):
        with pytest.raises(InvalidConfiguration) as failed:
            McpSkillSource("c", url=url)
        assert "s3cret" not in failed.value.text()
    with pytest.raises(InvalidConfiguration):
        McpSkillSource("c")
    with pytest.raises(RepositoryUnavailable, match="no connection"):
        run(McpSkillSource("c", url="http://127.0.0.1:9/mcp").list())
    with pytest.raises(RepositoryUnavailable, match="can't be started"):
        run(McpSkillSource("c", command=["/no/such/program"]).list())


@pytest.mark.slow
def test_our_own_server_over_http(world: World) -> None:
    """[SEP-2640: host] [SURFACES: Serving] `skc mcp --http` with a token is such a repository."""
    skill(world.store, "refunds")
    save(world.store / "refunds" / "email.md", "# E-mail\r\nDear ü\n")
    with over_http(world, token="s3cret") as (url, _):
        own = McpSkillSource("Our Company", url=url, auth=BearerAuth("s3cret"))
        assert "our-company/refunds" in [s.id for s in run(own.list())]
        engine = DefaultSkillEngine(own)
        assert run(engine.read_file("our-company/refunds", "email.md")) == "# E-mail\r\nDear ü\n"
        with pytest.raises(RepositoryUnavailable) as failed:
            run(McpSkillSource("c", url=url, auth=BearerAuth("wrong")).list())
        assert "credentials" in failed.value.message


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\n\r\ndata: {"
SPACES = itertools.repeat(b" " * (1 << 20))
# What a server answers, which may lead to another one, and words of the reason that it is refused for.
HTTP_LIES: list[tuple[Callable[[str], Chunks], str]] = [
    (lambda other: [page(gzip.compress(bytes(1 << 20)), Content_Encoding="gzip")], "packed"),
    (lambda other: itertools.chain([HEAD % b"application/json"], SPACES), "over 32 MiB"),
    (lambda other: itertools.chain([HEAD % b"text/event-stream"], SPACES), "over 32 MiB"),
    (lambda other: [page(b"data: {", 500)], ""),
    (lambda other: [page(b"", 307, Location=other)], "which is not followed; name that address"),
    (lambda other: [page(b"data: {", Content_Type="application/json")], ""),
]


@pytest.mark.slow
def test_lies_over_http(world: World, stub: Stub) -> None:
    """[SEP-2640: host] [D28] answers are bounded and never unpacked; credentials stay with their server."""
    other = Stub()

    def answer(lie: Callable[[str], Chunks], request: Request) -> Chunks:
        return lie(f"{other.url}/other")

    try:
        for lie, reason in HTTP_LIES:
            stub.requests.clear()
            stub.answer = partial(answer, lie)
            own = McpSkillSource("c", url=f"{stub.url}/mcp", auth=BearerAuth("s3cret"), time_out=10)
            with pytest.raises(RepositoryUnavailable) as failed:
                run(own.list())
            assert reason in failed.value.message
            assert "s3cret" not in failed.value.message + repr(own)
            sent = stub.requests[0]
            assert (sent.path, sent.headers["authorization"]) == ("/mcp", "Bearer s3cret")
    finally:
        other.close()
    assert not [request for request in other.requests if "authorization" in request.headers]


@pytest.mark.slow
def test_agents_that_only_read_folders(world: World, served: Path) -> None:
    """[SEP-2640: host] `skc build company/good --target cursor`: read like a local one, the origin told."""
    configure(world.home, f"command = {json.dumps(command_of(served))}")
    world.ok("build", "company/good", "--target", "cursor")
    stub = (world.home / ".cursor/skills/good/SKILL.md").read_text()
    assert "skc show company/good" in stub
    assert "from the repository 'company'" in stub
    assert "More of good" in world.ok("show", "company/good", "--section", "More of good").stdout
    assert "references/more.md" in world.ok("search", "company/good", "more").stdout
    world.fails("E001", "show", "company/missing", "--section", "x")

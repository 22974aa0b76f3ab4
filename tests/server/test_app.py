"""The HTTP API over a real server on loopback: reading, ETags, turns, errors."""

from __future__ import annotations

import builtins
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from skillc.engine import DefaultSkillEngine, EngineOptions
from skillc.errors import InvalidConfiguration, InvalidSkill, PathEscapes, RepositoryUnavailable
from skillc.library.sources import GitSkillSource, HttpSkillSource
from skillc.library.sources.filesystem import FilesystemSkillSource
from skillc.library.sources.source import (
    ALL,
    InMemorySkillSource,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillScope,
    SkillSource,
)
from skillc.remotes.git import GitSkillConfig
from skillc.skills import SkillId
from skillc.workspace import Workspace
from tests.conftest import World
from tests.support.cases import each
from tests.support.servers import live
from tests.support.skills import run, skill


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    """The document's example of skill IDs, served to all tests that only read."""
    root = tmp_path_factory.mktemp("shelf")
    for path in ("email-extractor", "fiction-extractor", "medical/diagnosis", "medical/imaging/ct-scan"):
        skill(root, f"extraction/{path}")
    skill(root, "formatting/markdown-output")
    skill(root, "pdf-processing")
    (root / "extraction" / "COLLECTION.md").write_text("Entity and relationship extraction\n")
    with live(FilesystemSkillSource(root)) as client:
        yield client


def ids(response: httpx2.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [skill["id"] for skill in response.json()["skills"]]


def error(response: httpx2.Response, status: int, code: str) -> str:
    """The message of an error: a problem of RFC 9457, with our code."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    value = response.json()
    assert list(value) == ["type", "title", "status", "detail", "error"]
    assert (value["status"], value["detail"]) == (status, value["error"]["message"])
    assert list(value["error"]) == ["code", "message"]
    assert value["error"]["code"] == code
    message: str = value["error"]["message"]
    assert "Traceback" not in message
    return message


def test_list(api: httpx2.Client) -> None:
    """[LIB: Wire Format (Meerkat Skills API)] the whole list, a collection, a search; empty means none."""
    everything = ids(api.get("/skills"))
    assert everything == sorted(everything)
    assert len(everything) == 6
    assert api.get("/skills").json()["skills"][0] == {
        "id": "extraction/email-extractor",
        "name": "email-extractor",
        "description": "About email-extractor",
        "scope": "project",
        "metadata": {},
    }
    assert ids(api.get("/skills?collection=&query=&limit=&cursor=")) == everything
    assert ids(api.get("/skills?collection=extraction/medical")) == everything[2:4]
    assert ids(api.get("/skills", params={"collection": "/extraction/", "query": "FICTION"})) == [
        everything[1]
    ]
    assert ids(api.get("/skills?collection=extract")) == []


def test_pages(api: httpx2.Client) -> None:
    """[LIB: Wire Format (Meerkat Skills API)] pages make the same list; `%2F` and `/` are the same; 404
    and 400.
    """
    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        answer = api.get("/skills", params={"limit": 4, "cursor": cursor})
        found += ids(answer)
        cursor = answer.json().get("next_cursor")
    assert found == ids(api.get("/skills"))
    assert "next_cursor" not in api.get("/skills?limit=6").json()
    for bad in ("0", "-1", "x", "1001", "99999999999", "1.5", "٣"):
        error(api.get("/skills", params={"limit": bad}), 400, "E100")
    error(api.get("/skills?cursor=../x"), 400, "E070")
    one = api.get("/skills/extraction%2Fmedical%2Fdiagnosis")
    assert one.json()["body"] == "# diagnosis\n\nBody.\n"
    assert one.content == api.get("/skills/extraction/medical/diagnosis").content
    assert error(api.get("/skills/not/there"), 404, "E001") == "skill 'not/there' not found"
    assert error(api.get("/skills/extraction"), 404, "E001")
    for bad in (
        *("/skills/", "/skills/..%2F..%2Fetc", "/skills/UPPER", "/skills/a//b", "/skills/%00"),
        "/skills/%FF",
    ):
        error(api.get(bad), 400, "E070")


def test_etags(shelf: Path) -> None:
    """[D28] 304 as long as nothing changes, for tags weak or among others; another one when it does."""
    skill(shelf, "a")
    paths = ("/skills", "/skills?collection=extraction", "/skills/a", "/skill-collections")
    with live(FilesystemSkillSource(shelf)) as api:
        tags = {path: api.get(path).headers["etag"] for path in paths}
        for path, tag in tags.items():
            for sent in (tag, f"W/{tag}", f'"x", {tag}', "*"):
                again = api.get(path, headers={"If-None-Match": sent})
                assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
            assert api.get(path, headers={"If-None-Match": '"x"'}).content == api.get(path).content != b""
        (shelf / "a" / "SKILL.md").write_text("---\nname: a\ndescription: new\n---\nchanged, longer\n")
        skill(shelf, "extraction/new")
        for path, tag in tags.items():
            changed = api.get(path, headers={"If-None-Match": tag})
            assert changed.status_code == 200
            assert changed.headers["etag"] != tag


def test_the_same_as_the_local_source(shelf: Path) -> None:
    """[LIB: Wire Format (Meerkat Skills API)] [D28] list, load and collections follow the folder's."""
    text = '---\nname: odd\ndescription: "Ünï </skill> 🦊"\nlicense: MIT\nmetadata:\n  n: 3\n  v: "1"\n'
    skill(
        shelf,
        "deep/er/odd",
        text + "requires_capabilities: [shell, net]\nx: [1, .nan, null]\n---\n\n# É\r\n\x01\n",
    )
    local = FilesystemSkillSource(shelf)
    with live(local) as api:
        remote = HttpSkillSource(str(api.base_url), cache_ttl=0.0)
        skills = run(local.list())
        assert run(remote.list()) == skills
        listed = run(remote.list())
        assert [*map(id, run(remote.list()))] == [*map(id, listed)]  # nothing was sent again
        assert run(remote.collections()) == run(local.collections())
        for found in skills:
            assert run(remote.load(found.id)) == run(local.load(found.id))
        odd = run(remote.load(SkillId("deep/er/odd")))
        assert odd.extensions == {"license": "MIT", "x": [1, ".nan", None]}
        for filter in (
            SkillFilter(collection="extraction"),
            SkillFilter(query="odd"),
            SkillFilter(query="ünï"),
        ):
            assert run(remote.list(filter)) == run(local.list(filter))
        skill(shelf, "new")
        assert len(run(remote.list())) == len(skills) + 1


def test_what_an_engine_hides_stays_hidden(shelf: Path) -> None:
    """[D32] `deny` counts for who reads, too; capabilities are those of the reader's own engine."""
    skill(shelf, "needs", "---\nname: needs\ndescription: x\nrequires_capabilities: shell\n---\nx\n")
    engine = DefaultSkillEngine(FilesystemSkillSource(shelf), EngineOptions(deny=("extraction",)))
    with live(engine) as api:
        assert ids(api.get("/skills")) == ["formatting/markdown-output", "needs", "pdf-processing"]
        assert [c["path"] for c in api.get("/skill-collections").json()["collections"]] == ["formatting"]
        error(api.get("/skills/extraction/email-extractor"), 404, "E001")
        assert api.get("/skills/needs").json()["requires_capabilities"] == ["shell"]
        turn = api.post("/turns", json={"message": "x", "preload_skills": ["needs"]})
        assert "needs the capability 'shell'" in error(turn, 422, "E001")


def test_turns(api: httpx2.Client) -> None:
    """[D31] [LIB: Failure semantics] what a model would get; a reference that is not found is an event."""
    given: dict[str, Any] = {
        "message": "/pdf-processing go",
        "preload_skills": ["formatting/markdown-output"],
        "skill_references": ["not/there", "../x"],
    }
    turn = api.post("/turns", json=given).json()
    assert list(turn) == ["system", "message", "events", "notices"]
    assert turn["system"].startswith("<available_skills>")
    assert turn["system"].endswith("</skill>")
    assert turn["message"] == '<skill id="pdf-processing">\n# pdf-processing\n\nBody.\n</skill>\n\ngo'
    kinds = [event["type"] for event in turn["events"]]
    assert kinds == ["SkillsResolved", "SkillResolutionFailed", "SkillResolutionFailed"]
    assert turn["notices"] == ["skill 'not/there' not found", "invalid skill id: '../x'"]


def test_capabilities_of_a_turn(shelf: Path) -> None:
    """[D58] a client names the capabilities that its agent has; they add to those of the server."""
    text = "---\nname: needs\ndescription: x\nrequires_capabilities: [shell, net]\n---\nx\n"
    skill(shelf, "needs", text)
    options = EngineOptions(capabilities=frozenset(["net"]))
    with live(DefaultSkillEngine(FilesystemSkillSource(shelf), options)) as api:

        def turn(**more: Any) -> dict[str, Any]:
            answer: dict[str, Any] = api.post("/turns", json={"message": "/needs go"} | more).json()
            return answer

        for more in ({}, {"capabilities": None}, {"capabilities": ["net", "Shell"]}):
            without = turn(**more)
            assert "needs" not in without["system"]
            assert without["notices"] == [
                "skill 'needs' not found: it needs the capability 'shell', which is not available"
            ]
        given = turn(capabilities=["shell"], preload_skills=["needs"])
        assert '<skill id="needs" active="true">' in given["system"]
        assert given["message"].endswith("</skill>\n\ngo")
        assert "needs" not in turn()["system"]  # it was for that turn
        for bad in ("shell", [1], {"shell": True}, ["x"] * 101):
            error(api.post("/turns", json={"message": "x", "capabilities": bad}), 422, "E100")


def test_switched_off(world: World) -> None:
    """[D56] no skill is listed, found or loaded, and a turn passes the text through."""
    world.skill("pdf")
    (world.project / ".skillc" / "skills.toml").write_text("enabled = false\n")
    with live(Workspace(str(world.project)).engine()) as api:
        assert ids(api.get("/skills")) == ids(api.get("/skills?query=pdf")) == []
        assert api.get("/skill-collections").json() == {"collections": []}
        assert api.get("/search?q=pdf").json() == {"query": "pdf", "results": []}
        assert "switched off" in error(api.get("/skills/pdf"), 404, "E001")
        given = {"message": "/pdf go", "preload_skills": ["pdf"], "skill_references": ["pdf", "nope"]}
        turn = api.post("/turns", json=given | {"capabilities": ["shell"]}).json()
        assert turn == {"system": "", "message": "/pdf go", "events": [], "notices": []}


def test_none_and_empty_mean_none(api: httpx2.Client) -> None:
    """[LIB: Wire format alignment] [D31] null, [] and nothing are the same; half a character is answered,
    too.
    """
    given: list[dict[str, Any]] = [
        {},
        {"preload_skills": None, "skill_references": None},
        {"preload_skills": [], "skill_references": []},
    ]
    answers = {api.post("/turns", json={"message": "go"} | more).text for more in given}
    assert len(answers) == 1
    turn = json.loads(answers.pop())
    assert (turn["message"], turn["events"], turn["notices"]) == ("go", [], [])
    assert api.post("/turns", content=b'{"message": "a\\ud800b"}').json()["message"] == "a?b"


@each(
    ("content", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"\xff", 400),
        (b"[" * 100_000, 400),
        (b"[]", 422),
        (b"null", 422),
        (b"{}", 422),
        (b'{"message": 3}', 422),
        (b'{"message": "x", "preload_skills": "a"}', 422),
        (b'{"message": "x", "skill_references": [3]}', 422),
        (b'{"message": "x", "skill_references": [' + b'"a",' * 100 + b'"a"]}', 422),
        (b'{"message": "' + b"x" * (1 << 20) + b'"}', 413),
    ],
)
def test_bad_turns(api: httpx2.Client, content: bytes, status: int) -> None:
    """[LIB: Wire format alignment] not JSON 400, not the right shape 422, too much 413."""
    error(api.post("/turns", content=content), status, "E100")
    assert api.get("/healthz").json() == {"status": "ok"}


@each(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/nope", 404),
        ("POST", "/skills", 405),
        ("DELETE", "/skills/pdf-processing", 405),
        ("PUT", "/skill-collections", 405),
        ("GET", "/turns", 405),
        ("BREW", "/healthz", 405),
    ],
)
def test_what_is_not_there(api: httpx2.Client, method: str, path: str, status: int) -> None:
    """[LIB: Wire Format (Meerkat Skills API)] reading only; errors are JSON, 405 says what is allowed."""
    answer = api.request(method, path)
    error(answer, status, "E100")
    assert ("allow" in answer.headers) == (status == 405)


class Broken(SkillSource):
    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        raise self.failure

    async def load(self, skill_id: SkillId) -> SkillDocument:
        raise self.failure


def test_sources_that_fail(caplog: pytest.LogCaptureFixture) -> None:
    """[D27] 503 for a repository that is away, 500 without a word of what it was; one line in the log."""
    for failure, status, code in (
        (RepositoryUnavailable("company", "status 500"), 503, "E200"),
        (ValueError("s3cr3t\nsecond line"), 500, "E999"),
    ):
        with live(Broken(failure)) as api:
            for path in ("/skills", "/skills/a", "/skill-collections"):
                assert "s3cr3t" not in error(api.get(path), status, code)
            turn = {"message": "x", "preload_skills": ["a"]}
            error(api.post("/turns", json=turn), status, code)
            assert api.get("/healthz").status_code == 200
    lines = [record for record in caplog.records if record.name == "skillc.server"]
    messages = [record.getMessage() for record in lines]
    assert messages[0] == "GET /skills: error[E200]: repository 'company' unavailable: status 500"
    assert messages[len(messages) // 2] == "GET /skills: error[E999]: ValueError: s3cr3t\\nsecond line"
    assert all(record.exc_info is None and record.levelno == logging.ERROR for record in lines)
    assert "Traceback" not in caplog.text


@pytest.mark.slow
def test_no_paths_of_the_server(world: World) -> None:
    """[SURFACES: Serving] neither answers nor headers name a path here, whatever goes wrong."""
    fine = skill(world.store, "fine", "---\nname: fine\ndescription: x\nhomepage: y\n---\nx\n")
    skill(world.store, "out").joinpath("link").symlink_to(world.home)
    (world.store / "folder" / "SKILL.md").mkdir(parents=True)
    (world.store / "loop").symlink_to(world.store / "loop")
    gone = world.root / "gone"
    bad: list[DefaultSkillEngine | SkillSource] = [
        Workspace(str(world.project)).engine(),
        FilesystemSkillSource(gone, required=True),
        GitSkillSource(GitSkillConfig(str(gone), cache_dir=world.root / "cache")),
        Broken(PermissionError(13, "Permission denied", str(fine / "SKILL.md"))),
        Broken(InvalidSkill(str(fine))),
        Broken(PathEscapes(str(fine))),
        Broken(InvalidConfiguration(str(fine), "x")),
    ]
    paths = [
        *("/skills", "/skills?limit=1", "/skill-collections", "/search?q=fine", "/search?q="),
        "/skills/%00",
    ]
    paths += [f"/skills/{name}" for name in ("fine", "out", "folder", "loop", "gone", "..%2F..%2Ffine")]
    for engine in bad:
        with live(engine) as api:
            answers = [api.get(path) for path in paths] + [api.put(path) for path in paths[-2:]]
            for name in ("fine", "out", "folder", "loop", "gone"):
                for key in ("preload_skills", "skill_references"):
                    answers.append(api.post("/turns", json={"message": f"/{name} x", key: [name]}))
        for answer in answers:
            assert str(world.root) not in answer.text + str(answer.headers), answer.url
            assert answer.status_code != 200 or engine is bad[0] or "/turns" in str(answer.url)


def test_memory(caplog: pytest.LogCaptureFixture) -> None:
    """[LIB: Skill Sources (meerkat-skills)] any source will do, and many may ask at once."""
    builtin = SkillDescriptor(SkillId("a"), description="x", scope=SkillScope.BUILTIN)
    odd: dict[Any, Any] = {"self": object, (1, 2): 3}
    source = InMemorySkillSource([SkillDocument(builtin, "Hello", odd)])
    with live(source) as api:
        found: list[str] = []
        threads = [
            threading.Thread(target=lambda: found.append(api.get("/skills/a").json()["body"]))
            for _ in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == ["Hello"] * 20
        remote = HttpSkillSource(str(api.base_url))
        assert run(remote.load(SkillId("a"))).descriptor == builtin
    assert caplog.text == ""


def test_search_in_a_part(world: World) -> None:
    """[SURFACES: Serving] [LIB: SkillEngine trait (revised)] limits, copies and typos as with `skc find`."""
    for name in ("soup", "food/soup", "food/stew"):
        tag = "tags: hot\n" if name == "food/stew" else ""
        skill(world.store, name, f"---\ndescription: Cook {name[-4:]}\n{tag}---\n# Broth\n")
    with live(FilesystemSkillSource(world.store)) as client:

        def ids(**parameters: str) -> list[str]:
            found = client.get("/search", params={"q": "broth", **parameters}).json()["results"]
            return [result["id"] for result in found]

        assert sorted(ids()) == ["food/soup", "food/stew"]
        assert sorted(ids(all="true")) == ["food/soup", "food/stew", "soup"]
        assert (ids(tag="hot"), ids(tag="cold")) == (["food/stew"], [])
        assert (ids(collection="food", all="1", tag=""), ids(capability="x")) == (
            ["food/soup", "food/stew"],
            [],
        )
        assert client.get("/search", params={"q": "broth", "all": "maybe"}).status_code == 400
        unknown = client.get("/search", params={"q": "broth", "repository": "other"})
        assert (unknown.status_code, unknown.json()["error"]["code"]) == (400, "E100")
        told = client.get("/search", params={"q": "brotth"}).json()
        assert told["corrections"] == {"brotth": "broth"}
        assert told["results"][0]["copies"] == [{"id": "soup", "source_name": ""}]

"""Skills of a server: the cache, what a bad server can do, who gets to see credentials."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import re
import threading
import traceback
from collections.abc import Iterable
from typing import Any

import pytest

from skillc.errors import InvalidConfiguration, RepositoryUnavailable, SkillNotFound
from skillc.library.sources import HttpSkillSource
from skillc.library.sources.composite import CompositeSkillSource, NamedSource
from skillc.library.sources.source import (
    SkillCollection,
    SkillDescriptor,
    SkillFilter,
    SkillScope,
    SkillSource,
)
from skillc.remotes import Failure, cache, skills_api
from skillc.remotes.http import BearerAuth, HeaderAuth, session as client
from skillc.skills import SkillId
from tests.support.cases import each
from tests.support.http import LIST, Chunks, Request, Stub, entry, page
from tests.support.skills import run
from tests.support.sources import memory

SECRET = "s3cr3t-0123456789"


def small_api(request: Request) -> Chunks:
    """A server as it should be."""
    if request.path == "/api/skills":
        return [page(LIST)]
    if request.path == "/api/skills/extraction%2Femail":
        return [page(entry("extraction/email", metadata={"a": "b"}, body="# Email\n"))]
    if request.path == "/api/skill-collections":
        told = {"path": "extraction", "description": "Entities", "count": 8}
        return [page({"collections": [told, {"path": 3}, "x"]})]
    return [page({"error": {}}, 404)]


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(cache, "time", made)
    return made


def ids(skills: Iterable[SkillDescriptor]) -> list[str]:
    return [str(skill.id) for skill in skills]


def failure(source: HttpSkillSource) -> str:
    with pytest.raises(RepositoryUnavailable) as caught:
        run(source.list())
    assert caught.value.code == "E200"
    assert "\n" not in caught.value.message
    return caught.value.message


def test_one_list_for_all_filters(stub: Stub) -> None:
    """[LIB: Cache design] [LIB: Cache refresh rule] the whole list is fetched, once; filters are ours."""
    stub.answer = small_api
    source = HttpSkillSource(f"{stub.url}/api/")
    assert isinstance(source, SkillSource)
    assert ids(run(source.list(SkillFilter(collection="extraction")))) == ["extraction/email"]
    assert ids(run(source.list())) == ["extract/it", "extraction/email", "pdf"]
    assert ids(run(source.list(SkillFilter(query="about pdf")))) == ["pdf"]
    assert ids(run(source.list(SkillFilter(collection="nowhere")))) == []
    assert stub.paths() == ["/api/skills"]
    assert (source.kind, source.status, source.error) == ("http", "ok", None)


def test_the_wire_format(stub: Stub) -> None:
    """[LIB: Wire Format (Meerkat Skills API)] [D28] IDs with %2F, documents kept by ID, 404 is not found."""
    stub.answer = small_api
    source = HttpSkillSource(f"{stub.url}/api", name="company")
    for _ in range(2):
        document = run(source.load(SkillId("extraction/email")))
        assert (document.body, dict(document.descriptor.metadata)) == ("# Email\n", {"a": "b"})
        assert (document.descriptor.scope, document.descriptor.source_name) == (SkillScope.PROJECT, "")
    assert stub.paths() == ["/api/skills/extraction%2Femail"]
    with pytest.raises(SkillNotFound, match="skill 'not/there' not found"):
        run(source.load(SkillId("not/there")))


def test_collections(stub: Stub) -> None:
    """[D26] [LIB: Wire Format (Meerkat Skills API)] the server's words, counts of what is listed."""
    stub.answer = small_api
    source = HttpSkillSource(f"{stub.url}/api")
    expected = [SkillCollection("extract", "1 skills", 1), SkillCollection("extraction", "Entities", 1)]
    assert run(source.collections()) == expected
    assert run(source.collections()) == expected
    assert sorted(stub.paths()) == ["/api/skill-collections", "/api/skills"]


@pytest.mark.parametrize(("status", "state"), [(404, "ok"), (500, "stale")])
def test_collections_without_words(stub: Stub, status: int, state: str) -> None:
    """[D26] [D28] a server that has none, or fails to tell, takes nothing away but the words."""
    stub.answer = lambda r: [page(LIST) if r.path == "/skills" else page({}, status)]
    source = HttpSkillSource(stub.url)
    for _ in range(2):
        assert [c.description for c in run(source.collections())] == ["1 skills", "1 skills"]
    assert (source.status, len(stub.requests)) == (state, 2)


def test_etags(stub: Stub, clock: Clock) -> None:
    """[D28] list and documents are revalidated; 304 renews what is there, a new ETag replaces it."""
    tag = '"one"'

    def answer(request: Request) -> Chunks:
        if request.headers.get("if-none-match") == tag:
            return [page(b"", 304, ETag=tag)]
        body = entry("a", body=tag) if request.path == "/skills/a" else {"skills": [entry("a", name="a")]}
        return [page(body, ETag=tag)]

    stub.answer = answer
    source = HttpSkillSource(stub.url)
    first = run(source.list()), run(source.load(SkillId("a")))
    clock.now += 61
    assert (run(source.list()), run(source.load(SkillId("a")))) == first
    assert [r.headers.get("if-none-match") for r in stub.requests] == [None, None, '"one"', '"one"']
    assert run(source.load(SkillId("a"))) == first[1]
    assert len(stub.requests) == 4  # renewed for another TTL
    tag = '"two"'
    clock.now += 61
    assert run(source.load(SkillId("a"))).body == '"two"'


def test_refresh_now(stub: Stub) -> None:
    """[D28] the list is revalidated with its ETag, and a failure leaves the last good one."""
    source = HttpSkillSource(stub.url, cache_ttl=3600)
    assert run(source.cached_count()) is None
    stub.gives(page(LIST, ETag='"1"'))
    assert run(source.refresh()) is True
    assert run(source.cached_count()) == 3

    def unchanged(request: Request) -> list[bytes]:
        return [page(b"", 304)] if request.headers.get("if-none-match") == '"1"' else [page({}, 500)]

    stub.answer = unchanged
    assert run(source.refresh()) is False
    assert len(stub.requests) == 2
    assert source.status == "ok"
    stub.gives(page({"skills": [entry("one")]}))
    assert len(run(source.list())) == 3  # its time has not come
    assert run(source.refresh()) is True
    assert run(source.cached_count()) == 1
    stub.gives(page({}, 500))
    assert run(source.refresh()) is False
    assert (source.status, source.error, run(source.cached_count())) == ("stale", "status 500", 1)


def test_refresh_of_what_never_answered(stub: Stub) -> None:
    """[D28] a failure of the first refresh leaves nothing, and a 304 to nothing is a failure."""
    stub.gives(page({}, 500))
    source = HttpSkillSource(stub.url)
    with pytest.raises(RepositoryUnavailable, match="status 500"):
        run(source.refresh())
    assert run(source.cached_count()) is None
    stub.gives(page(b"", 304))
    assert failure(HttpSkillSource(stub.url, name="odd")).endswith("unavailable: status 304")


def test_stale(stub: Stub, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    """[D28] [LIB: Cache design] the last good list is served with a warning, and tried again later."""
    stub.gives(page(LIST))
    source = HttpSkillSource(stub.url, name="company")
    good = run(source.list())
    stub.gives(page(b"oops", 500))
    clock.now += 61
    for _ in range(3):
        assert run(source.list()) == good
    assert len(stub.requests) == 2
    assert caplog.record_tuples == [
        ("skillc.library", logging.WARNING, "repository 'company': skills not refreshed: status 500")
    ]
    assert (source.status, source.error) == ("stale", "status 500")
    assert [(d.code, d.severity) for d in run(source.diagnostics())] == [("E200", "warning")]
    stub.gives(page({"skills": []}))
    clock.now += 61
    assert run(source.list()) == []
    assert (source.status, source.error, run(source.diagnostics())) == ("ok", None, [])


def test_stale_documents(stub: Stub, clock: Clock) -> None:
    """[D28] the same for documents; one that is gone is gone, and one that was never there is E200."""
    stub.gives(page(entry("a", body="good")))
    source = HttpSkillSource(stub.url)
    run(source.load(SkillId("a")))
    stub.gives(page(b"<html>", 200))
    clock.now += 61
    assert run(source.load(SkillId("a"))).body == "good"
    assert source.status == "stale"
    with pytest.raises(RepositoryUnavailable, match="not JSON"):
        run(source.load(SkillId("b")))
    stub.gives(page(b"", 404))
    clock.now += 61
    with pytest.raises(SkillNotFound):
        run(source.load(SkillId("a")))
    assert source.status == "ok"


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
DRIP: tuple[bytes | float, ...] = (b"x", 0.02) * 1000
REDIRECT = b"HTTP/1.1 302 Found\r\nConnection: close\r\nContent-Length: 0\r\n"
BAD: dict[str, tuple[tuple[bytes | float, ...], str]] = {
    "500": ((page(b"Traceback", 500),), "status 500"),
    "404": ((page(b"", 404),), "status 404"),
    "401": ((page(b"", 401),), "status 401"),
    "204": ((page(b"", 204),), "status 204"),
    "never answers": ((30.0,), "no answer in 0.2 s"),
    "half a head": ((HEAD, 30.0), "no answer in 0.2 s"),
    "drips its head": ((HEAD + b"X-Drip: ", *DRIP), "no whole answer in 0.4 s"),
    "drips its body": ((HEAD + b"Content-Length: 9999\r\n\r\n", *DRIP), "no whole answer in 0.4 s"),
    "ends in the head": ((HEAD,), "broke off"),
    "ends in the body": ((HEAD + b'Content-Length: 99\r\n\r\n{"skills"',), "broke off"),
    "ends at once": ((b"",), "broke off"),
    "is no HTTP": ((b"SSH-2.0-OpenSSH_9.2\r\n",), "broke off"),
    "HTML": ((page(b"<html>Log in", Content_Type="text/html"),), "not JSON"),
    "half JSON": ((page(b'{"skills": ['),), "not JSON"),
    "no UTF-8": ((page(b'{"skills": "\xff"}'),), "not JSON"),
    "deep": ((page(b"[" * 100_000),), "not JSON"),
    "an array": ((page([]),), "no list of 'skills'"),
    "an object": ((page({"skills": {}}),), "no list of 'skills'"),
    "huge": ((HEAD + b"\r\n", *[b" " * 65536] * 40), "over 1 MiB"),
    "a bomb": ((page(gzip.compress(b" " * (8 << 20)), Content_Encoding="gzip"),), "over 1 MiB"),
    "half a zip": ((page(gzip.compress(b"{}")[:-4], Content_Encoding="gzip"),), "can't be unpacked"),
    "no zip": ((page(b"{}", Content_Encoding="gzip"),), "can't be unpacked"),
    "odd packing": ((page(b"{}", Content_Encoding="br"),), "was not asked for"),
    "circles": ((REDIRECT + b"Location: /skills\r\n\r\n",), "more than 3 redirects"),
    "to a file": ((REDIRECT + b"Location: file:///etc/passwd\r\n\r\n",), "no URL"),
    "to nowhere": ((REDIRECT + b"\r\n",), "no URL"),
    "to nonsense": ((REDIRECT + b"Location: http://[::bad/\r\n\r\n",), "not valid HTTP"),
}


@pytest.mark.slow
@each("case", BAD)
def test_bad_servers(stub: Stub, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D28] whatever a server does, it is E200 with a short reason, soon; good answers before it stay."""
    monkeypatch.setattr(skills_api, "MAX_LIST", 1 << 20)
    chunks, reason = BAD[case]
    time_out = 0.2 if reason.endswith(" s") else 10.0
    stub.gives(*chunks)
    message = failure(HttpSkillSource(stub.url, time_out=time_out, name="bad"))
    assert message.startswith("repository 'bad' unavailable: ")
    assert reason in message
    stub.gives(page(LIST))
    source = HttpSkillSource(stub.url, cache_ttl=0.0)
    good = run(source.list())
    source._remote.session.time_out = time_out
    stub.gives(*chunks)
    assert run(source.list()) == good
    assert source.status == "stale"


def test_nobody_there() -> None:
    """[D28] refused, unknown and wrong URLs without their secrets; no redirect from https to http."""
    assert failure(HttpSkillSource("http://127.0.0.1:1", name="x")).endswith(": Connection refused")
    unknown = failure(HttpSkillSource("http://nowhere.invalid/x", name="x"))
    assert re.search(r": can't reach nowhere\.invalid \(.+\); is this computer online\?$", unknown)
    for url in (
        *("", "skills", "ftp://x", "http://", "http://[x", "http://x:99999"),
        f"http://x/?token={SECRET}",
    ):
        with pytest.raises(InvalidConfiguration, match="the URL") as caught:
            HttpSkillSource(url, name="x")
        assert SECRET not in caught.value.text()
    with pytest.raises(Failure, match="from https to http"):
        client.redirect_target("https://example.com/skills", "http://example.com/")


def test_packed_answers(stub: Stub) -> None:
    """[LIB: Wire Format (Meerkat Skills API)] [D25] gzip is asked for and understood, in chunks; a body
    may be as large as a SKILL.md.
    """
    packed = gzip.compress(json.dumps(LIST).encode())
    chunked = HEAD + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    stub.gives(chunked, *[b"1\r\n%c\r\n" % byte for byte in packed], b"0\r\n\r\n")
    assert len(run(HttpSkillSource(stub.url).list())) == 3
    assert stub.requests[0].headers["accept-encoding"] == "gzip"
    stub.gives(page(entry("a", body="\x01" * (1 << 20))))
    assert len(run(HttpSkillSource(stub.url).load(SkillId("a"))).body) == 1 << 20


def test_entries_that_are_wrong(stub: Stub) -> None:
    """[LIB: Wire Format (Meerkat Skills API)] [D30a] they are skipped and told of; the others are served."""
    wrong = [
        entry("../etc"),
        entry("x" * 5000),
        entry(""),
        {"name": "no-id", "description": "x"},
        {"id": "no-description", "name": "no-description"},
        entry("typed", description=3),
        entry("typed", name=[]),
        entry("typed", scope={}),
        entry("typed", metadata=[1]),
        entry("typed", requires_capabilities="shell"),
        "text",
        None,
        entry("good"),
    ]
    fine = [
        entry("good"),
        {"id": "few/fields", "description": ""},
        entry("odd", scope="galactic", metadata={"n": 3}, requires_capabilities=["shell"]),
        entry("half", description="a\ud800b"),
    ]
    stub.gives(page({"skills": fine + wrong, "next_cursor": None}))
    source = HttpSkillSource(stub.url)
    found = {str(skill.id): skill for skill in run(source.list())}
    assert list(found) == ["few/fields", "good", "half", "odd"]
    assert found["odd"].scope is found["few/fields"].scope is SkillScope.REMOTE
    assert (found["odd"].metadata, found["odd"].requires_capabilities) == ({"n": "3"}, ("shell",))
    assert found["half"].description == "a?b"
    told = run(source.diagnostics())
    assert (len(told), source.quarantined) == (len(wrong), len(wrong))
    assert [d.code for d in told] == ["E070"] * 3 + ["E010"] * 10
    assert told[0].path == "skills[4]"
    assert told[4].message == "not a valid skill: 'skills[8]' ('description' is missing)"
    assert all(len(d.message) < 200 for d in told)


@each(
    ("body", "reason"),
    [
        (entry("a", body="x" * (1 << 20) + "x"), "the body of 'a' is over 1 MiB"),
        (entry("b", body="x"), "another skill"),
        (entry("a"), "'body' is missing"),
        (entry("a", body=["x"]), "'body' is not text"),
        ([], "not an object"),
    ],
)
def test_documents_that_are_wrong(stub: Stub, body: Any, reason: str) -> None:
    """[D28] a body over 1 MiB, another skill, or no body at all is refused."""
    stub.gives(page(body))
    with pytest.raises(RepositoryUnavailable, match=reason):
        run(HttpSkillSource(stub.url).load(SkillId("a")))


def test_50_threads_one_request(stub: Stub, clock: Clock) -> None:
    """[D28] one refresh at a time: threads with loops of their own, at expiry, get one answer."""
    stub.gives(page(LIST))
    source = HttpSkillSource(stub.url)
    run(source.list())
    clock.now += 61
    stub.gives(0.2, page({"skills": [entry("new")]}))
    together = threading.Barrier(50)
    found: list[list[str]] = []

    def ask() -> None:
        together.wait()
        found.append(ids(run(source.list())))

    threads = [threading.Thread(target=ask) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["new"]] * 50
    assert len(stub.requests) == 2


def test_50_tasks_one_request_and_nobody_is_held_up(stub: Stub) -> None:
    """[D28] [D27] who waits for a server holds no thread that another source may need."""
    go = threading.Event()
    told: list[bool] = []

    def answer(request: Request) -> Chunks:
        told.append(go.wait(5))
        return [page(LIST)]

    stub.answer = answer
    source = HttpSkillSource(stub.url)

    async def ask() -> list[list[SkillDescriptor]]:
        waiting = [asyncio.create_task(source.list()) for _ in range(50)]
        await asyncio.sleep(0)
        await asyncio.to_thread(go.set)  # would have to wait for a thread if they held all
        return await asyncio.gather(*waiting)

    found = run(ask())
    assert told == [True]
    assert all(len(skills) == 3 for skills in found)
    assert len(stub.requests) == 1


def test_waiters(stub: Stub) -> None:
    """[D28] one that is cancelled leaves the request to the others, and each is told of a failure."""
    stub.gives(0.2, page(LIST))
    source = HttpSkillSource(stub.url)

    async def ask() -> list[SkillDescriptor]:
        impatient = asyncio.create_task(source.list())
        patient = asyncio.create_task(source.list())
        await asyncio.sleep(0.05)
        impatient.cancel()
        return await patient

    assert len(run(ask())) == 3
    assert len(stub.requests) == 1
    stub.requests.clear()
    stub.gives(0.1, page(b"", 503))
    source = HttpSkillSource(stub.url)

    async def ask_together() -> list[Any]:
        return await asyncio.gather(*(source.list() for _ in range(50)), return_exceptions=True)

    errors = run(ask_together())
    assert len({id(error) for error in errors}) == 50
    assert all(isinstance(error, RepositoryUnavailable) for error in errors)
    assert len(stub.requests) == 1
    stub.gives(page(LIST))
    assert len(run(source.list())) == 3


def test_a_server_that_hangs_is_not_waited_for_again_and_again(stub: Stub, clock: Clock) -> None:
    """[D28] a failure that took long is believed for as long; then, and after a quick one, we ask."""

    def slow(request: Request) -> Chunks:
        clock.now += 10
        return [page(b"", 504)]

    stub.answer = slow
    source = HttpSkillSource(stub.url)
    assert failure(source) == failure(source)
    assert (len(stub.requests), source.status) == (1, "ok")
    clock.now += 10
    stub.gives(page(b"", 503))
    failure(source)
    stub.gives(page(LIST))
    assert len(run(source.list())) == 3
    assert len(stub.requests) == 3


def test_documents_are_kept_within_bounds(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """[LIB: Cache design] the documents asked for longest ago go; the list stays."""
    monkeypatch.setattr(cache, "MAX_DOCUMENTS", 2)
    stub.answer = lambda r: [page({"skills": []} if r.path == "/skills" else entry(r.path[8:], body=r.path))]
    source = HttpSkillSource(stub.url)
    run(source.list())
    for name in ("a", "b", "c", "c", "b"):
        run(source.load(SkillId(name)))
    run(source.load(SkillId("a")))
    run(source.list())
    assert stub.paths() == ["/skills", "/skills/a", "/skills/b", "/skills/c", "/skills/a"]


AUTHS: list[Any] = [
    (BearerAuth(f" {SECRET}\n"), "authorization", f"Bearer {SECRET}"),
    (HeaderAuth("X-API-Key", SECRET), "x-api-key", SECRET),
]


@pytest.mark.parametrize(("auth", "header", "value"), AUTHS)
def test_credentials_stay_with_their_origin(
    stub: Stub, auth: BearerAuth | HeaderAuth, header: str, value: str
) -> None:
    """[D28] [LIB: New: HttpSkillSource (feature-gated)] redirects to another origin carry no credentials."""
    other = Stub()
    try:
        stub.answer = lambda r: [
            page(b"", 307, Location="/moved")
            if r.path == "/skills"
            else page(b"", 302, Location=f"{other.url}/away")
            if r.path == "/moved"
            else page(LIST)
        ]
        other.gives(page(b"", 301, Location=f"{stub.url}/back"))
        host = other.url.removeprefix("http://")
        with pytest.raises(RepositoryUnavailable, match=re.escape(f'allow_hosts = ["{host}"]')):
            run(HttpSkillSource(stub.url, auth).list())
        assert (stub.paths(), other.requests) == (["/skills", "/moved"], [])
        stub.requests.clear()
        assert len(run(HttpSkillSource(stub.url, auth, allow_hosts=[host]).list())) == 3
    finally:
        other.close()
    assert stub.paths() == ["/skills", "/moved", "/back"]
    assert [r.headers.get(header) for r in stub.requests] == [value, value, None]
    assert [SECRET in str(r.headers) for r in other.requests] == [False]


def test_credentials_that_no_header_holds(stub: Stub) -> None:
    """[D24] [D33] they are refused without being shown."""
    with pytest.raises(InvalidConfiguration) as caught:
        HttpSkillSource(stub.url, HeaderAuth("X-Key", f"a\r\n{SECRET}é"))
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_beside_other_sources(stub: Stub) -> None:
    """[D27] [D28] a server that hangs is told of within its own time-outs; the others are served."""
    stub.gives(30.0)
    bad = HttpSkillSource(stub.url, time_out=0.1, name="bad")
    both = CompositeSkillSource([NamedSource("bad", bad), NamedSource("own", memory(a="x"))])
    assert ids(run(both.list())) == ["a"]
    assert both.failures["bad"].message == "repository 'bad' unavailable: no answer in 0.1 s"

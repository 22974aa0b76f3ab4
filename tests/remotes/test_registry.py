"""The client of a registry's API, against a server that answers as it likes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from skillc import errors
from skillc.remotes import RegistryApi, registry as module
from tests.support.cases import each
from tests.support.http import Request, Stub, page

SECRET = "skc_0123456789abcdef_s3cr3t"


@pytest.fixture
def api(stub: Stub) -> Iterator[RegistryApi]:
    with RegistryApi(stub.url, SECRET, time_out=2.0) as made:
        yield made


def problem(code: str, message: Any, status: int, **headers: str) -> bytes:
    return page({"error": {"code": code, "message": message}}, status, **headers)


@each(
    ("status", "code", "kind"),
    [
        (401, "E090", errors.RegistryRefused),
        (403, "E090", errors.RegistryRefused),
        (404, "E001", errors.SkillNotFound),
        (409, "E091", errors.VersionExists),
        (409, "E050", errors.SkillExists),
        (412, "E091", errors.VersionExists),
        (400, "E062", errors.InvalidParameter),
        (422, "E010", errors.InvalidSkill),
        (413, "E083", errors.ArchiveRefused),
        (500, "E999", errors.RegistryUnavailable),
        (500, "E091", errors.RegistryUnavailable),
        (404, "E100", errors.InvalidOption),
    ],
)
def test_errors_keep_their_codes(
    api: RegistryApi, stub: Stub, status: int, code: str, kind: type[errors.SkillcError]
) -> None:
    """[SURFACES: Registry] the errors of a registry are ours, with their codes and messages on one line."""
    stub.gives(problem(code, f"it said\n{SECRET}", status))
    with pytest.raises(kind) as caught:
        api.versions("payments/refunds")
    assert type(caught.value) is kind
    assert "it said\\n***" in caught.value.line()
    assert ("skc login" in caught.value.text()) == (status in (401, 403))


@each(
    "answer",
    [
        *(
            page(b"", 500),
            page(b"<html>", 404),
            page({"error": 3}, 400),
            page([], 400),
            page(b"[" * 99999, 502),
        ),
        *(page({"error": {"code": ["E091"], "message": 3}}, 418), problem("X", "m" * 100_000, 400)),
        *(page(b"", 301, Location=f"https://evil.example/{SECRET}"), page(b"", 302), page(b"", 100)),
        *(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", b"nonsense\r\n\r\n", b""),
    ],
)
def test_anything_else_is_unavailable(api: RegistryApi, stub: Stub, answer: bytes) -> None:
    """[SURFACES: Registry] an answer that is none is E092, in one short line without the token."""
    stub.gives(answer)
    with pytest.raises(errors.RegistryUnavailable) as caught:
        api.whoami()
    assert len(caught.value.line()) < 800
    assert "Bearer" not in caught.value.text()
    assert stub.url in caught.value.message


@each("value", [[], 3, {}, {"subject": 3}, {"subject": ""}])
def test_whoami_of_something_else(api: RegistryApi, stub: Stub, value: Any) -> None:
    """[SURFACES: Registry] a server that does not say which subject a token has is no registry."""
    stub.gives(page(value))
    with pytest.raises(errors.RegistryUnavailable, match="no registry of skillc's"):
        api.whoami()


def test_redirects_are_not_followed(api: RegistryApi, stub: Stub) -> None:
    """[SURFACES: Registry] no redirect is followed: the token stays with its address."""
    stub.gives(page(b"", 307, Location="/elsewhere"))
    with pytest.raises(errors.RegistryUnavailable, match="redirects to '/elsewhere'"):
        api.whoami()
    assert stub.paths() == ["/whoami"]


def test_patience(stub: Stub) -> None:
    """[SURFACES: Registry] a busy registry is asked again when it says; a publication may take longer."""
    waits: list[float] = []
    answers = iter(
        [problem("E092", "busy", 429, Retry_After="0"), problem("E092", "busy", 503, Retry_After="0")]
    )
    stub.answer = lambda request: [next(answers, page({"subject": "ada"}))]
    with RegistryApi(stub.url, tell_wait=waits.append) as api:
        assert api.whoami().subject == "ada"
    assert waits == [0.0, 0.0]
    stub.gives(0.5, page({"version": "1.0.0", "digest": "sha256:0"}))
    with RegistryApi(stub.url, SECRET, time_out=0.1) as api:
        assert api.publish("x", b"archive", {}, after=None).version == "1.0.0"
        with pytest.raises(errors.RegistryUnavailable, match=r"no answer in 0\.1 s"):
            api.versions("x")
    with RegistryApi("http://127.0.0.1:1") as api, pytest.raises(errors.RegistryUnavailable, match="refused"):
        api.whoami()


@pytest.mark.parametrize("after", ["3600", "Wed, 21 Oct 2065 07:28:00 GMT", "-1", "nan"])
def test_not_endlessly_patient(stub: Stub, after: str) -> None:
    """[SURFACES: Registry] a registry that asks for more than a minute is E092 at once."""
    waits: list[float] = []
    stub.gives(problem("E092", "closed", 503, Retry_After=after))
    with RegistryApi(stub.url, tell_wait=waits.append) as api, pytest.raises(errors.RegistryUnavailable):
        api.whoami()
    assert (waits, len(stub.requests)) == ([], 1)


def test_bounded(api: RegistryApi, stub: Stub) -> None:
    """[SURFACES: Registry] an answer over its limit is not read to its end."""
    stub.gives(b"HTTP/1.1 200 OK\r\n\r\n", *([b"x" * (1 << 20)] * 4))
    with pytest.raises(errors.RegistryUnavailable, match="over 1 MiB"):
        api.get("whoami", limit=1 << 20)


def test_slow_drops(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry] an answer that never ends, drop by drop, ends after a time."""
    monkeypatch.setattr(module, "MAX_TIME", 0.1)
    stub.gives(b"HTTP/1.1 200 OK\r\n\r\n", *[piece for _ in range(100) for piece in (b"x", 0.05)])
    with RegistryApi(stub.url) as api, pytest.raises(errors.RegistryUnavailable, match="no whole answer"):
        api.whoami()


def test_what_is_sent(api: RegistryApi, stub: Stub) -> None:
    """[SURFACES: Registry] requests carry the token, JSON, and an ID as one segment; odd entries are left
    out.
    """
    stub.gives(page({}))
    api.send("PUT", module.skill_path("payments/refunds"), {"ä": 1}, headers={"If-Match": '"x"'})
    request: Request = stub.requests[0]
    assert (request.method, request.path) == ("PUT", "/skills/payments%2Frefunds")
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert request.headers["if-match"] == '"x"'
    assert request.headers["content-length"] == str(len(json.dumps({"ä": 1})))
    good = {"version": "1.0.0", "digest": "sha256:x", "yanked": 3, "tags": ["a", 3]}
    stub.gives(page({"versions": [3, {}, good]}))
    [skill] = api.versions("pdf")
    assert (skill.version, skill.digest, skill.yanked, skill.tags) == ("1.0.0", "sha256:x", None, ("a",))

"""Which requests a server answers: Host, Origin and token."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import httpx2
import pytest

from skillc.errors import InvalidOption
from skillc.library.sources import InMemorySkillSource
from skillc.server.access import is_loopback, read_token
from tests.support.cases import each
from tests.support.servers import live


@pytest.fixture(scope="module")
def api() -> Iterator[httpx2.Client]:
    with live(InMemorySkillSource([]), token="s3cret") as client:
        client.headers["Authorization"] = "Bearer s3cret"
        yield client


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "LOCALHOST:{port}"}, 200),
        ({"Host": "[::1]:{port}"}, 200),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:{port}"}, 421),
        ({"Host": "127.0.0.1.evil.example:{port}"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "http://127.0.0.1:{port}"}, 200),
        ({"Origin": "https://localhost:{port}"}, 200),
        ({"Origin": "http://127.0.0.1:{port}.evil.example"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": ""}, 403),
        ({"Authorization": "Bearer s3cret2"}, 401),
        ({"Authorization": "Bearer s3cre"}, 401),
        ({"Authorization": "Basic s3cret"}, 401),
        ({"Authorization": ""}, 401),
    ],
)
def test_requests(api: httpx2.Client, headers: dict[str, str], status: int) -> None:
    """[SURFACES: Serving] neither another name of this machine nor a page of another site gets an answer."""
    headers = {name: value.format(port=api.base_url.port) for name, value in headers.items()}
    for method, path in (("GET", "/skills"), ("POST", "/turns"), ("OPTIONS", "/turns")):
        answer = api.request(method, path, headers=headers)
        if status == 200:
            assert answer.status_code not in (401, 403, 421)
        else:
            assert answer.status_code == status
            assert list(answer.json()["error"]) == ["code", "message"]
            assert ("www-authenticate" in answer.headers) == (status == 401)


@pytest.mark.parametrize(
    "lines",
    [
        ["Host: 127.0.0.1", "Host: evil.example"],
        ["Host: 127.0.0.1", "Origin: http://127.0.0.1", "Origin: http://evil.example"],
        ["Host: 127.0.0.1", "Authorization: Bearer s3cret", "Authorization: Bearer x"],
    ],
)
def test_headers_twice(api: httpx2.Client, lines: list[str]) -> None:
    """[SURFACES: Serving] of two headers, both count."""
    with socket.create_connection(("127.0.0.1", api.base_url.port or 0), timeout=10) as client:
        token = "" if "Authorization" in lines[-1] else "Authorization: Bearer s3cret\r\n"
        client.sendall("\r\n".join(["GET /skills HTTP/1.1", *lines, token + "\r\n"]).encode())
        assert client.recv(100).split()[1] in (b"400", b"401", b"403", b"421")


def test_health_needs_no_token(api: httpx2.Client) -> None:
    """[SURFACES: Serving] /healthz tells nothing, so anything that names the server may ask it."""
    assert api.get("/healthz", headers={"Authorization": ""}).json() == {"status": "ok"}
    assert api.get("/healthz", headers={"Host": "evil.example"}).status_code == 421


@each(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.1.2.3", True), ("::1", True), ("localhost", True)]
    + [(host, False) for host in ("0.0.0.0", "::", "192.0.2.1", "127.example.com", "localhost.example", "")],
)
def test_loopback(host: str, loopback: bool) -> None:
    """[SURFACES: Serving] only addresses of the loopback go without a token."""
    assert is_loopback(host) == loopback


def test_the_token_is_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Serving] programs that a server starts do not get its token."""
    monkeypatch.setenv("SKILLC_SERVE_TOKEN", " s3cret\n")
    assert read_token("SKILLC_SERVE_TOKEN", "192.0.2.1", "--host") == "s3cret"
    assert "SKILLC_SERVE_TOKEN" not in os.environ
    for blank in ("", " \n"):
        monkeypatch.setenv("SKILLC_SERVE_TOKEN", blank)
        with pytest.raises(InvalidOption):
            read_token("SKILLC_SERVE_TOKEN", "192.0.2.1", "--host")
        assert read_token("SKILLC_SERVE_TOKEN", "127.0.0.1", "--host") == ""

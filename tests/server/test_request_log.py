"""What surrounds every request: IDs, the log, metrics, gzip, limits, headers."""

from __future__ import annotations

import gzip
import json
import logging
import os
import re
from pathlib import Path

import pytest

from skillc.registry import Registry, Role
from skillc.server import ServerSettings
from skillc.server.access import MAX_KEYS, WINDOW, Limiter, Proxies
from skillc.server.request_log import Metrics
from tests.support.registry import Client, body, fault, token

PATH = "/skills/payments/refunds"


def test_request_ids(registry: Registry) -> None:
    """[SURFACES: Registry] each response has an ID of its own; one that a client sends is not taken over."""
    client = Client(registry)
    ids = {client.get("/healthz", headers={"X-Request-Id": "mine"}).headers["X-Request-Id"] for _ in range(5)}
    assert len(ids) == 5
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in ids)


def test_log(registry: Registry, caplog: pytest.LogCaptureFixture) -> None:
    """[SURFACES: Registry] one line of JSON for a request, without tokens and without query texts."""
    caplog.set_level(logging.INFO, "skillc.server.requests")
    client = Client(registry)
    secret = client.headers["Authorization"].partition(" ")[2]
    client.post("/skills", json=body("payments/refunds"))
    client.get("/search", params={"q": "private question"})
    client.get(f"/{secret}", headers={"Authorization": f"Bearer {secret}x"})
    client.get("/skills/a%0Ab")
    lines = [json.loads(record.getMessage()) for record in caplog.records]
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("POST", "/skills", 201),
        ("GET", "/search", 200),
        ("GET", "none", 404),
        ("GET", "/skills/{id:skill}", 400),
    ]
    assert lines[0]["caller"] == secret.split("_")[1]
    assert set(lines[0]) == {
        *("time", "id", "method", "path", "route", "status", "bytes", "ms", "client", "caller"),
    }
    assert "private question" not in caplog.text
    assert secret.split("_", 2)[2] not in caplog.text


def test_security_headers(registry: Registry) -> None:
    """[SURFACES: Registry] no page may frame an answer, and no browser may run it."""
    headers = Client(registry).get("/healthz").headers
    assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert (headers["X-Frame-Options"], headers["Referrer-Policy"]) == ("DENY", "no-referrer")
    assert "Strict-Transport-Security" not in headers
    settings = ServerSettings(url="https://skills.example.com")
    assert "Strict-Transport-Security" in Client(registry, settings=settings).get("/healthz").headers


def test_metrics(registry: Registry, tmp_path: Path) -> None:
    """[SURFACES: Registry] numbers of requests, times, uploads, as Prometheus reads them; with a token."""
    (tmp_path / "numbers").mkdir()
    client = Client(registry, settings=ServerSettings(metrics=str(tmp_path / "numbers"), public_read=True))
    client.post("/skills", json=body("payments/refunds"))
    for _ in range(3):
        client.get(PATH)
    client.get("/no/such/path")
    other = Metrics(str(tmp_path / "numbers"))
    other._path = str(tmp_path / "numbers" / f"{os.getppid()}.json")  # of another process
    other.count("GET", "/skills/{id:skill}", 200, 0.3)
    other.in_flight = 2
    other.write()
    (tmp_path / "numbers" / "4194305.json").write_text(  # of one that died
        json.dumps({"requests_in_flight": 7, "uploads_total": 4})
    )
    response = client.get("/metrics")
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    lines = dict(line.rsplit(" ", 1) for line in response.text.splitlines() if not line.startswith("#"))
    assert lines['skillc_requests_total{method="GET",route="/skills/{id:skill}",status="200"}'] == "4"
    assert lines['skillc_requests_total{method="any",route="none",status="404"}'] == "1"
    bucket = 'skillc_request_seconds_bucket{route="/skills/{id:skill}",le="%s"}'
    assert int(lines[bucket % "0.25"]) <= 3
    assert lines[bucket % "+Inf"] == "4"
    assert (lines["skillc_uploads_total"], lines["skillc_requests_in_flight"]) == ("5", "3")
    assert int(lines["skillc_upload_bytes_total"]) > 50
    del client.headers["Authorization"]
    assert client.get("/metrics").status_code == 401


def test_compression(registry: Registry) -> None:
    """[SURFACES: Registry] gzip over a kilobyte for clients that accept it; archives stay as they are."""
    client = Client(registry)
    client.post("/skills", json=body("payments/refunds", "Words. " * 1000))
    for path in (PATH, "/skills"):
        plain = client.get(path, headers={"Accept-Encoding": "identity"})
        assert "Content-Encoding" not in plain.headers
        with client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as response:
            data = b"".join(response.iter_raw())
        assert response.headers["Content-Encoding"] == "gzip"
        assert response.headers["Vary"] == "Accept-Encoding"
        assert gzip.decompress(data) == plain.content
        etag = response.headers["ETag"]
        assert client.get(path, headers={"If-None-Match": etag}).status_code == 304
    put = client.put(PATH, json=body("payments/refunds", "New."), headers={"If-Match": etag_of(client)})
    assert put.status_code == 201  # the ETag of a compressed answer, too
    for path in ("/healthz", f"{PATH}/archive.tar.gz", f"{PATH}/files/SKILL.md"):
        assert "Content-Encoding" not in client.get(path, headers={"Accept-Encoding": "gzip"}).headers


def etag_of(client: Client) -> str:
    return str(client.get(PATH, headers={"Accept-Encoding": "gzip"}).headers["ETag"])


def test_rate_limits(registry: Registry) -> None:
    """[SURFACES: Registry] limits per token and address: RateLimit-*, and 429 with Retry-After."""
    client = Client(registry, settings=ServerSettings(rate_limit=3))
    remaining = [client.get("/whoami").headers["RateLimit-Remaining"] for _ in range(3)]
    assert remaining == ["2", "1", "0"]
    response = client.get("/whoami")
    assert fault(response) == (429, "E090")
    assert (response.headers["Retry-After"], response.headers["RateLimit-Limit"]) == ("20", "3")
    client.headers["Authorization"] = f"Bearer {token(registry, Role.READER)}"
    assert client.get("/whoami").status_code == 200  # another token
    client.headers["Authorization"] = "Bearer wrong"
    assert [client.get("/whoami").status_code for _ in range(4)] == [401, 401, 401, 429]
    assert client.get("/healthz").status_code == 200


def test_a_bucket_fills_again() -> None:
    """[SURFACES: Registry] with time requests are answered again; memory is bounded."""
    now = 0.0
    limiter = Limiter(60, lambda: now)
    for _ in range(60):
        quota = limiter.spend("a")
    assert quota is not None
    assert (quota.remaining, quota.reset) == (0, WINDOW)
    assert (quota := limiter.spend("a")) is not None
    assert quota.wait == 1
    now = 1.0
    assert (quota := limiter.spend("a")) is not None
    assert quota.wait == 0
    for number in range(MAX_KEYS + 10):
        limiter.spend(str(number))
    assert len(limiter._buckets) == MAX_KEYS
    assert Limiter(0).spend("a") is None


def test_addresses_behind_proxies() -> None:
    """[SURFACES: Registry] X-Forwarded-For counts from trusted proxies alone."""

    def address(proxies: list[str], client: str, *forwarded: str) -> str:
        headers = [(b"x-forwarded-for", text.encode()) for text in forwarded]
        return Proxies(proxies).address_of({"client": (client, 1), "headers": headers})

    assert address([], "10.0.0.1", "1.2.3.4") == "10.0.0.1"
    assert address(["10.0.0.0/8"], "10.0.0.1", "1.2.3.4") == "1.2.3.4"
    assert address(["10.0.0.0/8"], "10.0.0.1", "6.6.6.6, 1.2.3.4, 10.0.0.9") == "1.2.3.4"
    assert address(["10.0.0.0/8"], "10.0.0.1", "6.6.6.6", "1.2.3.4") == "1.2.3.4"
    assert address(["10.0.0.0/8"], "10.0.0.1", "nonsense") == "10.0.0.1"
    assert address(["10.0.0.0/8"], "9.9.9.9", "1.2.3.4") == "9.9.9.9"
    assert address(["::1"], "::1", "2001:db8::1") == "2001:db8::1"

"""Back up a registry while it is served, and serve the copy; PostgreSQL: tests/registry/test_store.py."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.registry import Server, body, serving

pytestmark = pytest.mark.slow
PATH = "/skills/payments/refunds"


def fill(server: Server) -> dict[str, bytes]:
    """Publish, and return what reading gives."""
    with server.client() as client:
        for number in range(3):
            value = body("payments/refunds", f"Text {number}.", files={"a.txt": b"%d" % number})
            assert client.put(PATH, json=value).status_code == 201
        client.post(f"{PATH}/versions/0.1.2/yank", json={"reason": "wrong"})
        client.put("/grants", json={"subject": "mia", "role": "reader"})
        return read(server)


def read(server: Server) -> dict[str, bytes]:
    paths = (PATH, f"{PATH}/versions", f"{PATH}/files/a.txt", "/skills", "/grants", "/audit-log", "/tokens")
    with server.client() as client:
        responses = {path: client.get(path) for path in paths}
    assert {response.status_code for response in responses.values()} == {200}
    return {path: response.content for path, response in responses.items()}


def check(server: Server, before: dict[str, bytes]) -> None:
    """What was there is there, and it goes on."""
    assert read(server) == before
    with server.client() as client:
        assert client.put(PATH, json=body("payments/refunds", "After.")).json()["version"] == "0.1.3"
        results = client.get("/search", params={"q": "refunds"}).json()["results"]
    assert [result["id"] for result in results] == ["payments/refunds"]


def test_sqlite(tmp_path: Path) -> None:
    """[SURFACES: Registry model] a copy of the SQLite file, then of the blobs, is a registry."""
    folder, copy = tmp_path / "home" / ".skillc" / "registry", tmp_path / "copy"
    copy.mkdir()
    with serving(tmp_path / "home") as server:
        before = fill(server)
        with (
            closing(sqlite3.connect(folder / "registry.db")) as one,
            closing(sqlite3.connect(copy / "registry.db")) as other,
        ):
            one.backup(other)  # as the command .backup of sqlite3 does
        shutil.copytree(folder / "blobs", copy / "blobs")
        with server.client() as client:
            client.put(PATH, json=body("payments/refunds", "Not in the copy."))
    words = ("--store", str(copy / "registry.db"), "--blobs", str(copy / "blobs"))
    with serving(tmp_path / "other", *words, token=server.token) as restored:
        check(restored, before)
    shutil.rmtree(folder)  # in place of what was lost, with the index that was there
    shutil.copytree(copy, folder)
    with serving(tmp_path / "home", token=server.token) as again, again.client() as client:
        assert client.get(PATH).json()["version"] == "0.1.3"

"""Publishing over HTTP: JSON and archives, preconditions, limits; tags, yanks, deletion."""

from __future__ import annotations

import asyncio
import json
from hashlib import sha256

import pytest

from skillc.registry import Registry, Role
from skillc.server.api import publication
from skillc.server.service import Service
from tests.support.archives import tarred, zipped
from tests.support.registry import Client, body, fault, skill_md

PATH = "/skills/payments/refunds"
GZIP = {"Content-Type": "application/gzip"}


def test_publish(client: Client) -> None:
    """[SURFACES: Registry] 201 with id, version, digest and an ETag; POST of an existing ID is 409."""
    response = client.post("/skills", json=body("payments/refunds", files={"a.txt": b"a"}))
    assert response.status_code == 201
    value = response.json()
    assert (value["id"], value["version"]) == ("payments/refunds", "0.1.0")
    assert response.headers["ETag"] == client.get(PATH).headers["ETag"]
    assert client.get(response.headers["Location"]).json()["digest"] == value["digest"]
    assert fault(client.post("/skills", json=body("payments/refunds", "Two."))) == (409, "E091")
    assert client.put(PATH, json=body("payments/refunds", "Two.")).json()["version"] == "0.1.1"
    again = body("payments/refunds", "Three.", version="0.1.1")
    assert fault(client.put(PATH, json=again)) == (409, "E091")
    assert fault(client.put(PATH, json=body("payments/refunds", "Two."))) == (409, "E091")


def test_preconditions(client: Client) -> None:
    """[SURFACES: Registry] PUT with a stale If-Match is 412; `*` means any; If-None-Match: * means none."""
    assert fault(client.put(PATH, json=body("payments/refunds"), headers={"If-Match": "*"})) == (412, "E001")
    new = client.put(PATH, json=body("payments/refunds"), headers={"If-None-Match": "*"})
    assert new.status_code == 201
    etag = new.headers["ETag"]
    exists = client.put(PATH, json=body("payments/refunds", "x"), headers={"If-None-Match": "*"})
    assert fault(exists) == (409, "E091")
    good = client.put(PATH, json=body("payments/refunds", "Two."), headers={"If-Match": etag})
    assert good.status_code == 201
    stale = client.put(PATH, json=body("payments/refunds", "Three."), headers={"If-Match": etag})
    assert fault(stale) == (412, "E091")
    assert client.put(PATH, json=body("payments/refunds", "3"), headers={"If-Match": "*"}).status_code == 201


@pytest.mark.parametrize("pack", [zipped, tarred])
@pytest.mark.parametrize("folder", ["", "refunds/"])
def test_archive(client: Client, pack: object, folder: str) -> None:
    """[SURFACES: Registry] zip or tar.gz with `?id=`, also with all files in one folder."""
    assert callable(pack)
    data = pack({f"{folder}SKILL.md": skill_md().encode(), f"{folder}data/a.bin": b"\0\1"})
    query = {"id": "payments/refunds", "version": "1.2.3", "tag": "beta", "note": "packed"}
    response = client.post("/skills", content=data, params=query, headers=GZIP)
    assert response.status_code == 201, response.text
    assert client.get(f"{PATH}/files/data/a.bin", params={"tag": "beta"}).content == b"\0\1"
    entry = client.get(f"{PATH}/versions").json()["versions"][0]
    assert (entry["version"], entry["note"]) == ("1.2.3", "packed")
    more = pack({"SKILL.md": skill_md(text="More.").encode()})
    assert client.put(PATH, content=more, headers=GZIP).json()["version"] == "1.2.4"


def test_hostile_archives(client: Client) -> None:
    """[SURFACES: Registry] archives as in the installer: E083, and nothing is published."""
    main = skill_md().encode()
    for data in (
        zipped({"SKILL.md": main, "../out": b"x"}),
        tarred({"SKILL.md": main, "/etc/passwd": b"x"}),
        tarred({"SKILL.md": main, "con.txt": b"x"}),
        zipped({"SKILL.md": main, "a": b"x", "A": b"y"}),
        b"PK no archive",
        b"",
        tarred({"SKILL.md": main})[:-20],
    ):
        response = client.post("/skills?id=payments/refunds", content=data, headers=GZIP)
        assert fault(response) == (422, "E083"), response.text
        assert "skillc-upload" not in response.text
    assert client.get("/skills").json() == {"skills": []}


def test_bad_requests(client: Client) -> None:
    """[SURFACES: Registry] what is wrong with a request is said with its status and a code."""
    good = body("payments/refunds")
    cases: list[tuple[object, int, str]] = [
        ({}, 422, "E100"),
        ({**good, "id": 1}, 422, "E100"),
        ({**good, "id": "No ID"}, 400, "E070"),
        ({**good, "skill_md": "no frontmatter"}, 422, "E011"),
        ({**good, "files": {"a": "no base64!"}}, 422, "E100"),
        ({**good, "files": {"a": 1}}, 422, "E100"),
        ({**good, "files": {"a": {"digest": "sha256:0"}}}, 422, "E100"),
        ({**good, "files": {"SKILL.md": ""}}, 422, "E100"),
        ({**good, "files": {"../a": ""}}, 422, "E010"),
        ({**good, "files": {"a\\b": ""}}, 422, "E010"),
        ({**good, "version": "x"}, 400, "E062"),
        ({**good, "tag": "1.0.0"}, 400, "E062"),
        ({**good, "note": "x" * 3000}, 400, "E062"),
        ([], 422, "E100"),
    ]
    for value, status, code in cases:
        response = client.post("/skills", json=value)
        assert fault(response) == (status, code), (value, response.text)
    assert fault(client.post("/skills", content=b"{")) == (400, "E100")
    assert fault(client.post("/skills", content=b"x", headers=GZIP)) == (400, "E100")
    text = client.post("/skills?id=a", content=b"x", headers={"Content-Type": "text/plain"})
    assert fault(text) == (415, "E100")
    other = client.put("/skills/payments/other", json=good)
    assert fault(other) == (422, "E100")
    assert client.get("/skills").json() == {"skills": []}


def test_large_numbers(client: Client) -> None:
    """[D74] [SURFACES: Registry] a number of ten digits is 422; text that is no Unicode is refused or
    kept.
    """
    good = body("payments/refunds", version="1.0.999999999")
    assert fault(client.post("/skills", json=good | {"version": "1.10000000000.0"})) == (422, "E062")
    main = good["skill_md"].replace("description:", "metadata:\n  version: '10000000000'\ndescription:")
    assert fault(client.post("/skills", json=body("payments/refunds") | {"skill_md": main})) == (422, "E062")
    assert client.post("/skills", json=good).status_code == 201
    more = client.put(PATH, json=body("payments/refunds", "More."))
    assert fault(more) == (422, "E062")  # there is no next number
    data = json.dumps({"id": "a", "skill_md": skill_md("a", "\ud800")}).encode()
    response = client.post("/skills", content=data)
    assert response.status_code in (201, 422), response.text


def test_files_by_digest(client: Client, registry: Registry) -> None:
    """[SURFACES: Registry] a file that an earlier version of the same skill has is sent by its digest."""
    client.post("/skills", json=body("payments/refunds", files={"big.bin": b"big" * 1000}))
    digest = f"sha256:{sha256(b'big' * 1000).hexdigest()}"
    value = body("payments/refunds", "Two.") | {"files": {"moved.bin": {"digest": digest}}}
    assert client.put(PATH, json=value).status_code == 201
    assert client.get(f"{PATH}/files/moved.bin").content == b"big" * 1000
    client.post("/skills", json=body("other/skill"))
    response = client.put("/skills/other/skill", json=value | {"id": "other/skill"})
    assert fault(response) == (422, "E100")  # the bytes of others can't be had by their digest


def test_roles(registry: Registry, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry] publisher on the prefix, maintainer to delete; 503 where no place gets free."""
    reader, publisher = Client(registry, Role.READER), Client(registry, Role.PUBLISHER, "payments")
    value = body("payments/refunds")
    assert fault(reader.post("/skills", json=value)) == (403, "E090")
    assert fault(publisher.post("/skills", json=body("other/skill"))) == (403, "E090")
    assert publisher.post("/skills", json=value).status_code == 201
    assert fault(publisher.delete(PATH)) == (403, "E090")
    assert fault(publisher.post(f"{PATH}/versions/0.1.0/yank", json={"reason": "x"})) == (403, "E090")
    monkeypatch.setattr("skillc.server.service.UPLOAD_WAIT", 0.05)
    monkeypatch.setattr(Service, "__init__", _without_places(Service.__init__))
    response = Client(registry).post("/skills", json=body("a"))
    assert fault(response) == (503, "E092")
    assert response.headers["Retry-After"] == "5"


def test_refusal_comes_before_the_upload(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry] a caller without the role is refused before its upload is read."""
    monkeypatch.delattr(publication, "receive_body")  # reading it would end in 500
    response = Client(registry, Role.READER).put(PATH, content=b"x" * (1 << 20), headers=GZIP)
    assert fault(response) == (403, "E090")
    assert Client(registry).put(PATH, content=b"x", headers=GZIP).status_code == 500


def test_limits(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry] uploads are bounded in size, and so are those at once."""
    monkeypatch.setattr(publication, "MAX_JSON", 1000)
    monkeypatch.setattr(publication, "MAX_ARCHIVE", 100)
    assert fault(client.post("/skills", json=body("a", "x" * 2000))) == (413, "E100")
    packed = zipped({"SKILL.md": skill_md().encode()})
    assert fault(client.post("/skills?id=a", content=packed, headers=GZIP)) == (413, "E100")


def _without_places(initialize: object) -> object:
    def start(self: Service, *arguments: object) -> None:
        assert callable(initialize)
        initialize(self, *arguments)
        self._uploads = asyncio.Semaphore(0)

    return start


def test_tags_yank_and_deletion(client: Client) -> None:
    """[SURFACES: Registry] a tag is moved, a version yanked, a skill deleted, and all taken back."""
    for version in ("1.0.0", "2.0.0"):
        client.put(PATH, json=body("payments/refunds", version, version=version))
    entry = client.put(f"{PATH}/tags/stable", json={"version": "1.0.0"}).json()
    assert entry["tags"] == ["stable"]
    client.put(f"{PATH}/tags/latest", json={"version": "1.0.0"})
    assert client.get(PATH).json()["version"] == "1.0.0"
    assert client.delete(f"{PATH}/tags/stable").status_code == 204
    assert fault(client.delete(f"{PATH}/tags/stable")) == (404, "E001")
    assert fault(client.put(f"{PATH}/tags/stable", json={"version": "9.0.0"})) == (404, "E001")
    assert fault(client.put(f"{PATH}/tags/1.0.0", json={"version": "1.0.0"})) == (400, "E062")
    assert fault(client.put(f"{PATH}/tags/stable", json={})) == (422, "E100")
    client.put(f"{PATH}/tags/latest", json={"version": "2.0.0"})
    path = f"{PATH}/versions/2.0.0"
    assert client.post(f"{path}/yank", json={"reason": "wrong sums"}).json()["yanked"] == "wrong sums"
    assert client.get(PATH).json()["version"] == "1.0.0"
    assert client.get(PATH, params={"version": "2.0.0"}).status_code == 200
    assert client.post(f"{path}/unyank").json()["yanked"] is None
    assert client.get(PATH).json()["version"] == "2.0.0"
    assert fault(client.post(f"{path}/yank", json={"reason": " "})) == (400, "E062")
    assert fault(client.post(f"{PATH}/versions/9.0.0/yank", json={"reason": "x"})) == (404, "E001")
    assert client.delete(PATH).status_code == 204
    assert fault(client.get(PATH)) == (404, "E001")
    assert fault(client.post("/skills", json=body("payments/refunds", "New."))) == (409, "E050")
    assert len(client.post(f"{PATH}/restore").json()["versions"]) == 2
    assert client.get(PATH).status_code == 200
    assert fault(client.post(f"{PATH}/restore")) == (404, "E001")

"""Reading a registry over HTTP: lists, text, versions, files, archives, ETags."""

from __future__ import annotations

import io
import tarfile

from skillc.registry import SYSTEM, Registry, Role, make_package
from tests.support.cases import each
from tests.support.registry import Client, body, fault, skill_md

PATH = "/skills/payments/refunds"


def publish(
    client: Client, skill_id: str = "payments/refunds", text: str = "Text.", **fields: object
) -> None:
    response = client.put(f"/skills/{skill_id}", json=body(skill_id, text, **fields))  # type: ignore[arg-type]
    assert response.status_code == 201, response.text


def test_text(client: Client) -> None:
    """[SURFACES: Registry] the wire format with version and digest; by number, by tag; %2F in the ID."""
    publish(client, text="One.", version="1.0.0")
    publish(client, text="Two.", version="2.0.0", tag="beta")
    value = client.get(PATH).json()
    assert (value["id"], value["name"], value["scope"]) == ("payments/refunds", "refunds", "remote")
    assert (value["version"], value["body"]) == ("1.0.0", "# refunds\n\nOne.\n")
    assert client.get("/skills/payments%2Frefunds").json() == value
    assert client.get(PATH, params={"version": "2.0.0"}).json()["body"].endswith("Two.\n")
    assert client.get(PATH, params={"tag": "beta"}).json()["version"] == "2.0.0"
    for query in ({"version": "3.0.0"}, {"tag": "gamma"}, {"version": "beta"}):
        assert fault(client.get(PATH, params=query)) == (404, "E001")
    assert fault(client.get(PATH, params={"version": "1.0.0", "tag": "beta"})) == (400, "E100")
    assert fault(client.get("/skills/nothing")) == (404, "E001")
    assert fault(client.get("/skills/No%20ID")) == (400, "E070")


def test_near_misses(client: Client) -> None:
    """[SURFACES: Near misses] [SURFACES: Registry] [LIB: Wire Format (Meerkat Skills API)] a problem names
    the version that may be meant; other fields are `extensions`.
    """
    publish(client, version="1.2.3")
    for query, question in (({"version": "1.2.4"}, "1.2.3"), ({"tag": "lates"}, "latest")):
        problem = client.get(PATH, params=query).json()
        assert problem["detail"].endswith(f"; did you mean '{question}'?")
    assert client.get(PATH, params={"version": "4"}).json()["detail"].endswith("; there is 1.2.3")
    text = skill_md(license="MIT", requires_capabilities="[shell]")
    client.put(PATH, json={"skill_md": text})
    value = client.get(PATH).json()
    assert (value["extensions"], value["requires_capabilities"]) == ({"license": "MIT"}, ["shell"])


def test_etag(client: Client) -> None:
    """[SURFACES: Registry] an ETag stays as long as what it is for does; weak ones count, too."""
    publish(client)
    for path in (
        PATH,
        "/skills",
        "/skills?limit=1",
        "/skill-collections",
        f"{PATH}/versions",
        f"{PATH}/files",
    ):
        etag = client.get(path).headers["ETag"]
        for header in (etag, f"W/{etag.removeprefix('W/')}", f'"other", {etag}', "*"):
            response = client.get(path, headers={"If-None-Match": header})
            assert (response.status_code, response.content) == (304, b"")
            assert response.headers["ETag"] == etag
        assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    etag = client.get(PATH).headers["ETag"]
    before = client.get("/skills").headers["ETag"]
    publish(client, text="Other.")
    assert client.get(PATH).headers["ETag"] != etag
    assert client.get("/skills").headers["ETag"] != before


def test_list(client: Client, registry: Registry) -> None:
    """[SURFACES: Registry] the whole list, pages, a collection, words; only what one may read."""
    ids = [f"team/s{number:03}" for number in range(250)] + ["team-b/x", "zero"]
    for skill_id in ids:
        name = skill_id.rpartition("/")[2]
        registry.publish(SYSTEM, make_package(skill_id, {"SKILL.md": skill_md(name).encode()}))
    every = [skill["id"] for skill in client.get("/skills").json()["skills"]]
    assert every == sorted(ids)
    pages, cursor = [], ""
    while True:
        value = client.get("/skills", params={"limit": 100, "cursor": cursor}).json()
        pages.append([skill["id"] for skill in value["skills"]])
        if not (cursor := value.get("next_cursor", "")):
            break
    assert [len(page) for page in pages] == [100, 100, 52]
    assert [skill_id for page in pages for skill_id in page] == every
    below = client.get("/skills", params={"collection": "team", "query": "S01 what"}).json()["skills"]
    assert [skill["name"] for skill in below] == [f"s01{number}" for number in range(10)]
    own = Client(registry, Role.READER, "team-b")
    assert [skill["id"] for skill in own.get("/skills").json()["skills"]] == ["team-b/x"]
    assert own.get("/skill-collections").json()["collections"] == [
        {"path": "team-b", "description": "1 skills", "count": 1}
    ]
    for query in ({"limit": "0"}, {"limit": "1001"}, {"limit": "x"}):
        assert fault(client.get("/skills", params=query)) == (400, "E100")
    assert fault(client.get("/skills?limit=1&limit=2")) == (400, "E100")
    for query in ({"cursor": "No ID"}, {"collection": "No ID"}):
        assert fault(client.get("/skills", params=query)) == (400, "E070")


def test_versions(client: Client) -> None:
    """[SURFACES: Registry] versions, newest first; an archive of one is cacheable, the latest is not."""
    publish(client, text="One.", version="1.0.0", note="first")
    publish(client, text="Two.", version="2.0.0")
    client.post(f"{PATH}/versions/2.0.0/yank", json={"reason": "wrong sums"})
    two, one = client.get(f"{PATH}/versions").json()["versions"]
    assert (two["version"], two["yanked"], two["tags"]) == ("2.0.0", "wrong sums", [])
    assert (one["version"], one["note"], one["tags"]) == ("1.0.0", "first", ["latest"])
    assert one["published_by"] == "admin"
    publish(client, files={"run.sh": b"echo\n"}, executable=["run.sh"], version="3.0.0")
    response = client.get(f"{PATH}/archive.tar.gz")
    assert response.headers["Content-Type"] == "application/gzip"
    assert response.headers["Cache-Control"] == "no-cache"
    fixed = client.get(f"{PATH}/archive.tar.gz", params={"version": "3.0.0"})
    assert "immutable" in fixed.headers["Cache-Control"]
    assert fixed.content == response.content
    with tarfile.open(fileobj=io.BytesIO(response.content)) as archive:
        assert {member.name: member.mode for member in archive} == {"SKILL.md": 0o644, "run.sh": 0o755}


def test_files(client: Client) -> None:
    """[SURFACES: Registry] the files of a version; one by its digest is cacheable."""
    files = {"scripts/pay.sh": b"#!/bin/sh\n", "data/a b%.bin": b"\0\xff"}
    publish(client, files=files, version="1.0.0", executable=["scripts/pay.sh"])
    publish(client, files={"scripts/pay.sh": b"echo\n"}, version="1.1.0")
    value = client.get(f"{PATH}/files", params={"version": "1.0.0"}).json()
    assert value["version"] == "1.0.0"
    assert [file["path"] for file in value["files"]] == ["SKILL.md", "data/a b%.bin", "scripts/pay.sh"]
    script = value["files"][2]
    assert (script["size"], script["executable"]) == (10, True)
    path = f"{PATH}/files/scripts/pay.sh"
    response = client.get(path)
    assert (response.content, response.headers["Cache-Control"]) == (b"echo\n", "no-cache")
    assert response.headers["X-Skill-Version"] == "1.1.0"
    response = client.get(path, params={"digest": script["digest"]})
    assert response.content == b"#!/bin/sh\n"
    assert "immutable" in response.headers["Cache-Control"]
    assert response.headers["ETag"] == f'"{script["digest"]}"'
    again = client.get(path, params={"version": "1.0.0"}, headers={"If-None-Match": response.headers["ETag"]})
    assert again.status_code == 304
    assert client.get(f"{PATH}/files/data/a%20b%25.bin", params={"version": "1.0.0"}).content == b"\0\xff"
    for query in ({"digest": "sha256:" + "0" * 64}, {"version": "0.9.0"}):
        assert client.get(path, params=query).status_code == 404
    assert fault(client.get(f"{PATH}/files/nothing")) == (404, "E021")


def test_what_is_sent_is_data(client: Client) -> None:
    """[SURFACES: Registry] a browser neither runs nor shows a file of a skill."""
    publish(client, files={"page.html": b"<script>alert(1)</script>"})
    for path in ("files/page.html", "archive.tar.gz"):
        headers = client.get(f"{PATH}/{path}").headers
        assert headers["Content-Disposition"].startswith("attachment")
        assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert headers["X-Content-Type-Options"] == "nosniff"


@each("name", ["versions", "files", "restore", "tags"])
def test_ids_like_endpoints(client: Client, name: str) -> None:
    """[SURFACES: Registry] with %2F an ID may have segments that are names of endpoints."""
    skill_id = f"team/{name}/deep"
    path = f"/skills/{skill_id.replace('/', '%2F')}"
    assert client.put(path, json=body(skill_id, files={"files/a": b"x"})).status_code == 201
    assert client.get(path).json()["id"] == skill_id
    assert len(client.get(f"{path}/versions").json()["versions"]) == 1
    assert client.get(f"{path}/files/files/a").content == b"x"


def test_methods(client: Client) -> None:
    """[SURFACES: Registry] a method that an endpoint does not take is 405, and publishes no other skill."""
    for path in (
        "versions",
        "files",
        "files/a",
        "tags/beta",
        "restore",
        "archive.tar.gz",
        "versions/1.0.0/yank",
    ):
        method = "PATCH" if path == "tags/beta" else "PUT"
        response = client.request(method, f"{PATH}/{path}", json=body("payments/refunds"))
        assert fault(response) == (405, "E100"), path
        assert response.headers["Allow"]

"""The ClawHub protocol of a registry: its own client from npm, forms, our `skc add`, and hostile requests."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from skillc.registry import MAX_BYTES, SYSTEM, Registry, Role
from skillc.registry.blobs import open_blobs
from skillc.registry.model import Grant
from skillc.registry.store import open_store
from skillc.remotes import fingerprint_of
from skillc.server import ServerSettings, create_registry_app
from tests.conftest import World
from tests.support.cases import each
from tests.support.client import AppClient
from tests.support.npm import ClawHub
from tests.support.team_process import Team, client, running_team

INVOICES = b"---\nname: invoices\ndescription: Write invoices\n---\n# Invoices\n"
API = "/api/v1"


def ask(team: Team, path: str, token: str = "", status: int = 200, **query: str) -> Any:
    response = client(team, token).get(f"{API}{path}", params=query)
    assert response.status_code == status, response.text
    if status == 200:
        return response.json()
    assert response.headers["Content-Type"].startswith("text/plain")
    return response.text


def write_invoices(world: World, text: str = "print(1)") -> Path:
    folder = world.project / "invoices"
    (folder / "scripts").mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_bytes(INVOICES)
    (folder / "scripts" / "total.py").write_text(text)
    return folder


@pytest.mark.slow
def test_its_client_reads(tmp_path: Path, world: World) -> None:
    """[SURFACES: Registry protocols] npm's `clawhub`: log in by token, search, install, update, inspect."""
    with running_team(tmp_path / "team") as team:
        team.publish("payments/refunds", "1.0.0", references___rules__md=b"Rules.")
        team.publish("sales/leads", "1.0.0")
        hub = ClawHub(world, team.url)
        assert "needs a valid token" in hub.fails("login", "--token", "skc_wrong")
        hub.run("login", "--token", team.token(Role.READER, "payments").secret)
        assert "payments.refunds v1.0.0" in hub.run("search", "refunds")
        assert "sales" not in hub.run("explore")
        hub.run("install", "@payments/refunds")
        assert "refused" in hub.fails("install", "sales.leads")
        folder = world.project / "skills" / "@payments" / "refunds"
        assert (folder / "references" / "rules.md").read_bytes() == b"Rules."
        team.publish("payments/refunds", "1.1.0", text="Newer.")
        team.publish("payments/refunds", "1.2.0", text="Broken.")
        team.registry.yank(SYSTEM, "payments/refunds", "1.2.0", "wrong sums")
        hub.run("update", "--all")
        assert {entry["version"] for entry in hub.lock().values()} == {"1.1.0"}
        assert "Newer." in (folder / "SKILL.md").read_text()
        shown = hub.run("inspect", "payments.refunds", "--versions", "--files", "--file", "SKILL.md")
        assert "1.1.0" in shown
        assert "1.2.0" not in shown
        assert "Newer." in shown


@pytest.mark.slow
def test_its_client_publishes(tmp_path: Path, world: World) -> None:
    """[SURFACES: Registry protocols] npm's `clawhub` publishes below the prefix of its token, and deletes."""
    with running_team(tmp_path / "team") as team:
        hub = ClawHub(world, team.url)
        hub.run("login", "--token", team.token(Role.MAINTAINER, "payments").secret)
        assert hub.run("whoami").strip() == "payments"
        write_invoices(world)
        hub.run("publish", "invoices", "--changelog", "the first")
        write_invoices(world, "print(2)")
        hub.run("publish", "invoices", "--tags", "latest,beta")
        skill = team.registry.skill(SYSTEM, "payments/invoices")
        assert [version.version for version in skill.versions] == ["1.0.1", "1.0.0"]
        assert skill.tags == {"latest": "1.0.1", "beta": "1.0.1"}
        assert skill.versions[1].note == "the first"
        assert team.registry.read_file(SYSTEM, skill.versions[0], "scripts/total.py") == b"print(2)"
        assert "refused" in hub.fails("publish", "invoices", "--owner", "sales")
        hub.run("delete", "payments.invoices", "--version", "1.0.1", "--yes")
        skill = team.registry.skill(SYSTEM, "payments/invoices")
        assert (skill.resolve().version, skill.versions[0].yanked) == ("1.0.0", "withdrawn by its publisher")
        hub.run("undelete", "payments.invoices", "--version", "1.0.1", "--yes")
        hub.run("delete", "@payments/invoices", "--yes")
        hub.run("undelete", "payments.invoices", "--yes")
        assert not team.registry.skill(SYSTEM, "payments/invoices").versions[0].yanked


@pytest.mark.slow
def test_skc_add(tmp_path: Path, world: World) -> None:
    """[SURFACES: Registry protocols] `skc add clawhub:…` verifies what it gets, and update follows."""
    with running_team(tmp_path / "team", public=True) as team:
        team.publish("payments/refunds", "1.0.0", references___rules__md=b"Rules.")
        world.ok("add", f"clawhub:{team.url}/payments.refunds", "--yes")
        folder = world.store / "payments-refunds"
        assert (folder / "references" / "rules.md").read_bytes() == b"Rules."
        world.fails("E080", "add", f"clawhub:{team.url}/payments.nothing", "--yes")
        team.publish("payments/refunds", "1.1.0", text="Newer.")
        world.ok("update", "--yes")
        assert "Newer." in (folder / "SKILL.md").read_text()
        locked = json.loads((world.project / "skills-lock.json").read_text())["skills"]["payments-refunds"]
        assert locked["skillc"]["version"] == "1.1.0"


def test_reading(team: Team) -> None:
    """[SURFACES: Registry protocols] skills, versions, files, fingerprints and zips."""
    team.publish("payments/refunds", "1.0.0", references___rules__md=b"Rules.")
    team.publish("payments/refunds", "1.1.0", text="Newer.")
    team.registry.set_tag(SYSTEM, "payments/refunds", "stable", "1.0.0")
    found = ask(team, "/skills/payments.refunds")
    assert found["skill"]["slug"] == "payments.refunds"
    assert found["skill"]["tags"] == {"latest": "1.1.0", "stable": "1.0.0"}
    assert found["latestVersion"]["version"] == "1.1.0"
    assert found["owner"]["handle"] == "payments"
    assert ask(team, "/skills/refunds", ownerHandle="payments")["skill"] == found["skill"]
    assert ask(team, "/skills/payments.refunds", ownerHandle="payments")["skill"] == found["skill"]
    items = ask(team, "/skills/payments.refunds/versions", limit="1")
    assert ([item["version"] for item in items["items"]], items["nextCursor"]) == (["1.1.0"], "1.1.0")
    items = ask(team, "/skills/payments.refunds/versions", cursor="1.1.0")
    assert ([item["version"] for item in items["items"]], items["nextCursor"]) == (["1.0.0"], None)
    version = ask(team, "/skills/payments.refunds/versions/1.0.0")["version"]
    digests = {file["path"]: file["sha256"] for file in version["files"]}
    assert digests["references/rules.md"] == hashlib.sha256(b"Rules.").hexdigest()
    assert version["fingerprint"] == fingerprint_of(digests)
    resolved = ask(team, "/resolve", slug="payments.refunds", hash=version["fingerprint"])
    assert resolved == {"match": {"version": "1.0.0"}, "latestVersion": {"version": "1.1.0"}}
    assert ask(team, "/resolve", slug="payments.refunds", hash="0" * 64)["match"] is None
    reader = client(team)
    query = {"slug": "payments.refunds", "tag": "stable"}
    response = reader.get(f"{API}/download", params=query)
    assert response.headers["Content-Type"] == "application/zip"
    assert response.content == reader.get(f"{API}/download", params=query).content
    with zipfile.ZipFile(io.BytesIO(response.content)) as files:
        assert files.namelist() == ["SKILL.md", "references/rules.md"]
        assert files.read("references/rules.md") == b"Rules."
    file = reader.get(f"{API}/skills/payments.refunds/file", params={"path": "SKILL.md", "version": "1.1.0"})
    assert file.text.endswith("Newer.\n")
    assert file.headers["Content-Disposition"] == "attachment"


def collect(team: Team, limit: int, prefix: str = "", sort: str = "") -> list[str]:
    """The IDs of a list, page by page."""
    ids, cursor = [], ""
    while True:
        page = ask(team, "/skills", limit=str(limit), cursor=cursor, prefix=prefix, sort=sort)
        ids += [item["slug"].replace(".", "/") for item in page["items"]]
        if page["nextCursor"] is None:
            return ids
        cursor = page["nextCursor"]


def test_lists(team: Team) -> None:
    """[SURFACES: Registry protocols] pages and prefixes give each skill once; other paths are 404."""
    ids = ["a", "a-b", "a/b", "a/c/d", "b/a", "payments", "payments-old", "payments/refunds", "z"]
    for skill_id in ids:
        team.publish(skill_id, "1.0.0")
    team.publish("all/yanked", "1.0.0")
    team.registry.yank(SYSTEM, "all/yanked", "1.0.0", "wrong")

    for limit in (1, 2, 3, 4, 9, 200):
        assert collect(team, limit) == sorted(ids)
        for prefix in ("a", "a.", "a.b", "pay", "payments.", "zz", "all"):
            path = prefix.replace(".", "/")
            assert collect(team, limit, prefix) == sorted(name for name in ids if name.startswith(path))
    assert [collect(team, 5, prefix) for prefix in ("%00", "\0", "Ä")] == [[], [], []]
    for path in ("/stars/pdf", "/packages", "/skills/pdf/verify", "/trending"):
        assert ask(team, path, status=404).startswith("Not found")
    assert client(team).post(f"{API}/stars/pdf").status_code == 404


def test_newest_first(tmp_path: Path) -> None:
    """[SURFACES: Registry protocols] `sort` gives the newest first, those of one time by ID, each once."""
    ids = ["b", "a/c", "z", "a/b", "c"]
    start = now = datetime.now(UTC)
    store, blobs = open_store(f"sqlite://{tmp_path}/registry.db"), open_blobs(str(tmp_path / "blobs"))
    team = Team(Registry(store, blobs, lambda: now))
    for number, skill_id in enumerate(ids):
        now = start + timedelta(seconds=number // 2)
        team.publish(skill_id, "1.0.0")
    now += timedelta(seconds=1)
    team.publish("z", "1.1.0", text="Newer.")
    times = {each: ask(team, f"/skills/{each.replace('/', '.')}")["skill"] for each in ids}

    for limit in (1, 2, 5, 200):
        for sort, field in (("createdAt", "createdAt"), ("updated", "updatedAt"), ("downloads", "updatedAt")):
            assert collect(team, limit, sort=sort) == sorted(
                ids, key=lambda each: (-times[each][field], each)
            )
    assert set(collect(team, 1, "a.", sort="updated")) == {"a/b", "a/c"}
    # Not the first of its list: others may have come within the same millisecond.
    assert times["z"]["updatedAt"] == max(each["updatedAt"] for each in times.values())
    for cursor in ("x", "-", "9" * 30, "1-b", "²-b"):
        ask(team, "/skills", sort="updated", cursor=cursor)
    small = team.token(Role.READER, "a").secret
    assert {item["slug"] for item in ask(team, "/skills", small, sort="updated")["items"]} == {"a.b", "a.c"}
    team.registry.close()


def test_only_what_is_to_be_read(team: Team) -> None:
    """[SURFACES: Registry protocols] nothing that a caller may not read, or that is yanked or deleted."""
    team.publish("payments/refunds", "1.0.0")
    team.publish("sales/leads", "1.0.0")
    small = team.token(Role.READER, "sales").secret
    assert [item["slug"] for item in ask(team, "/skills", small)["items"]] == ["sales.leads"]
    assert [item["slug"] for item in ask(team, "/search", small, q="what is it for")["results"]] == [
        "sales.leads"
    ]
    assert ask(team, "/search", small, status=403, q="payments.refunds", mode="exact")
    [found] = ask(team, "/search", q="payments.refunds", mode="exact")["results"]
    assert found["slug"] == "payments.refunds"
    for path in ("/skills/payments.refunds", "/skills/payments.refunds/versions/1.0.0"):
        assert "refused" in ask(team, path, small, status=403)
        assert ask(team, path, "skc_wrong", status=401)
    assert ask(team, "/skills/payments.nothing", status=404) == "Skill not found"
    assert ask(team, "/skills/payments.refunds/versions/7.0.0", status=404).startswith("Version not found")
    team.registry.yank(SYSTEM, "payments/refunds", "1.0.0", "wrong sums")
    assert ask(team, "/skills/payments.refunds", status=404) == "Skill not found"
    assert ask(team, "/download", status=404, slug="payments.refunds").startswith("Version not found")
    assert ask(team, "/skills/payments.refunds/versions/1.0.0")["version"]["version"] == "1.0.0"
    assert ask(team, "/skills/payments.refunds/versions") == {"items": [], "nextCursor": None}
    team.registry.delete(SYSTEM, "payments/refunds")
    assert ask(team, "/skills/payments.refunds/versions/1.0.0", status=404) == "Skill not found"
    public = AppClient(create_registry_app(team.registry, ServerSettings(public_read=True)))
    assert public.get(f"{API}/skills").json()["items"][0]["slug"] == "sales.leads"
    assert public.get(f"{API}/whoami").status_code == 401
    assert public.post(f"{API}/skills", json={}).status_code == 401
    assert public.delete(f"{API}/skills/sales.leads").status_code == 401


def payload(**fields: Any) -> dict[str, Any]:
    return {"slug": "invoices", "ownerHandle": "payments", "version": "1.0.0", "changelog": ""} | fields


def publish_form(writer: AppClient, files: dict[str, bytes], **fields: Any) -> Any:
    parts = [("files", (name, data)) for name, data in files.items()]
    return writer.post(f"{API}/skills", data={"payload": json.dumps(payload(**fields))}, files=parts)


def test_forms(team: Team) -> None:
    """[SURFACES: Registry protocols] a form with a payload and files publishes all of it at once."""
    writer = client(team, team.token(Role.PUBLISHER, "payments").secret)
    response = publish_form(writer, {"SKILL.md": INVOICES, "scripts/total.py": b"print(1)"}, tags=["beta"])
    assert response.json()["versionId"] == "payments/invoices@1.0.0", response.text
    version = team.registry.skill(SYSTEM, "payments/invoices").resolve("beta")
    assert [file.path for file in team.registry.files(SYSTEM, version)] == ["SKILL.md", "scripts/total.py"]
    assert team.registry.audit(SYSTEM, version) is not None
    again = publish_form(writer, {"SKILL.md": INVOICES})
    assert (again.status_code, "already" in again.text) == (409, True)
    for owner, slug in (("-", "root"), ("", "own"), ("payments.eu", "deep"), ("x", "payments.dotted")):
        response = publish_form(writer, {"SKILL.md": INVOICES}, ownerHandle=owner, slug=slug)
        assert response.status_code == (403 if owner == "-" else 200), response.text
    ids = [skill.id for skill in team.registry.skills(SYSTEM)]
    assert ids == ["payments/dotted", "payments/eu/deep", "payments/invoices", "payments/own"]


BAD_FILES = (
    *("../SKILL.md", "/etc/passwd", "a\\b", "CON", "a/../../b", "a//b", "a\nb"),
    "x" * 2000,
    "skill.MD/",
)


@each("name", BAD_FILES)
def test_hostile_files(team: Team, name: str) -> None:
    """[SURFACES: Registry protocols] a file that some system can't hold is refused with 400."""
    writer = client(team)
    upload = writer.post(f"{API}/skills/-/uploads/{hashlib.sha256(b'x').hexdigest()}", content=b"x").json()
    main = writer.post(f"{API}/skills/-/uploads/{hashlib.sha256(INVOICES).hexdigest()}", content=INVOICES)
    files = [
        {"path": "SKILL.md", "sha256": hashlib.sha256(INVOICES).hexdigest(), **main.json()},
        {"path": name, "sha256": hashlib.sha256(b"x").hexdigest(), **upload},
    ]
    response = writer.post(f"{API}/skills", json=payload(files=files))
    assert (response.status_code, team.registry.skills(SYSTEM)) == (400, [])
    assert response.headers["Content-Type"].startswith("text/plain")


@each(
    "fields",
    [
        {"slug": 7},
        {"slug": "../x"},
        {"slug": "A"},
        {"ownerHandle": "a/b"},
        {"version": "one"},
        {"version": "1.0.0+5"},
        {"tags": ["1"]},
        {"tags": "latest"},
        {"tags": ["x"] * 21},
        {"changelog": "x" * 3000},
        {"changelog": "\ud800"},
        {"files": "none"},
        {"files": [7]},
        {"files": [{"path": "SKILL.md", "storageId": "../../x", "sha256": "0" * 64}]},
        {"files": [{"path": "SKILL.md", "storageId": "0" * 64, "sha256": "0" * 64}]},
        {"files": []},
    ],
)
def test_hostile_payloads(team: Team, fields: dict[str, Any]) -> None:
    """[SURFACES: Registry protocols] what is no publication is 400 in plain text, and publishes nothing."""
    writer = client(team)
    digest = hashlib.sha256(INVOICES).hexdigest()
    main = writer.post(f"{API}/skills/-/uploads/{digest}", content=INVOICES).json()
    files = [{"path": "SKILL.md", "sha256": digest, **main}]
    response = writer.post(f"{API}/skills", content=json.dumps(payload(files=files) | fields))
    assert (response.status_code, team.registry.skills(SYSTEM)) == (400, []), response.text
    for body in (b"", b"[]", b"[" * 100_000, b"\xff"):
        assert writer.post(f"{API}/skills", content=body).status_code == 400


def test_uploads_belong_to_their_caller(team: Team) -> None:
    """[SURFACES: Registry protocols] the digest of a file of others does not lead to its bytes."""
    team.publish("secret/plan", "1.0.0", plan__txt=b"the plan")
    team.registry.accounts.grant(SYSTEM, Grant("mallory", Role.PUBLISHER, "m"))
    token = team.registry.accounts.create_token(SYSTEM, Role.PUBLISHER, "m", owner="mallory").secret
    mallory, admin = client(team, token), client(team)
    digest = hashlib.sha256(b"the plan").hexdigest()
    theirs = admin.post(f"{API}/skills/-/uploads/{digest}", content=b"the plan").json()["storageId"]
    forged = b'skillc upload 1 {"subject": "mallory", "time": "2026-01-01T00:00:00+00:00"}\nthe plan'
    mine = mallory.post(f"{API}/skills/-/uploads/{hashlib.sha256(forged).hexdigest()}", content=forged).json()
    for storage in (digest, theirs, hashlib.sha256(forged).hexdigest(), mine["storageId"]):
        files = [{"path": "SKILL.md", "storageId": storage, "sha256": digest}]
        response = mallory.post(f"{API}/skills", json=payload(ownerHandle="m", files=files))
        assert response.status_code == 400, response.text
        assert "the plan" not in response.text


def test_bounds(team: Team) -> None:
    """[SURFACES: Registry protocols] uploads, forms and JSON over their limits are refused."""
    writer = client(team)
    huge = {"Content-Length": str(MAX_BYTES + 1)}
    digest = "0" * 64
    assert writer.post(f"{API}/skills/-/uploads/{digest}", headers=huge, content=b"").status_code == 413
    assert writer.post(f"{API}/skills", content=b" " * (5 << 20)).status_code == 413
    ticket = {"path": "a", "size": MAX_BYTES + 1, "sha256": digest}
    assert writer.post(f"{API}/skills/-/upload-url", json=ticket).status_code == 400
    assert writer.post(f"{API}/skills/-/uploads/{digest}", content=b"other").status_code == 400
    reader = client(team, team.token(Role.READER).secret)
    assert reader.post(f"{API}/skills/-/upload-url", json=ticket).status_code == 403
    assert reader.post(f"{API}/skills/-/uploads/{digest}", content=b"x").status_code == 403
    for boundary in ("", "; boundary=", "; boundary=x"):
        headers = {"Content-Type": f"multipart/form-data{boundary}"}
        assert writer.post(f"{API}/skills", headers=headers, content=b"--y\r\n").status_code == 400
    for limit in ("0", "-1", "x", "1" * 20):
        assert ask(team, "/skills", status=400, limit=limit)

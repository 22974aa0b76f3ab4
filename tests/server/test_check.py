"""`skc serve --check`: each part of a registry that works, and each that does not, with real parts."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from skillc.registry import open_registry
from skillc.registry.store import open_store
from skillc.registry.store.migrations import MIGRATIONS, migrate
from skillc.results import RESULTS
from skillc.server import ServeOptions, Trial, check_registry, make_launch
from tests.conftest import World
from tests.support import s3 as support_s3
from tests.support.issuer import Issuer
from tests.support.postgres import Cluster
from tests.support.shapes import find_faults

SECRET = "s3cret-of-the-store"
ALL = len(MIGRATIONS)


def check(*, seconds: float = 30.0, port: int = 0, **options: str) -> dict[str, Trial]:
    launch = make_launch(
        ServeOptions(host="127.0.0.1", port=port, workers=1, rate_limit=0, **options),  # type: ignore[arg-type]
        lambda service: {},
    )
    return {trial.name: trial for trial in check_registry(launch, seconds)}


def failures(trials: dict[str, Trial]) -> list[str]:
    assert all(SECRET not in trial.message for trial in trials.values())
    assert all("error[" not in trial.message for trial in trials.values() if trial.status == "ok")
    return [trial.message for trial in trials.values() if trial.status != "ok"]


def test_of_a_new_home(world: World) -> None:
    """[SURFACES: Registry] before the first start all works, a start's work is named, and nothing is made."""
    before = sorted(world.home.rglob("*"))
    trials = check()
    assert failures(trials) == []
    assert [*trials] == ["store", "blobs", "folder", "address"]
    assert "a start makes them, and makes the first admin and prints the token" in trials["store"].message
    assert sorted(world.home.rglob("*")) == before


def test_of_a_store_in_use(world: World, tmp_path: Path) -> None:
    """[SURFACES: Registry] beside a registry that is open, nothing is to do and nothing is changed."""
    store = str(tmp_path / "registry.db")
    with open_registry(store) as registry:
        registry.accounts.create_first_admin()
        trials = check(store=store, token_file=str(tmp_path / "no" / "folder"))  # which it needs no more
        assert registry.log.find_end().sequence > 0
    assert failures(trials) == []
    assert f"{ALL} of {ALL} migrations; a start changes nothing" in trials["store"].message
    assert not [*tmp_path.rglob(".check*")]
    folder = tmp_path / "blobs" / "sha256"
    assert trials["blobs"].message == f"{folder}: a file was written there and removed"


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_migrations(kind: str, request: pytest.FixtureRequest, world: World, tmp_path: Path) -> None:
    """[SURFACES: Registry] pending migrations are named and not run; a store of a newer skillc is refused."""
    if kind == "sqlite":
        url = str(tmp_path / "registry.db")
        open_store(url).close()
        os.remove(url)
        Path(url).touch()
    else:
        url = request.getfixturevalue("cluster").create_schema()
    blobs = str(tmp_path / "blobs")
    empty = check(store=url, blobs=blobs)
    assert failures(empty) == []
    assert "has no tables" in empty["store"].message
    store = open_store(url, prepare=False)
    migrate(store, MIGRATIONS[:-2])
    for _ in range(2):
        trial = check(store=url, blobs=blobs)["store"]
        assert trial.status == "ok"
        assert (
            f"with {ALL - 2} of {ALL} migrations; a start runs migrations {ALL - 1} to {ALL}" in trial.message
        )
    with store.write() as connection:
        connection.execute("INSERT INTO migrations (number, applied_at) VALUES (?, 0)", ALL + 1)
    store.close()
    (line,) = failures(check(store=url, blobs=blobs))
    assert line.startswith("error[E092]: registry 'store' unavailable: a newer skillc wrote it")


def test_postgresql_that_refuses(cluster: Cluster, world: World, tmp_path: Path) -> None:
    """[SURFACES: Registry] a server that is down, an unknown database, and users without rights."""
    blobs = str(tmp_path / "blobs")
    url = cluster.create_schema()
    name = url.rpartition("%3D")[2]
    cluster.psql("postgres", f"CREATE ROLE guest_{name} LOGIN; GRANT USAGE ON SCHEMA {name} TO guest_{name}")
    guest = url.replace("skillc@", f"guest_{name}:{SECRET}@")
    for address, reason in (
        (f"postgresql://me:{SECRET}@127.0.0.1:1/x", "Connection refused"),
        (f"postgresql://skillc:{SECRET}@/nowhere?host={cluster.folder}", 'database "nowhere" does not exist'),
        (guest, "its user may not create tables in its schema"),
    ):
        (line,) = failures(check(store=address, blobs=blobs))
        assert line.startswith("error[E092]: "), line
        assert reason in line
        assert "; check --store (SKILLC_STORE)" in line
    open_store(url).close()
    cluster.psql("postgres", f"GRANT SELECT ON ALL TABLES IN SCHEMA {name} TO guest_{name}")
    (line,) = failures(check(store=guest, blobs=blobs))
    assert "permission denied for table claims" in line
    assert "its address must be given" not in line
    (line,) = failures(check(store=url))
    assert "it needs the address of its blobs, too; check --blobs" in line


def test_buckets(s3: support_s3.S3, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry] a bucket that works, one that is not there, wrong keys, and no server."""
    good = check(blobs=f"s3://{support_s3.BUCKET}/team")
    assert failures(good) == []
    assert good["blobs"].message == f"s3://{support_s3.BUCKET}/team: a blob was written and read"
    (line,) = failures(check(blobs="s3://nowhere/team"))
    assert line.startswith("error[E092]: registry 's3://nowhere/team' unavailable: ")
    with monkeypatch.context() as patch:
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        (line,) = failures(check(blobs=f"s3://{support_s3.BUCKET}/team"))
    assert "its keys, region and endpoint" in line
    s3.stop()
    (line,) = failures(check(blobs=f"s3://{support_s3.BUCKET}/team"))
    assert line.startswith("error[E092]")


def test_issuers(issuer: Issuer, world: World, tmp_path: Path) -> None:
    """[SURFACES: Registry] discovery and keys of an issuer are read; one that fails or hangs is an error."""
    config = tmp_path / "registry.toml"

    def ask(url: str, seconds: float = 30.0) -> Trial:
        config.write_text(f'[oidc]\nissuer = "{url}"\nclient_id = "skillc"\n')
        return check(url="https://skills.example.com", config=str(config), seconds=seconds)["sign-in"]

    good = ask(issuer.url)
    assert good.message == f"{issuer.url}: its discovery document was read, and 1 of its keys can be used"
    issuer.changes = {"authorization_endpoint": ""}
    assert "people can't sign in there; check [oidc] issuer" in ask(issuer.url).message
    issuer.changes = {"issuer": "https://other.example.com"}
    assert "names another issuer" in ask(issuer.url).message
    issuer.changes = {}
    issuer.slow.clear()
    try:
        late = ask(issuer.url, seconds=1.0)
    finally:
        issuer.slow.set()
    assert late.message.startswith("error[E999]: no answer in 1 seconds; check [oidc] issuer")
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1]
    down = ask(f"http://127.0.0.1:{number}")
    assert (down.status, down.message.startswith("error[E092]: issuer ")) == ("error", True)


def test_the_command(world: World, tmp_path: Path) -> None:
    """[SURFACES: Registry] [SURFACES: JSON] status 0 or 1; a busy port and a wrong place are a line each."""
    assert world.ok("serve", "--check", "--port", "0").stdout.count("\n") == 4
    (tmp_path / "file").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = ("serve", "--check", "--port", port, "--blobs", str(tmp_path / "file" / "blobs"))
        run = world.skc(*words, "--format", "json")
    value = json.loads(run.stdout)
    assert find_faults(value, RESULTS["serve"]) == []
    assert (run.returncode, value["ok"]) == (1, False)
    assert [each["name"] for each in value["checks"] if each["status"] == "error"] == ["blobs", "address"]
    messages = [each["message"] for each in value["checks"]]
    assert messages[1].startswith("error[E092]: ")
    assert messages[3].endswith(f"port {port}: Address already in use; choose another port with --port")
    world.fails("E100", "serve", "--check", "--read-only", "--port", "0")


def test_no_permission(world: World, unprivileged: tuple[str, ...]) -> None:
    """[SURFACES: Registry] folders without permission are named, each with what to do."""
    world.home.chmod(0o500)
    try:
        run = world.process("serve", "--check", "--port", "0", prefix=unprivileged)
    finally:
        world.home.chmod(0o700)
    lines = run.stdout.splitlines()
    assert (run.returncode, run.stderr) == (1, "")
    assert [line.split()[:2] for line in lines[:3]] == [
        ["error", name] for name in ("store", "blobs", "folder")
    ]
    assert all(": Permission denied; " in line for line in lines[:3])
    assert "set SKILLC_HOME to a folder that the server can write" in lines[2]

"""Blobs by digest: in a folder, and in a bucket of a real S3 server where there is one."""

from __future__ import annotations

import multiprocessing
import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from skillc.errors import InvalidOption, InvalidParameter, RegistryRefused, RegistryUnavailable
from skillc.registry import PUBLIC, SYSTEM, Role
from skillc.registry.blobs import Blobs, digest_of, open_blobs
from skillc.registry.model import Caller, Permission
from skillc.registry.store import open_store
from tests.registry.conftest import Clock, Team
from tests.support.cases import each
from tests.support.s3 import BUCKET, S3


@pytest.fixture(params=["folder", "s3"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "folder":
        return str(tmp_path / "blobs")
    request.getfixturevalue("s3")
    return f"s3://{BUCKET}/some/prefix"


def find_all(blobs: Blobs) -> list[str]:
    return sorted(d for batch in blobs.find_older(datetime.now(UTC) + timedelta(days=1)) for d in batch)


@pytest.mark.slow
def test_bytes_come_back(address: str) -> None:
    """[SURFACES: Registry model] a blob is what was written, empty or large, and can be written twice."""
    blobs = open_blobs(address)
    for data in (b"", b"text", os.urandom(12 << 20)):
        for _ in range(2):
            blobs.write(digest_of(data), data)
        assert blobs.read(digest_of(data)) == data
    assert open_blobs(address).read(digest_of(b"text")) == b"text"
    with pytest.raises(RegistryUnavailable, match="missing") as caught:
        blobs.read(digest_of(b"nothing"))
    assert caught.value.code == "E092"


@pytest.mark.skipif(os.name != "posix", reason="modes")
@each("mode", [0o755, 0o777])
def test_others_read_nothing(tmp_path: Path, mode: int) -> None:
    """[SURFACES: Registry model] in a folder that others can enter, what is ours is closed to them."""
    folder = tmp_path / "blobs"
    (folder / "sha256").mkdir(parents=True, exist_ok=True)
    for path in (folder, folder / "sha256"):
        path.chmod(mode)
    open_blobs(str(folder)).write(digest_of(b"text"), b"text")
    assert (folder / "sha256").stat().st_mode & 0o777 == 0o700
    assert folder.stat().st_mode & 0o777 == mode  # it may have other things in it


def test_find_and_remove(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] blobs are written and removed together, and found by age, in batches."""
    monkeypatch.setattr("skillc.registry.blobs._CHUNK", 5)
    blobs = open_blobs(address)
    assert find_all(blobs) == []
    contents = {digest_of(data): data for data in (b"%d" % number for number in range(12))}
    blobs.write_all(contents)
    blobs.write_all({})
    digests = sorted(contents)
    assert find_all(blobs) == digests
    assert {digest: blobs.read(digest) for digest in contents} == contents
    assert [d for batch in blobs.find_older(datetime.now(UTC) - timedelta(hours=1)) for d in batch] == []
    blobs.remove(digests[:7])
    assert find_all(blobs) == digests[7:]


def test_a_registry_on_each(address: str, tmp_path: Path, clock: Clock) -> None:
    """[SURFACES: Registry model] publishing, reading and collecting are the same on both."""
    clock.now = datetime.now(UTC)
    with Team(open_store(str(tmp_path / "registry.db")), open_blobs(address), clock) as registry:
        version = registry.release("1.0.0")
        registry.release("1.0.0", "payments/gone")
        registry.delete(SYSTEM, "payments/gone")
        assert registry.read_file(SYSTEM, version, "SKILL.md").startswith(b"---")
        assert registry.read_archive(SYSTEM, version)[:2] == b"\x1f\x8b"
        clock.move(days=31)
        collected = registry.collect(SYSTEM)
        assert (collected.skills, collected.blobs) == (("payments/gone",), 2)
        assert registry.read_archive(SYSTEM, version)


@pytest.mark.slow
def test_s3_stops_and_starts(s3: S3, tmp_path: Path) -> None:
    """[SURFACES: Registry model] without its bucket it is E092, publishes nothing, and then goes on."""
    blobs = open_blobs(f"s3://{BUCKET}/x")
    with Team(open_store(str(tmp_path / "registry.db")), blobs) as registry:
        version = registry.release("1.0.0")
        s3.stop()
        try:
            with pytest.raises(RegistryUnavailable) as caught:
                registry.release("2.0.0")
            assert caught.value.line().startswith(f"error[E092]: registry 's3://{BUCKET}/x' unavailable: ")
            assert "loopback" not in caught.value.text()
            with pytest.raises(RegistryUnavailable):
                registry.read_archive(SYSTEM, version)
        finally:
            s3.start()
        assert len(registry.skill(SYSTEM, "payments/refunds").versions) == 1
        assert registry.release("2.0.0").version == "2.0.0"


def test_a_bucket_is_probed(s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] a wrong bucket or key is found before it is needed, and is noted."""
    blobs = open_blobs(f"s3://{BUCKET}/x")
    blobs.probe()
    assert blobs.error == ""
    with pytest.raises(RegistryUnavailable, match="no such bucket"):
        open_blobs("s3://another/x").probe()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "geheim")
    wrong = open_blobs(f"s3://{BUCKET}/x")
    with Team(open_store(str(tmp_path / "registry.db")), wrong) as registry:
        with pytest.raises(RegistryUnavailable, match="signature"):
            registry.probe()
        registry.follow()
        assert registry.feed.wait(0, 10)
        assert "signature" in (registry.outage() or "")


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"AWS_SECRET_ACCESS_KEY": "geheim"}, "Check your key and signing method. (SignatureDoesNotMatch)"),
        (
            {"AWS_ACCESS_KEY_ID": "nobody"},
            "No user exists with the provided access key ID. (XAdminUserNotFound)",
        ),
        ({"AWS_REGION": "eu-x"}, 'the region "eu-x" is wrong; expecting "us-east-1"'),
        ({"AWS_ALLOW_HTTP": "false"}, "AWS_ALLOW_HTTP=true allows that"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "unavailable: http://127.0.0.1:9 can't be reached"),
    ],
)
def test_a_wrong_setting_is_named(
    s3: S3, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], reason: str
) -> None:
    """[SURFACES: Registry model] a line says what is wrong with the setup of a bucket, as its server does."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RegistryUnavailable) as caught:
        open_blobs(f"s3://{BUCKET}/x").probe()
    assert reason in caught.value.line()
    assert "geheim" not in caught.value.text()


@each("address", ["nonsense", "//host", "ftp://host", "https://", "http://a b"])
def test_an_endpoint_that_is_no_address(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """[SURFACES: Registry model] an endpoint that obstore panics on is refused by its variable."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    with pytest.raises(InvalidOption, match="AWS_ENDPOINT_URL is not the address of a server"):
        open_blobs(f"s3://{BUCKET}/x")


def test_addresses(tmp_path: Path) -> None:
    """[SURFACES: Registry model] a path or file://; what is no address or no such folder is one line."""
    for address in (str(tmp_path / "a b"), f"file://{tmp_path}/a b"):
        open_blobs(address).write(digest_of(b"x"), b"x")
    assert find_all(open_blobs(str(tmp_path / "a b"))) == [digest_of(b"x")]
    assert (tmp_path / "a b").stat().st_mode & 0o077 == 0
    for address in ("ftp://example.com/x", "memory:///", "s3://"):
        with pytest.raises(InvalidOption):
            open_blobs(address)
    (tmp_path / "file").write_text("")
    with pytest.raises(RegistryUnavailable):
        open_blobs(str(tmp_path / "file"))
    blobs = open_blobs(str(tmp_path / "blobs"))
    (tmp_path / "blobs" / "sha256").rmdir()
    (tmp_path / "blobs" / "sha256").write_text("a file")
    with pytest.raises(RegistryUnavailable):
        blobs.write(digest_of(b"x"), b"x")
    with pytest.raises(RegistryUnavailable):
        open_blobs(str(tmp_path / "blobs"))


def _write_forever(folder: str) -> None:
    blobs = open_blobs(folder)
    while True:
        data = os.urandom(4 << 20)
        blobs.write(digest_of(data), data)


@pytest.mark.slow
def test_killed_while_writing(tmp_path: Path) -> None:
    """[SURFACES: Registry model] a process that is killed leaves whole blobs alone."""
    folder = str(tmp_path / "blobs")
    for pause in range(4):
        process = multiprocessing.get_context("spawn").Process(target=_write_forever, args=(folder,))
        process.start()
        while not find_all(open_blobs(folder)):
            time.sleep(0.02)
        time.sleep(0.03 * pause)
        process.kill()
        process.join()
        blobs = open_blobs(folder)
        assert all(blobs.read(digest) for digest in find_all(blobs))
        blobs.remove(find_all(blobs))
    (tmp_path / "blobs" / "sha256" / f"{'0' * 64}#1").write_bytes(b"half")  # at least one
    blobs.sweep(datetime.now(UTC) - timedelta(minutes=5))
    assert list(Path(folder).rglob("*#*"))
    blobs.sweep(datetime.now(UTC) + timedelta(minutes=5))
    assert [path for path in Path(folder).rglob("*") if path.is_file()] == []


def test_an_upload_is_for_an_hour_and_one_caller(registry: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] an upload is for the caller that sent it, and for an hour."""
    other = Caller("other", (Permission(Role.ADMIN),))
    name = registry.uploads.add(SYSTEM, b"text\nmore")
    assert registry.uploads.read(SYSTEM, name) == b"text\nmore"
    with pytest.raises(InvalidParameter, match="no upload"):
        registry.uploads.read(other, name)
    with pytest.raises(RegistryRefused):
        registry.uploads.add(PUBLIC, b"text")
    clock.move(hours=2)
    for wrong in (name, "", "x", "../x", "0" * 64, "sha256:" + "0" * 64):
        with pytest.raises(InvalidParameter, match="no upload"):
            registry.uploads.read(SYSTEM, wrong)

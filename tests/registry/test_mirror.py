"""Mirrors: skills of another registry over HTTP, and of a git repository, fetched when they are asked for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from skillc.errors import RegistryRefused, RegistryUnavailable, SkillExists, SkillNotFound
from skillc.registry import (
    SYSTEM,
    Mirror,
    Policies,
    Registry,
    RegistryUpstream,
    ReviewRules,
    Role,
    VersionSource,
    make_archive,
    make_package,
    open_registry,
)
from skillc.registry.mirror import GitUpstream, Import, Upstream as AnyUpstream
from skillc.registry.model import Caller, Permission, StoredFile
from skillc.server import ServerSettings, create_registry_app
from skillc.server.configuration import read_configuration
from tests.registry.conftest import Clock, Team, package
from tests.support.cases import each
from tests.support.client import AppClient
from tests.support.git import Origin, Server
from tests.support.http import Stub, page, stub
from tests.support.team import Seen, serve_registry

__all__ = ["stub"]

READER = Caller("cy", (Permission(Role.READER),))
MAINTAINER = Caller("di", (Permission(Role.MAINTAINER, "payments"),))


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Registry]:
    with open_registry(str(tmp_path / "elsewhere" / "registry.db")) as made:
        yield made


@pytest.fixture
def served(elsewhere: Registry) -> Iterator[tuple[str, list[Seen]]]:
    with serve_registry(elsewhere, public=True) as pair:
        yield pair


def mirror(
    registry: Registry, upstream: AnyUpstream, prefix: str = "community", caller: Caller = READER
) -> VersionSource:
    """Return what a caller sees of a registry that mirrors an upstream."""
    registry.mirrors.append(Mirror(registry, upstream, prefix))
    return registry.source(caller)


def mirror_registry(registry: Registry, url: str) -> VersionSource:
    return mirror(registry, RegistryUpstream(url))


def test_another_registry(
    registry: Team, elsewhere: Registry, served: tuple[str, list[Seen]], clock: Clock
) -> None:
    """[SURFACES: Registry model] a skill that is not here comes from there, with its files and its number."""
    url, seen = served
    main = b"---\nname: pdf\ndescription: Fill in forms\n---\n# PDF\n"
    files = {"SKILL.md": main, "scripts/run me.sh": b"#!/bin/sh\n", "\xfc.md": b"text"}
    there = elsewhere.publish(
        SYSTEM, make_package("tools/pdf", files, {"scripts/run me.sh"}), version="1.2.0"
    )
    elsewhere.publish(SYSTEM, make_package("tools/pdf", {"SKILL.md": main}), version="2.0.0-rc.1")
    source = mirror_registry(registry, url)
    version = source.skill("community/tools/pdf").resolve()
    assert (version.version, version.digest, version.audit) == ("1.2.0", there.digest, "")
    assert version.note == f"mirrored from {url} tools/pdf@1.2.0"
    assert version.published_by == f"mirror of {url}"
    assert [(f.path, f.is_executable) for f in source.files(version)] == [
        ("SKILL.md", False),
        ("scripts/run me.sh", True),
        ("\xfc.md", False),
    ]
    assert source.read_file(version, "\xfc.md") == b"text"
    assert [str(skill.id) for skill in source.skills()] == ["community/tools/pdf"]
    count = len(seen)
    source.skill("community/tools/pdf")
    assert len(seen) == count
    with pytest.raises(SkillNotFound):
        source.skill("tools/pdf")
    with pytest.raises(SkillNotFound):
        source.skill("community")
    assert len(seen) == count


def test_newer_versions(
    registry: Team, elsewhere: Registry, served: tuple[str, list[Seen]], clock: Clock
) -> None:
    """[SURFACES: Registry model] new versions come after an hour; what was deleted here does not."""
    elsewhere.publish(SYSTEM, package("pdf"), version="1.0.0")
    source = mirror_registry(registry, served[0])
    source.skill("community/pdf")
    elsewhere.publish(SYSTEM, package("pdf", "New."), version="1.1.0")
    elsewhere.publish(SYSTEM, package("pdf", "Bad."), version="1.2.0")
    elsewhere.yank(SYSTEM, "pdf", "1.2.0", "bad")
    assert source.skill("community/pdf").resolve().version == "1.0.0"
    clock.move(hours=2)
    assert [version.version for version in source.skill("community/pdf").versions] == ["1.1.0", "1.0.0"]
    assert source.skill("community/pdf").resolve().version == "1.1.0"
    registry.delete(SYSTEM, "community/pdf")
    clock.move(hours=2)
    with pytest.raises(SkillNotFound):
        source.skill("community/pdf")


def test_what_is_not_there(
    registry: Team, elsewhere: Registry, served: tuple[str, list[Seen]], clock: Clock
) -> None:
    """[SURFACES: Registry model] what neither has is E001, and is not asked for again within a minute."""
    url, seen = served
    source = mirror_registry(registry, url)
    for _ in range(3):
        with pytest.raises(SkillNotFound, match="neither"):
            source.skill("community/nothing")
    assert len(seen) == 1
    elsewhere.publish(SYSTEM, package("nothing"))
    clock.move(minutes=2)
    assert source.skill("community/nothing").latest is not None
    with pytest.raises(RegistryRefused):
        registry.skill(Caller("eve", (Permission(Role.READER, "payments"),)), "community/other")


def test_an_upstream_that_is_down(registry: Team, elsewhere: Registry, clock: Clock) -> None:
    """[SURFACES: Registry model] what is here is served while the upstream is down; other skills are E092."""
    elsewhere.publish(SYSTEM, package("pdf"), version="1.0.0")
    with serve_registry(elsewhere, public=True) as (url, _):
        source = mirror_registry(registry, url)
        source.skill("community/pdf")
    clock.move(days=1)
    assert source.skill("community/pdf").resolve().version == "1.0.0"
    with pytest.raises(RegistryUnavailable):
        source.skill("community/other")


def test_with_policies_and_reviews(
    registry: Team, elsewhere: Registry, served: tuple[str, list[Seen]], clock: Clock
) -> None:
    """[SURFACES: Registry model] policies around a mirror hide what it fetched; reviews hold it."""
    elsewhere.publish(SYSTEM, package("pdf"), version="1.0.0")
    elsewhere.publish(SYSTEM, package("denied"), version="1.0.0")
    policies = Policies(timedelta(days=3), deny=("community/denied",), clock=clock)
    mirror_registry(registry, served[0])
    source = registry.source(READER, policies.allows)
    for name in ("pdf", "denied"):
        with pytest.raises(SkillNotFound, match="policy"):
            source.skill(f"community/{name}")
    clock.move(days=3)
    assert source.skill("community/pdf").resolve().version == "1.0.0"
    registry._rules = ReviewRules(("community",))
    elsewhere.publish(SYSTEM, package("held"), version="1.0.0")
    with pytest.raises(SkillNotFound):
        source.skill("community/held")
    registry.review(SYSTEM, "community/held", "1.0.0", approve=True)
    clock.move(days=3)
    assert source.skill("community/held").resolve().version == "1.0.0"


def test_audits(registry: Team, elsewhere: Registry, served: tuple[str, list[Seen]]) -> None:
    """[SURFACES: Registry model] what is mirrored is audited like what is published."""
    elsewhere.publish(SYSTEM, package("pdf"))
    report = {"findings": [{"level": "block"}]}
    upstream = RegistryUpstream(served[0])
    registry.mirrors.append(Mirror(registry, upstream, "community", lambda package: report))
    assert registry.skill(READER, "community/pdf").versions[0].audit == "block"


class Slow:
    """An upstream that counts requests and answers when it is told to."""

    name = "slow"

    def __init__(self) -> None:
        self.requests = 0
        self.go = threading.Event()

    def read(self, skill_id: str, local_id: str) -> Import:
        self.requests += 1
        assert self.go.wait(20)
        return Import(package(local_id), "1.0.0", "slow")


def test_many_at_once(registry: Team) -> None:
    """[SURFACES: Registry model] of many that ask for one skill at once, one asks the upstream."""
    slow = Slow()
    source = mirror(registry, slow)
    with ThreadPoolExecutor(8) as pool:
        results = [pool.submit(source.skill, "community/pdf") for _ in range(8)]
        slow.go.set()
        assert {result.result().resolve().version for result in results} == {"1.0.0"}
    assert slow.requests == 1


def test_two_processes_at_once(registry: Team) -> None:
    """[SURFACES: Registry model] where another process mirrored it meanwhile, that version is served."""

    class Racing(Slow):
        def read(self, skill_id: str, local_id: str) -> Import:
            registry.publish(SYSTEM, package(local_id), version="1.0.0", mirrored=True)
            return Import(package(local_id), "1.0.0", "slow")

    source = mirror(registry, Racing())
    assert len(source.skill("community/pdf").versions) == 1


class Upstream:
    """An upstream that has every skill, at a version that is higher than any of ours."""

    name = "evil"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read(self, skill_id: str, local_id: str) -> Import:
        self.asked.append(skill_id)
        return Import(package(local_id, "Evil."), f"99.0.{len(self.asked)}", "evil")


ANA = Caller("ana", (Permission(Role.PUBLISHER, "community"),))


def versions(source: VersionSource, skill_id: str = "community/refunds") -> list[str]:
    return [version.version for version in source.skill(skill_id).versions]


def test_what_is_published_here_is_not_extended(registry: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] no mirror extends a skill that was published here, or is asked for it."""
    registry.publish(ANA, package("community/refunds"), version="1.0.0")
    upstream = Upstream()
    source = mirror(registry, upstream)
    for _ in range(2):
        assert versions(source) == ["1.0.0"]
        clock.move(days=1)
    with pytest.raises(SkillExists):
        registry.publish(SYSTEM, package("community/refunds", "Evil."), version="99.0.0", mirrored=True)
    registry.yank(SYSTEM, "community/refunds", "1.0.0", "bad")
    assert versions(source) == ["1.0.0"]
    assert upstream.asked == []


def test_what_was_published_here_is_not_replaced(registry: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] nor does a mirror bring a skill of here that waits, is deleted or gone."""
    upstream = Upstream()
    source = mirror(registry, upstream)
    registry._rules = ReviewRules(("community",))
    registry.publish(ANA, package("community/waiting"))
    registry._rules = ReviewRules()
    registry.publish(ANA, package("community/refunds"))
    registry.delete(SYSTEM, "community/refunds")
    for _ in range(2):
        for skill_id in ("community/waiting", "community/refunds"):
            with pytest.raises(SkillNotFound):
                source.skill(skill_id)
        clock.move(days=31)
        registry.collect(SYSTEM)
    assert upstream.asked == []
    assert registry.publish(ANA, package("community/refunds")).version == "0.1.0"


def test_published_here_while_the_upstream_is_asked(registry: Team) -> None:
    """[SURFACES: Registry model] of a mirror and a publisher at once, one has the ID."""

    class Racing(Upstream):
        def read(self, skill_id: str, local_id: str) -> Import:
            registry.publish(ANA, package(local_id), version="1.0.0")
            return super().read(skill_id, local_id)

    source = mirror(registry, Racing())
    assert versions(source) == ["1.0.0"]


def test_what_was_mirrored_needs_an_admin(registry: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] an admin alone publishes what a mirror brought; then it is of here."""
    upstream = Upstream()
    source = mirror(registry, upstream)
    assert versions(source) == ["99.0.1"]
    maintainer = Caller("mia", (Permission(Role.MAINTAINER), Permission(Role.ADMIN, "payments")))
    for caller in (ANA, maintainer):
        with pytest.raises(RegistryRefused, match="a mirror brought 'community/refunds'"):
            registry.publish(caller, package("community/refunds"), version="100.0.0")
    clock.move(hours=2)
    assert versions(source) == ["99.0.2", "99.0.1"]
    admin = Caller("ada", (Permission(Role.ADMIN, "community"),))
    registry.publish(admin, package("community/refunds"), version="100.0.0")
    clock.move(hours=2)
    assert versions(source) == ["100.0.0", "99.0.2", "99.0.1"]
    assert len(upstream.asked) == 2
    registry.publish(ANA, package("community/refunds"), version="101.0.0")


LATEST = {"version": "1.0.0", "digest": "sha256:0", "tags": ["latest"]}


@each(
    ("version", "files"),
    [
        (LATEST, {"SKILL.md": b"---\nname: pdf\ndescription: Fill in forms\n---\n"}),
        (LATEST, {"../up": b""}),
        (LATEST, {"README.md": b"no skill"}),
        (LATEST, {}),
        (LATEST | {"version": "newest"}, {"SKILL.md": b"---\nname: pdf\ndescription: x\n---\n"}),
    ],
)
def test_a_hostile_registry(registry: Team, stub: Stub, version: object, files: dict[str, bytes]) -> None:
    """[SURFACES: Registry model] files that are not what was promised are E092, and nothing is published."""
    data = make_archive((StoredFile(path, len(text), ""), text) for path, text in files.items())
    content = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(data), data)
    stub.answer = lambda request: [
        page({"versions": [version]}) if request.path.endswith("/versions") else content
    ]
    source = mirror_registry(registry, stub.url)
    with pytest.raises(RegistryUnavailable):
        source.skill("community/pdf")
    assert registry.skills(SYSTEM) == []


def test_a_git_repository(
    registry: Team, origin: Origin, server: Server, tmp_path: Path, clock: Clock
) -> None:
    """[SURFACES: Registry model] a git repository is mirrored: its skills, with the commit in the note.

    What is here stays while it does not answer; other skills are E092.
    """
    upstream = GitUpstream(server.url, cache=str(tmp_path / "cache"))
    source = mirror(registry, upstream, "vendor")
    version = source.skill("vendor/extraction/email").resolve()
    commit = origin.git("rev-parse", "HEAD")
    assert version.version == "0.1.0"
    assert version.note == f"mirrored from {server.url} extraction/email at {commit}"
    with pytest.raises(SkillNotFound):
        source.skill("vendor/nothing")
    server.fault = "500"
    clock.move(days=1)
    assert source.skill("vendor/extraction/email").resolve() == version
    away = mirror(registry, GitUpstream(server.url, cache=str(tmp_path / "other")), "away")
    with pytest.raises(RegistryUnavailable):
        away.skill("away/pdf")


# A registry with the policies and mirrors of its registry.toml, whichever way it is read


def opened(folder: Path, toml: str) -> Registry:
    path = folder / "registry.toml"
    path.write_text(toml)
    return open_registry(str(folder / "registry.db"), "", read_configuration(str(path))[0])


def test_policies_of_registry_toml(tmp_path: Path) -> None:
    """[SURFACES: Registry model] readers see what is allowed and old enough; maintainers see all."""
    with opened(tmp_path, '[policy]\nminimum_age = "3d"\ndeny = ["payments/legacy"]') as registry:
        for skill_id in ("payments/refunds", "payments/legacy", "other"):
            registry.publish(SYSTEM, package(skill_id))
        assert registry.skills(READER) == []
        with pytest.raises(SkillNotFound):
            registry.skill(READER, "payments/refunds")
        assert [skill.id for skill in registry.skills(MAINTAINER)] == ["payments/legacy", "payments/refunds"]
    with opened(tmp_path, '[policy]\ndeny = ["payments/legacy"]') as registry:
        assert [skill.id for skill in registry.skills(READER)] == ["other", "payments/refunds"]
        assert registry.skill(READER, "other").latest is not None
        client = AppClient(create_registry_app(registry, ServerSettings(public_read=True)))
        ids = [skill["id"] for skill in client.get("/skills").json()["skills"]]
        assert ids == ["other", "payments/refunds"]
        found = client.get("/search", params={"q": "legacy refunds"}).json()["results"]
        assert [result["id"] for result in found] == ["payments/refunds"]
        assert client.get("/skills/payments/legacy").status_code == 404


def test_mirror_of_registry_toml(tmp_path: Path, elsewhere: Registry, served: tuple[str, list[Seen]]) -> None:
    """[SURFACES: Registry model] what is not here comes from the mirror, for those who may read it."""
    elsewhere.publish(SYSTEM, package("tools/pdf"), version="1.2.0")
    with opened(tmp_path, f'[[mirror]]\nprefix = "community"\nurl = "{served[0]}"') as registry:
        other = Caller("ed", (Permission(Role.READER, "payments"),))
        with pytest.raises(RegistryRefused):
            registry.skill(other, "community/tools/pdf")
        assert registry.skills(SYSTEM) == []
        client = AppClient(create_registry_app(registry, ServerSettings(public_read=True)))
        (version,) = client.get("/skills/community/tools/pdf/versions").json()["versions"]
        assert (version["version"], version["note"].startswith("mirrored from ")) == ("1.2.0", True)
        assert client.get("/skills/community/nothing/versions").status_code == 404
        assert client.get("/skills/payments/refunds/versions").status_code == 404
        assert [skill.id for skill in registry.skills(SYSTEM)] == ["community/tools/pdf"]

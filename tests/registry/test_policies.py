"""Sources of versions with policies, and the source of skills that they make."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from skillc.errors import RegistryRefused, SkillNotFound
from skillc.library.sources import (
    CompositeSkillSource,
    FilteredSkillSource,
    NamedSource,
    PrefixedSkillSource,
    SkillFilter,
)
from skillc.registry import SYSTEM, Finder, Policies, RegistrySkillSource, Role, VersionSource, make_package
from skillc.registry.model import Caller, Permission, Version
from skillc.skills import SkillId
from tests.registry.conftest import Clock, Team, package


def listing(source: VersionSource) -> dict[str, list[str]]:
    return {str(skill.id): [version.version for version in skill.versions] for skill in source.skills()}


def test_minimum_age(registry: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] young versions are hidden; latest is the newest that is old enough."""
    registry.release("1.0.0")
    clock.move(days=3)
    young = registry.release("2.0.0")
    registry.release("1.0.0", "payments/new")
    source = registry.source(SYSTEM, Policies(timedelta(days=3), clock=clock).allows)
    assert listing(source) == {"payments/refunds": ["1.0.0"]}
    assert source.skill("payments/refunds").resolve().version == "1.0.0"
    with pytest.raises(SkillNotFound):
        source.skill("payments/new")
    for read in (lambda: source.files(young), lambda: source.read_file(young, "SKILL.md")):
        with pytest.raises(SkillNotFound, match="policy"):
            read()
    clock.move(days=3)
    assert source.skill("payments/refunds").resolve() == young
    assert source.read_file(young, "SKILL.md").startswith(b"---")


def test_policies_and_functions(registry: Team) -> None:
    """[SURFACES: Registry model] a source has what policies, or any function of a version, allow."""
    for name in ("payments/a", "payments/secret", "legal/a"):
        registry.release("1.0.0", name)
        registry.release("2.0.0", name)
    registry.yank(SYSTEM, "payments/a", "2.0.0", "bad")
    policies = Policies(allow=("payments",), deny=("payments/secret",))

    def passed(version: Version) -> bool:
        return policies.allows(version) and version.version == "1.0.0"

    assert listing(registry.source(SYSTEM, passed)) == {"payments/a": ["1.0.0"]}
    others = registry.source(SYSTEM, Policies(deny=("payments",)).allows)
    assert listing(others) == {"legal/a": ["2.0.0", "1.0.0"]}
    assert len(listing(registry.source(SYSTEM, Policies().allows))) == 3


def test_a_caller_sees_its_own(registry: Team) -> None:
    """[SURFACES: Registry model] the source of a caller has the skills that it may read."""
    registry.release("1.0.0", "payments/a")
    registry.release("1.0.0", "legal/a")
    source = registry.source(Caller("ana", (Permission(Role.READER, "legal"),)))
    assert [*listing(source)] == ["legal/a"]
    with pytest.raises(RegistryRefused):
        source.skill("payments/a")


def test_source_of_skills(registry: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] a registry is a source like any other: to list, load, filter, merge."""
    main = (
        "---\nname: refunds\ndescription: Pay money back\nmetadata:\n  version: 1.0\n  tags: [a]\n"
        "requires_capabilities: [shell]\nlicense: MIT\n---\n\n# Refunds\n"
    )
    registry.publish(SYSTEM, make_package("payments/refunds", {"skill.md": main.encode()}))
    registry.release("1.0.0", "payments/gone")
    registry.yank(SYSTEM, "payments/gone", "1.0.0", "bad")
    source = RegistrySkillSource(registry.source(SYSTEM))

    async def check() -> None:
        (found,) = await source.list()
        assert (found.id, found.description, found.scope) == ("payments/refunds", "Pay money back", "remote")
        assert found.metadata == {"version": "1.0", "tags": '["a"]'}
        assert found.requires_capabilities == ("shell",)
        assert await source.list(SkillFilter(query="nothing")) == []
        assert [collection.path for collection in await source.collections()] == ["payments"]
        document = await source.load(SkillId("payments/refunds"))
        assert (document.body, document.extensions) == ("# Refunds\n", {"license": "MIT"})
        for name in ("payments/gone", "payments/nothing"):
            with pytest.raises(SkillNotFound):
                await source.load(SkillId(name))
        view = PrefixedSkillSource(
            FilteredSkillSource(source, lambda skill: "Pay" in skill.description), "team"
        )
        merged = CompositeSkillSource([NamedSource("team", view)])
        assert [skill.id for skill in await merged.list()] == ["team/payments/refunds"]
        assert (await merged.load(SkillId("team/payments/refunds"))).body == "# Refunds\n"

    asyncio.run(check())


def test_policies_hide_and_index(registry: Team, clock: Clock, tmp_path: Path) -> None:
    """[SURFACES: Registry model] what policies hide from a source is what they hide from searches."""
    policies = Policies(timedelta(days=3), ("payments",), ("payments/legacy",), "review", clock)
    for name, level in (("payments/good", "review"), ("payments/bad", "block"), ("legal/good", "note")):
        registry.publish(SYSTEM, package(name), audit={"findings": [{"level": level}]})
    registry.publish(SYSTEM, package("payments/legacy"), audit={})
    registry.publish(SYSTEM, package("payments/unknown"))
    clock.move(days=3)
    registry.publish(SYSTEM, package("payments/young"), audit={})
    source = registry.source(SYSTEM, policies.allows)
    assert [str(skill.id) for skill in source.skills()] == ["payments/good"]
    with pytest.raises(SkillNotFound):
        source.skill("payments/bad")
    registry.policies = policies
    finder = Finder(registry, str(tmp_path / "index"))
    finder.refresh()
    assert [skill.id for skill in finder.find(SYSTEM, "text good bad young legacy")] == ["payments/good"]
    finder.close()
    everything = registry.source(SYSTEM, Policies().allows)
    assert len([*everything.skills()]) == 6
    assert len([*everything.skills("payments", "payments/legacy")]) == 2

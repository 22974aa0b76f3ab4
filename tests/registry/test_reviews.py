"""Versions that wait for a review, and what audits say of versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skillc.errors import InvalidParameter, RegistryRefused, SkillNotFound
from skillc.registry import SYSTEM, Finder, Registry, ReviewRules, Role
from skillc.registry.model import Caller, Permission
from tests.registry.conftest import Team, package
from tests.support.cases import each

ANA = Caller("ana", (Permission(Role.PUBLISHER, "payments"),))
BO = Caller("bo", (Permission(Role.MAINTAINER, "payments"),))
READER = Caller("cy", (Permission(Role.READER),))
BLOCK = {"findings": [{"rule": "A20", "level": "note"}, {"rule": "A30", "level": "block"}], "blocks": 1}


@pytest.fixture
def held(registry: Team) -> Team:
    """A registry in which what publishers publish below payments waits."""
    registry._rules = ReviewRules(("payments",))
    return registry


def versions(registry: Registry, caller: Caller, skill_id: str = "payments/refunds") -> list[str]:
    return [version.version for version in registry.skill(caller, skill_id).versions]


def test_a_version_waits(held: Team, tmp_path: Path) -> None:
    """[SURFACES: Registry model] until it is approved, a version is not chosen, and hidden from readers."""
    assert held.publish(BO, package(), version="1.0.0").status == "approved"
    waiting = held.publish(ANA, package(text="New."), version="2.0.0")
    assert waiting.status == "pending"
    assert held.skill(BO, "payments/refunds").latest == held.skill(ANA, "payments/refunds").find("1.0.0")
    assert versions(held, READER) == ["1.0.0"]
    assert versions(held, ANA) == versions(held, BO) == ["2.0.0", "1.0.0"]
    assert [len(skill.versions) for skill in held.skills(READER)] == [1]
    assert held.skill(ANA, "payments/refunds").resolve("2.0.0") == waiting
    with pytest.raises(SkillNotFound):
        held.skill(READER, "payments/refunds").resolve("2.0.0")
    assert held.queue(BO) == held.queue(ANA) == [waiting]
    assert held.queue(READER) == []
    actions = [(change.action, change.version) for change in held.changes(READER)]
    assert actions == [("publish", "1.0.0")]
    assert len(held.changes(ANA)) == 2
    with pytest.raises(InvalidParameter, match="pending"):
        held.set_tag(ANA, "payments/refunds", "latest", "2.0.0")
    finder = Finder(held, str(tmp_path / "index"))
    finder.refresh()
    assert [*finder.find(READER, "new")] == []
    approved = held.review(BO, "payments/refunds", "2.0.0", approve=True)
    assert approved.status == "approved"
    assert held.skill(READER, "payments/refunds").latest == approved
    assert held.queue(BO) == []
    review = held.read_review(READER, approved)
    assert review is not None
    assert (review.reviewer, review.tag, review.reason) == ("bo", "latest", "")
    assert review.version.status == "approved"
    finder.refresh()
    assert [skill.id for skill in finder.find(READER, "new")] == ["payments/refunds"]
    finder.close()
    with pytest.raises(InvalidParameter):
        held.review(BO, "payments/refunds", "2.0.0", approve=False, reason="too late")
    with pytest.raises(InvalidParameter):
        held.review(BO, "payments/refunds", "1.0.0", approve=True)


def test_a_new_skill_waits(held: Team) -> None:
    """[SURFACES: Registry model] of a skill whose only version waits, readers are told nothing."""
    held.publish(ANA, package("payments/new"), tag="beta")
    with pytest.raises(SkillNotFound) as caught:
        held.skill(READER, "payments/new")
    with pytest.raises(SkillNotFound) as other:
        held.skill(READER, "payments/none")
    assert caught.value.message.replace("new", "none") == other.value.message
    assert held.skills(READER) == []
    assert held.skill(ANA, "payments/new").latest is None
    assert held.publish(ANA, package("payments/new", "Other.")).version == "0.1.1"
    held.review(BO, "payments/new", "0.1.0", approve=True)
    assert held.skill(READER, "payments/new").resolve("beta").version == "0.1.0"
    held.publish(Caller("dee", (Permission(Role.PUBLISHER),)), package("legal/privacy"))
    assert held.skill(READER, "legal/privacy").latest is not None


def test_a_rejection(held: Team) -> None:
    """[SURFACES: Registry model] what is rejected, with a reason, stays hidden; it can be approved later."""
    held.publish(ANA, package())
    with pytest.raises(InvalidParameter, match="why"):
        held.review(BO, "payments/refunds", "0.1.0", approve=False)
    for caller in (ANA, READER):
        with pytest.raises(RegistryRefused):
            held.review(caller, "payments/refunds", "0.1.0", approve=True)
    rejected = held.review(BO, "payments/refunds", "0.1.0", approve=False, reason="It pays twice")
    assert rejected.status == "rejected"
    with pytest.raises(SkillNotFound):
        held.skill(READER, "payments/refunds")
    review = held.read_review(ANA, held.skill(ANA, "payments/refunds").versions[0])
    assert review is not None
    assert review.reason == "It pays twice"
    assert held.queue(BO) == []
    held.review(BO, "payments/refunds", "0.1.0", approve=True, reason="A mistake")
    assert held.skill(READER, "payments/refunds").resolve().version == "0.1.0"
    details = [change.detail.get("status") for change in held.changes(SYSTEM)]
    assert details == ["pending", "rejected", "approved"]


def test_latest_moves_as_if_published_now(held: Team) -> None:
    """[SURFACES: Registry model] an approved version that is older than the latest does not become it."""
    held.publish(ANA, package(text="One."), version="1.0.0")
    held.publish(BO, package(text="Two."), version="2.0.0")
    held.review(BO, "payments/refunds", "1.0.0", approve=True)
    assert held.skill(READER, "payments/refunds").resolve().version == "2.0.0"


def test_findings_wait(registry: Team) -> None:
    """[SURFACES: Registry model] from a level on, what an audit finds waits; so does what has none."""
    registry._rules = ReviewRules(findings="review")
    assert registry.publish(SYSTEM, package("a/none"), audit={}).status == "approved"
    assert (
        registry.publish(SYSTEM, package("a/note"), audit={"findings": [{"level": "note"}]}).audit == "note"
    )
    assert registry.publish(SYSTEM, package("a/block"), audit=BLOCK).status == "pending"
    assert registry.publish(SYSTEM, package("a/unknown")).status == "pending"
    assert {str(version.skill) for version in registry.queue(SYSTEM)} == {"a/block", "a/unknown"}


def test_reports(registry: Team) -> None:
    """[SURFACES: Registry model] a report is stored with its version, made anew, or cut."""
    first = registry.publish(SYSTEM, package(), audit=BLOCK)
    assert (first.audit, registry.audit(READER, first)) == ("block", BLOCK)
    second = registry.publish(SYSTEM, package(text="Other."))
    assert (second.audit, registry.audit(READER, second)) == ("", None)
    again = registry.set_audit(SYSTEM, "payments/refunds", second.version, {"asks": {"hosts": ["a.example"]}})
    assert again.audit == "none"
    assert registry.audit(READER, again) == {"asks": {"hosts": ["a.example"]}, "findings": []}
    assert registry.changes(SYSTEM)[-1].detail == {"level": "none"}
    with pytest.raises(RegistryRefused):
        registry.set_audit(ANA, "payments/refunds", second.version, {})
    with pytest.raises(RegistryRefused):
        registry.audit(Caller("none"), again)
    findings = [{"level": "note", "message": "x" * 200}] * 3000 + [{"level": "block"}]
    long = registry.publish(SYSTEM, package("a/long"), audit={"findings": findings})
    report = registry.audit(SYSTEM, long)
    assert long.audit == "block"
    assert report is not None
    assert 0 < len(report["findings"]) < 3000


@each(
    "report",
    [
        {"findings": {}},
        {"findings": ["x"]},
        {"findings": [{"level": "awful"}]},
        {"findings": [{}]},
        {"findings": [], "more": object()},
        {"findings": [], "more": "x" * 300_000},
    ],
)
def test_a_hostile_report(registry: Team, report: dict[str, Any]) -> None:
    """[SURFACES: Registry model] a report that is not JSON, or too large, is refused before any write."""
    with pytest.raises(InvalidParameter, match="audit"):
        registry.publish(SYSTEM, package(), audit=report)
    assert registry.skills(SYSTEM) == []

"""How many skills each collection has, on both stores."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta

import pytest

import skillc.registry.collection_counts as module
from skillc.errors import SkillcError
from skillc.registry import SYSTEM, CollectionCounts, Policies, Registry, RegistryConfig, ReviewRules, Role
from skillc.registry.model import Caller, Permission
from tests.registry.conftest import Clock, Team, package

ADA = Caller("ada", (Permission(Role.PUBLISHER, "payments"),))


def test_counts(registry: Team) -> None:
    """[SURFACES: Registry] a collection has what the caller may read, but nothing that waits for a review."""
    counts = CollectionCounts(registry)
    assert counts.count(SYSTEM) == {}
    for skill_id in ("payments/refunds", "payments/eu/refunds", "payments/eu/tax/vat", "tools/pdf", "alone"):
        registry.release(skill_id=skill_id)
    assert counts.count(SYSTEM) == {"payments": 3, "payments/eu": 2, "payments/eu/tax": 1, "tools": 1}
    assert counts.count(ADA) == {"payments": 3, "payments/eu": 2, "payments/eu/tax": 1}
    few = Caller("ben", (Permission(Role.READER, "payments/eu/tax"), Permission(Role.READER, "tools/pdf")))
    assert counts.count(few) == {"payments": 1, "payments/eu": 1, "payments/eu/tax": 1, "tools": 1}
    assert counts.count(Caller("eve")) == {}
    registry._rules = ReviewRules(("payments",))
    others = CollectionCounts(registry)
    version = registry.publish(ADA, package("payments/new/refunds"))
    assert "payments/new" not in others.count(ADA) | others.count(SYSTEM)
    registry.review(SYSTEM, "payments/new/refunds", version.version, approve=True)
    assert others.count(ADA)["payments/new"] == 1


def test_changes(registry: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry] after each change the counts are right, and only what changed is read."""
    counts = CollectionCounts(registry)
    counts.count(SYSTEM)
    readings: list[int] = []
    list_visible = Team.list_visible

    def count(team: Team) -> Iterator[str]:
        readings.append(1)
        return list_visible(team)

    monkeypatch.setattr(Team, "list_visible", count)
    chooser = random.Random(15)
    ids = [f"team-{number % 3}/{'deep/' * (number % 2)}skill-{number}" for number in range(12)]
    for step in range(80):
        skill_id = chooser.choice(ids)
        action = chooser.choice((registry.delete, registry.restore, None))
        try:
            if action is None:
                registry.release(skill_id=skill_id, text=str(step))
            else:
                action(SYSTEM, skill_id)
        except SkillcError:
            continue  # there is no such skill, or it is reserved
        readings.clear()
        found = counts.count(SYSTEM)
        assert not readings
        assert found == CollectionCounts(registry).count(SYSTEM)
    assert found


def test_policies(registry: Team, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry] what a policy hides is not counted; what becomes old enough is, a minute later."""
    policies = Policies(timedelta(days=3), deny=("payments/legacy",), clock=clock)
    strict = Registry(registry._store, registry._blobs, clock, RegistryConfig(policies))
    registry.release(skill_id="payments/refunds")
    registry.release(skill_id="payments/legacy/refunds")
    counts = CollectionCounts(strict)
    assert counts.count(SYSTEM) == {}
    clock.move(days=4)
    assert counts.count(SYSTEM) == {}
    monkeypatch.setattr(module, "HIDDEN_SECONDS", -1.0)
    assert counts.count(SYSTEM) == {"payments": 1}
    monkeypatch.undo()
    assert CollectionCounts(strict).count(SYSTEM) == {"payments": 1}

"""Lists that a server keeps: made once, right after every change that concerns them."""

from __future__ import annotations

from functools import partial

import pytest

import skillc.registry.cache as module
from skillc.registry import SYSTEM, Registry, Role, make_package
from skillc.registry.model import Caller, Grant, Permission
from skillc.server import Cache, ServerSettings, Service
from skillc.server.protocols.adapter import list_entries

ADA = Caller("ada", (Permission(Role.READER, "payments"),))


def publish(registry: Registry, skill_id: str, version: str = "1.0.0") -> None:
    text = f"---\nname: x\ndescription: {version}\n---\n"
    registry.publish(SYSTEM, make_package(skill_id, {"SKILL.md": text.encode()}), version=version)


class Maker:
    """Makes lists of IDs, and counts them."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.count = 0
        self._service = Service(registry, ServerSettings())
        registry.follow().wait(0, 5)

    def get(self, caller: Caller, prefix: str = "", kind: str = "ids") -> bytes:
        def make() -> list[str]:
            self.count += 1
            return [str(entry.version.skill) for entry in list_entries(self._registry, caller, prefix)]

        return self._service.listing(caller, prefix, kind, make)[1]


def test_made_once(registry: Registry) -> None:
    """[SURFACES: Well-known discovery] a list is made once for all with the same permissions."""
    publish(registry, "payments/refunds")
    publish(registry, "tools/pdf")
    maker = Maker(registry)
    assert maker.get(SYSTEM) == maker.get(SYSTEM) == b'["payments/refunds","tools/pdf"]'
    assert maker.count == 1
    assert maker.get(ADA) == b'["payments/refunds"]'
    assert maker.get(Caller("ben", ADA.permissions)) == b'["payments/refunds"]'
    assert maker.count == 2
    maker.get(SYSTEM, kind="other")
    assert maker.count == 3


def test_made_anew(registry: Registry) -> None:
    """[SURFACES: Well-known discovery] a change below the prefix is seen at once; others cost nothing."""
    publish(registry, "payments/refunds")
    maker = Maker(registry)
    maker.get(SYSTEM, "payments")
    publish(registry, "payments-old/refunds")
    registry.accounts.grant(SYSTEM, Grant("admin", Role.ADMIN))
    maker.get(SYSTEM, "payments")
    assert maker.count == 1
    publish(registry, "payments/tax")
    assert maker.get(SYSTEM, "payments") == b'["payments/refunds","payments/tax"]'
    registry.delete(SYSTEM, "payments/refunds")
    assert maker.get(SYSTEM, "payments") == b'["payments/tax"]'
    registry.yank(SYSTEM, "payments/tax", "1.0.0", "Wrong")
    assert maker.get(SYSTEM, "payments") == b"[]"


def test_bounds(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Well-known discovery] lists are kept for a minute, and only so many bytes of them."""
    publish(registry, "payments/refunds")
    maker = Maker(registry)
    maker.get(SYSTEM)
    monkeypatch.setattr(module, "MAX_SECONDS", -1.0)
    maker.get(SYSTEM)
    assert maker.count == 2
    monkeypatch.undo()
    monkeypatch.setattr(module, "MAX_BYTES", 30)
    maker = Maker(registry)
    maker.get(SYSTEM, "payments")
    maker.get(SYSTEM, "payments/refunds")
    maker.get(SYSTEM, "payments")
    assert maker.count == 3


def test_values_that_are_none() -> None:
    """[SURFACES: Registry] None is a value like any other: it is made once, and takes no other's place."""
    calls: list[str] = []
    cache: Cache[None] = Cache(2)
    made = [cache.get(key, partial(calls.append, key)) for key in "abab"]
    assert (made, calls) == ([None] * 4, ["a", "b"])
    assert "a" in cache
    assert "c" not in cache

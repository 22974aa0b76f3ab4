"""Files that are sent ahead of a publication."""

from __future__ import annotations

import pytest

from skillc.errors import InvalidParameter, RegistryRefused
from skillc.registry import PUBLIC, SYSTEM, Caller, Permission, Role
from tests.registry.conftest import Clock, Team


def test_for_an_hour_and_one_caller(registry: Team, clock: Clock) -> None:
    """[SURFACES: Registry model] an upload is for the caller that sent it, and for an hour."""
    other = Caller("other", (Permission(Role.ADMIN),))
    name = registry.uploads.add(SYSTEM, b"text\nmore")
    assert registry.uploads.read(SYSTEM, name) == b"text\nmore"
    with pytest.raises(InvalidParameter, match="no upload"):
        registry.uploads.read(other, name)
    with pytest.raises(RegistryRefused):
        registry.uploads.add(PUBLIC, b"text")
    clock.move(hours=2)
    with pytest.raises(InvalidParameter, match="no upload"):
        registry.uploads.read(SYSTEM, name)


@pytest.mark.parametrize("name", ["", "x", "../x", "0" * 64, "sha256:" + "0" * 64])
def test_names_that_are_none(registry: Team, name: str) -> None:
    """[SURFACES: Registry model] a name that no upload has, whatever it looks like, is E062."""
    with pytest.raises(InvalidParameter, match="no upload"):
        registry.uploads.read(SYSTEM, name)

"""What a caller may do: permissions below prefixes, and the form of tokens."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from skillc.errors import RegistryRefused
from skillc.registry import PUBLIC, SYSTEM, Role
from skillc.registry.model import Caller, Permission
from skillc.registry.model.access import create_secret, split_token

paths = st.lists(st.sampled_from(["a", "b", "a-b"]), max_size=3).map("/".join)
permissions = st.builds(Permission, st.sampled_from(Role), paths)


@given(permissions, permissions, st.sampled_from(Role), paths)
def test_narrow_is_both(one: Permission, other: Permission, role: Role, path: str) -> None:
    """[SURFACES: Registry model] a token may do what both its scope and its owner's grants allow."""
    both = Caller("ana", (one,)).narrow(other)
    allowed = any(permission.includes(role, path) for permission in both)
    assert allowed == (one.includes(role, path) and other.includes(role, path))


def test_roles_and_tokens() -> None:
    """[SURFACES: Registry model] E090 names the role that is missing; tokens are random, and hashed."""
    caller = Caller("ana", (Permission(Role.PUBLISHER, "payments"),))
    caller.require(Role.READER, "payments/refunds")
    with pytest.raises(RegistryRefused) as caught:
        caller.require(Role.MAINTAINER, "payments/refunds")
    expected = "error[E090]: the registry refused: it needs the role maintainer for 'payments/refunds'"
    assert caught.value.line() == f"{expected}; ana has: publisher below payments, no role elsewhere"
    with pytest.raises(RegistryRefused, match="the whole registry"):
        caller.require(Role.ADMIN, "")
    assert SYSTEM.allows(Role.ADMIN, "")
    assert PUBLIC.allows(Role.READER, "")
    assert not PUBLIC.allows(Role.PUBLISHER, "a")
    token_id, text, hash = create_secret()
    assert split_token(text) == (token_id, hash)
    assert hash not in text
    assert len({create_secret()[1] for _ in range(100)}) == 100

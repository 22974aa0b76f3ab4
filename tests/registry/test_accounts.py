"""Grants and tokens, the same on both stores."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from skillc.contract import encode
from skillc.errors import (
    EntryNotFound,
    InvalidParameter,
    InvalidSkillId,
    RegistryRefused,
    SignInRequired,
    SkillcError,
)
from skillc.registry import SYSTEM, NewToken, Role
from skillc.registry.model import Caller, Grant, Permission
from tests.registry.conftest import Clock, Team, package


@pytest.fixture
def admin(registry: Team) -> Caller:
    """The first admin, by its token."""
    first = registry.accounts.create_first_admin()
    assert first is not None
    return registry.accounts.authenticate(first.secret)


def sign_in(registry: Team, made: NewToken) -> Caller:
    return registry.accounts.authenticate(made.secret)


def test_secrets_are_shown_once(registry: Team, tmp_path: Path, store_url: str) -> None:
    """[SURFACES: Registry model] one first admin; neither store, nor log, nor lists have its secret."""
    first = registry.accounts.create_first_admin()
    assert first is not None
    assert registry.accounts.create_first_admin() is None
    assert sign_in(registry, first).permissions == (Permission(Role.ADMIN),)
    secret = first.secret.split("_", 2)[2]
    values = [
        registry.changes(SYSTEM),
        registry.accounts.tokens(SYSTEM),
        repr(first),
        str(encode(first.token)),
    ]
    assert secret not in repr(values)
    if store_url.startswith("sqlite"):
        files = [path for path in tmp_path.rglob("registry.db*") if path.is_file()]
        assert files
        assert not any(secret.encode() in path.read_bytes() for path in files)
        assert (tmp_path / "registry.db").stat().st_mode & 0o077 == 0


def test_one_answer_for_every_bad_token(registry: Team, clock: Clock, admin: Caller) -> None:
    """[SURFACES: Registry model] wrong, unknown, expired and revoked tokens are not told apart."""
    accounts = registry.accounts
    good = accounts.create_token(admin, Role.READER)
    expired = accounts.create_token(admin, Role.READER, expires_at=clock.now + timedelta(days=1))
    revoked = accounts.create_token(admin, Role.READER)
    accounts.revoke_token(admin, revoked.token.id)
    clock.move(days=1)
    wrong = good.secret[:-1] + ("A" if good.secret[-1] != "A" else "B")
    unknown = good.secret.replace(good.token.id, "0" * 16)
    answers = set()
    for text in (wrong, unknown, expired.secret, revoked.secret, "", "skc_nothing"):
        with pytest.raises(SignInRequired) as caught:
            accounts.authenticate(text)
        answers.add((caught.value.text(), caught.value.code))
    assert len(answers) == 1
    assert sign_in(registry, good).allows(Role.READER, "")


def test_scope_and_grants(registry: Team, admin: Caller) -> None:
    """[SURFACES: Registry model] a token may do what its scope and, now, the grants of its owner allow."""
    accounts = registry.accounts
    accounts.grant(admin, Grant("ana", Role.MAINTAINER, "payments"))
    made = accounts.create_token(admin, Role.PUBLISHER, owner="ana", label="laptop")
    ana = sign_in(registry, made)
    assert (ana.subject, ana.token) == ("ana", made.token.id)
    assert ana.permissions == (Permission(Role.PUBLISHER, "payments"),)
    registry.publish(ana, package("payments/refunds"))
    with pytest.raises(RegistryRefused):
        registry.publish(ana, package("other/skill"))
    with pytest.raises(RegistryRefused):
        registry.yank(ana, "payments/refunds", "0.1.0", "bad")
    accounts.grant(admin, Grant("ana", Role.READER, "payments"))
    assert not sign_in(registry, made).allows(Role.PUBLISHER, "payments/refunds")
    accounts.remove_grant(admin, "ana", "payments")
    assert sign_in(registry, made).permissions == ()


def test_tokens_of_tokens(registry: Team, clock: Clock, admin: Caller) -> None:
    """[SURFACES: Registry model] a token makes no token that may do more or lasts longer, nor outlives it."""
    accounts = registry.accounts
    accounts.grant(admin, Grant("ana", Role.ADMIN, "payments"))
    end = clock.now + timedelta(days=7)
    small = sign_in(
        registry, accounts.create_token(admin, Role.PUBLISHER, "payments", owner="ana", expires_at=end)
    )
    for role, prefix in ((Role.MAINTAINER, "payments"), (Role.PUBLISHER, "")):
        with pytest.raises(RegistryRefused):
            accounts.create_token(small, role, prefix)
    with pytest.raises(RegistryRefused):
        accounts.create_token(small, Role.READER, "payments", owner="bob")
    child = accounts.create_token(small, Role.READER, "payments")
    assert child.token.expires_at == end
    shorter = clock.now + timedelta(days=1)
    assert (
        accounts.create_token(small, Role.READER, "payments", expires_at=shorter).token.expires_at == shorter
    )
    grandchild = accounts.create_token(sign_in(registry, child), Role.READER, "payments")
    accounts.revoke_token(small, small.token)
    for made in (child, grandchild):
        with pytest.raises(SignInRequired):
            sign_in(registry, made)
    own = next(token for token in accounts.tokens(admin) if token.owner == "admin")
    assert own.revoked_at is None


def test_lists_show_what_is_ones_own(registry: Team, admin: Caller) -> None:
    """[SURFACES: Registry model] others' grants are for admins of their prefix, tokens for those of all."""
    accounts = registry.accounts
    for subject, prefix in (("ana", "payments"), ("bob", "legal")):
        accounts.grant(admin, Grant(subject, Role.READER, prefix))
        accounts.create_token(admin, Role.READER, prefix, owner=subject)
    ana = Caller("ana", (Permission(Role.READER, "payments"),))
    assert [grant.subject for grant in accounts.grants(ana)] == ["ana"]
    assert [token.owner for token in accounts.tokens(ana)] == ["ana"]
    assert [grant.subject for grant in accounts.grants(admin)] == ["admin", "ana", "bob"]
    assert sorted(token.owner for token in accounts.tokens(admin)) == ["admin", "ana", "bob"]
    legal = Caller("eve", (Permission(Role.ADMIN, "legal"),))
    assert [grant.subject for grant in accounts.grants(legal)] == ["bob"]
    assert accounts.tokens(legal) == []
    foreign = [token.id for token in accounts.tokens(admin)]
    for token_id in (*foreign, "nothing"):
        with pytest.raises(EntryNotFound, match="there is no token"):
            accounts.revoke_token(legal, token_id)


def test_tokens_in_anothers_name(registry: Team, admin: Caller) -> None:
    """[SURFACES: Registry model] an admin of a prefix makes, lists and revokes no token of another owner."""
    accounts = registry.accounts
    accounts.grant(admin, Grant("eve", Role.ADMIN, "legal"))
    eve = sign_in(registry, accounts.create_token(admin, Role.ADMIN, "legal", owner="eve"))
    own = accounts.create_token(admin, Role.READER, "legal")
    for owner in ("admin", "bob", "new"):
        with pytest.raises(RegistryRefused, match="the whole registry"):
            accounts.create_token(eve, Role.READER, "legal/contracts", owner=owner)
    assert {token.owner for token in accounts.tokens(eve)} == {"eve"}
    with pytest.raises(EntryNotFound, match="there is no token"):
        accounts.revoke_token(eve, own.token.id)
    assert sign_in(registry, own).subject == "admin"
    small = sign_in(registry, accounts.create_token(admin, Role.ADMIN, "legal"))
    with pytest.raises(RegistryRefused):  # nor with a token of the admin that is for a prefix
        accounts.create_token(small, Role.READER, "legal", owner="bob")


def test_tokens_within_the_scope_of_a_token(registry: Team, admin: Caller) -> None:
    """[SURFACES: Registry model] a token reaches its owner's tokens within its own scope, and itself.

    So a reader's token does not lock its admin out.
    """
    accounts = registry.accounts
    accounts.grant(admin, Grant("ana", Role.MAINTAINER, "payments"))

    def make(role: Role, prefix: str) -> NewToken:
        return accounts.create_token(admin, role, prefix, owner="ana")

    wide, equal = make(Role.ADMIN, ""), make(Role.PUBLISHER, "payments")
    reader, below = make(Role.READER, "payments"), make(Role.PUBLISHER, "payments/cards")
    outside, small = make(Role.READER, "legal"), make(Role.PUBLISHER, "payments")
    ana = sign_in(registry, small)
    reached = {made.token.id for made in (equal, reader, below, small)}
    assert {token.id for token in accounts.tokens(ana)} == reached
    for made in (wide, outside):
        with pytest.raises(EntryNotFound, match="there is no token"):
            accounts.revoke_token(ana, made.token.id)
        assert sign_in(registry, made).subject == "ana"
    for made in (equal, reader, below, small):
        accounts.revoke_token(ana, made.token.id)
    person = Caller("ana", ana.permissions)  # signed in, without a token
    assert len(accounts.tokens(person)) == 6
    accounts.revoke_token(person, wide.token.id)


def test_admins_of_a_prefix(registry: Team, admin: Caller) -> None:
    """[SURFACES: Registry model] an admin grants below its prefix alone; the last admin stays."""
    legal = Caller("eve", (Permission(Role.ADMIN, "legal"),))
    registry.accounts.grant(legal, Grant("bob", Role.ADMIN, "legal/contracts"))
    for prefix in ("", "payments", "legal-old"):
        with pytest.raises(RegistryRefused):
            registry.accounts.grant(legal, Grant("eve", Role.READER, prefix))
        with pytest.raises(RegistryRefused):
            registry.accounts.remove_grant(legal, "admin", prefix)
    accounts = registry.accounts
    with pytest.raises(InvalidParameter, match="last admin"):
        accounts.remove_grant(admin, "admin")
    with pytest.raises(InvalidParameter, match="last admin"):
        accounts.grant(admin, Grant("admin", Role.READER))
    accounts.grant(admin, Grant("ana", Role.ADMIN))
    accounts.remove_grant(admin, "admin")
    assert [grant.subject for grant in accounts.grants(SYSTEM)] == ["ana", "bob"]
    assert [change.action for change in registry.changes(SYSTEM)][-2:] == ["grant", "remove-grant"]


def test_wrong_input(registry: Team, admin: Caller) -> None:
    """[SURFACES: Registry model] subjects are lines of text, prefixes are paths of skills."""
    accounts = registry.accounts
    for grant, error in (
        (Grant("", Role.READER), InvalidParameter),
        (Grant("a\nb", Role.READER), InvalidParameter),
        (Grant("ana", Role.READER, "Payments/"), InvalidSkillId),
    ):
        with pytest.raises(error):
            accounts.grant(admin, grant)
    with pytest.raises(InvalidParameter):
        accounts.create_token(admin, Role.READER, label="\0")
    with pytest.raises(EntryNotFound, match="no grant"):
        accounts.remove_grant(admin, "nobody", "payments")
    for text in ("\0", "\ud800"):
        with pytest.raises(SkillcError):
            accounts.revoke_token(admin, text)
        with pytest.raises(SkillcError):
            accounts.remove_grant(admin, text)
        with pytest.raises(SkillcError):
            registry.skills(admin, after=text)
    assert registry.changes(admin, since=10**30) == []

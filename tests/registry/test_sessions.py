"""People and sessions, the same on both stores."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest

from skillc.errors import EntryNotFound, InvalidParameter, RegistryRefused
from skillc.registry import SYSTEM, NewSession, Role, SignedIn
from skillc.registry.model import Caller, Grant, Identity, Permission
from tests.registry.conftest import Clock, Team
from tests.support.cases import each

ISSUER = "https://login.example.com"
ANA = Identity(ISSUER, "248289761001", "ana@example.com", "Ana Example", "ana@example.com")


def find(registry: Team, new: NewSession) -> SignedIn:
    signed_in = registry.sessions.find(new.secret)
    assert signed_in is not None
    return signed_in


def test_new_people_may_do_nothing(registry: Team) -> None:
    """[SURFACES: Sign-in] a person has the grants of its name, or once a configured role."""
    registry.accounts.create_first_admin()
    new = registry.sessions.sign_in(ANA)
    signed_in = find(registry, new)
    assert (signed_in.caller, signed_in.name) == (Caller("ana@example.com"), "Ana Example")
    registry.accounts.grant(SYSTEM, Grant("ana@example.com", Role.PUBLISHER, "payments"))
    assert find(registry, new).caller.permissions == (Permission(Role.PUBLISHER, "payments"),)
    ana = replace(ANA, id="3", subject="ann@example.com")
    registry.sessions.sign_in(ana, Role.READER, "docs")
    assert find(registry, registry.sessions.sign_in(ana)).caller.permissions == (
        Permission(Role.READER, "docs"),
    )
    registry.accounts.remove_grant(SYSTEM, "ann@example.com", "docs")
    again = registry.sessions.sign_in(ana, Role.READER, "docs")
    assert find(registry, again).caller.permissions == ()
    registry.accounts.grant(SYSTEM, Grant("bob@example.com", Role.PUBLISHER, "payments"))
    bob = replace(ANA, id="2", subject="bob@example.com")
    caller = find(registry, registry.sessions.sign_in(bob, Role.READER)).caller
    assert caller.permissions == (Permission(Role.PUBLISHER, "payments"),)


def test_groups(registry: Team, clock: Clock) -> None:
    """[SURFACES: Sign-in] people have the grants of their groups, as the issuer named them last."""
    registry.accounts.create_first_admin()
    registry.accounts.grant(SYSTEM, Grant("group:platform", Role.MAINTAINER, "payments"))
    registry.accounts.grant(SYSTEM, Grant("platform", Role.ADMIN, "other"))
    member = replace(ANA, groups=("platform", "all"))
    first = registry.sessions.sign_in(member)
    caller = find(registry, first).caller
    assert caller.permissions == (Permission(Role.MAINTAINER, "payments"),)
    token = registry.accounts.create_token(caller, Role.PUBLISHER, "payments")
    assert token.token.expires_at is None
    assert registry.accounts.authenticate(token.secret).allows(Role.PUBLISHER, "payments/refunds")
    registry.sessions.sign_in(replace(member, groups=()))
    assert find(registry, first).caller.permissions == ()
    assert registry.accounts.authenticate(token.secret).permissions == ()
    registry.sessions.sign_in(member)
    clock.move(days=30)
    assert registry.accounts.authenticate(token.secret).permissions == ()


@each("subject", ["group:platform", "ci:github.com/acme/skills", "", "a\nb", "x" * 201, "admin"])
def test_names_that_no_person_has(subject: str) -> None:
    """[SURFACES: Sign-in] a claim gives no person the name of a group or of CI."""
    with pytest.raises(InvalidParameter):
        replace(ANA, subject=subject)
    with pytest.raises(InvalidParameter):
        replace(ANA, groups=("a",) * 501)


def test_a_name_stays_with_its_account(registry: Team) -> None:
    """[SURFACES: Sign-in] issuer and sub are a person: a name does not move to another account."""
    registry.accounts.create_first_admin()
    first = registry.sessions.sign_in(ANA)
    for other in (replace(ANA, id="2"), replace(ANA, issuer="https://evil.example.com")):
        with pytest.raises(RegistryRefused, match="belongs to another account"):
            registry.sessions.sign_in(other)
    renamed = registry.sessions.sign_in(replace(ANA, subject="admin@example.com", name="Ana"))
    assert (find(registry, renamed).caller.subject, find(registry, first).name) == ("ana@example.com", "Ana")
    token = registry.accounts.create_token(SYSTEM, Role.READER, owner="ana@example.com")
    registry.sessions.remove_person(SYSTEM, "ana@example.com")
    assert registry.sessions.find(first.secret) is None
    valid = [each.owner for each in registry.accounts.tokens(SYSTEM) if each.revoked_at is None]
    assert (valid, token.token.owner) == (["admin"], "ana@example.com")
    registry.sessions.sign_in(replace(ANA, id="2"))
    with pytest.raises(EntryNotFound):
        registry.sessions.remove_person(SYSTEM, "nobody@example.com")
    with pytest.raises(RegistryRefused):
        registry.sessions.remove_person(Caller("ana@example.com"), "ana@example.com")
    assert [person.identity for person in registry.sessions.people(SYSTEM)] == ["2"]


def sign_in_at_once(registry: Team, identities: list[Identity]) -> list[NewSession | RegistryRefused]:
    """Sign all of them in from threads that begin at the same time."""
    barrier = Barrier(len(identities))

    def sign_in(identity: Identity) -> NewSession | RegistryRefused:
        barrier.wait(30)
        try:
            return registry.sessions.sign_in(identity, Role.READER, "docs")
        except RegistryRefused as error:
            return error

    with ThreadPoolExecutor(len(identities)) as pool:
        return [*pool.map(sign_in, identities)]


def test_one_person_at_once(registry: Team) -> None:
    """[SURFACES: Sign-in] a new person that signs in several times at once is one person, with one grant."""
    registry.accounts.create_first_admin()
    results = sign_in_at_once(registry, [ANA] * 8)
    assert len({result.session.id for result in results if isinstance(result, NewSession)}) == 8
    assert [person.subject for person in registry.sessions.people(SYSTEM)] == ["ana@example.com"]
    actions = [change.action for change in registry.changes(SYSTEM)]
    assert (actions.count("create-person"), actions.count("grant")) == (1, 2)  # and that of the first admin


def test_one_name_at_once(registry: Team) -> None:
    """[SURFACES: Sign-in] of two accounts that want a name at once one has it, and the other is refused."""
    registry.accounts.create_first_admin()
    other = replace(ANA, id="another")
    results = sign_in_at_once(registry, [ANA, other] * 4)
    (person,) = registry.sessions.people(SYSTEM)
    winners = [
        identity.id == person.identity
        for identity, result in zip([ANA, other] * 4, results, strict=True)
        if isinstance(result, NewSession)
    ]
    assert winners == [True] * 4


def test_sessions_end(registry: Team, clock: Clock) -> None:
    """[SURFACES: Sign-in] a day after it was last used, a week after it began, and when it is ended."""
    registry.accounts.create_first_admin()
    unused, used, ended = (registry.sessions.sign_in(ANA) for _ in range(3))
    registry.sessions.sign_out(find(registry, ended).session)
    assert registry.sessions.find(ended.secret) is None
    for hours in range(23, 7 * 24, 23):
        clock.move(hours=23)
        assert find(registry, used).session.expires_at - clock.now == timedelta(days=7, hours=-hours)
    assert registry.sessions.find(unused.secret) is None
    clock.move(days=7)
    assert registry.sessions.find(used.secret) is None
    registry.sessions.sign_in(ANA)
    assert len(registry.sessions.sessions(SYSTEM)) == 1


def test_sessions_with_a_token(registry: Team, clock: Clock) -> None:
    """[SURFACES: Sign-in] a session by a token may do what the token may, and ends with it."""
    registry.accounts.create_first_admin()
    registry.accounts.grant(SYSTEM, Grant("ana", Role.ADMIN))
    made = registry.accounts.create_token(SYSTEM, Role.PUBLISHER, "payments", owner="ana")
    new = registry.sessions.sign_in_with_token(registry.accounts.authenticate(made.secret))
    caller = find(registry, new).caller
    assert caller == registry.accounts.authenticate(made.secret)
    registry.accounts.revoke_token(SYSTEM, made.token.id)
    assert registry.sessions.find(new.secret) is None
    end = clock.now + timedelta(hours=1)
    short = registry.accounts.create_token(SYSTEM, Role.READER, owner="ana", expires_at=end)
    new = registry.sessions.sign_in_with_token(registry.accounts.authenticate(short.secret))
    assert new.session.expires_at == end
    with pytest.raises(RegistryRefused):
        registry.sessions.sign_in_with_token(Caller("ana"))


def test_secrets(registry: Team, tmp_path: Path) -> None:
    """[SURFACES: Sign-in] a secret that is wrong is no session, and no token; none is stored or listed."""
    new = registry.sessions.sign_in(ANA)
    session_id, _, secret = new.secret.partition(".")
    assert secret not in repr([new, registry.sessions.sessions(SYSTEM), registry.changes(SYSTEM)])
    for path in tmp_path.rglob("registry.db*"):
        assert secret.encode() not in path.read_bytes()
    wrong = f"{session_id}.{'A' * 43}"
    for text in (wrong, f"{'0' * 16}.{secret}", "", session_id, new.secret + "\n", f"{session_id}.é"):
        assert registry.sessions.find(text) is None
    with pytest.raises(RegistryRefused):
        registry.accounts.authenticate(f"skc_{session_id}_{secret}")


def test_sessions_within_the_scope_of_a_token(registry: Team) -> None:
    """[SURFACES: Sign-in] a token ends no session of its owner that may do more than the token."""
    registry.accounts.create_first_admin()
    registry.accounts.grant(SYSTEM, Grant(ANA.subject, Role.MAINTAINER, "payments"))
    person = registry.sessions.sign_in(ANA)

    def sign_in(role: Role, prefix: str) -> tuple[Caller, NewSession]:
        made = registry.accounts.create_token(SYSTEM, role, prefix, owner=ANA.subject)
        caller = registry.accounts.authenticate(made.secret)
        return caller, registry.sessions.sign_in_with_token(caller)

    reader, own = sign_in(Role.READER, "payments")
    publisher, other = sign_in(Role.PUBLISHER, "payments")
    assert registry.sessions.sessions(reader) == [own.session]
    assert {each.id for each in registry.sessions.sessions(publisher)} == {own.session.id, other.session.id}
    assert len(registry.sessions.sessions(find(registry, person).caller)) == 3
    for session in (person.session, other.session):
        with pytest.raises(EntryNotFound, match="there is no session"):
            registry.sessions.revoke(reader, session.id)
    registry.sessions.revoke(publisher, own.session.id)
    registry.sessions.revoke(find(registry, person).caller, other.session.id)

"""Keep people and the sessions of their browsers.

A session is `<id>.<secret>`. The store has the SHA-256 of the secret, which is 256 random bits. A wrong, an
ended and a revoked one get the same answer.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from skillc.errors import InvalidParameter, RegistryRefused
from skillc.registry.access import LIFETIME, Caller, Identity, Person, Session, hash_secret, is_same_secret
from skillc.registry.accounts import (
    EVERYTHING,
    Reach,
    read_owner,
    read_reach,
    read_token_caller,
    scope_of,
    set_grant,
)
from skillc.registry.model import Grant, Role, Token, parse_name
from skillc.registry.store import Connection, Store, accounts, tables

TOUCH = timedelta(minutes=5)  # how exactly it is known when a session was last used
_SESSION = re.compile(r"([0-9a-f]{16})\.([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session and its secret, for the cookie of the browser alone."""

    session: Session
    secret: str

    def __repr__(self) -> str:
        return f"NewSession({self.session!r})"  # what is logged by accident has no secret


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A session with its caller, and the name to show for it."""

    session: Session
    caller: Caller
    name: str


class Sessions:
    """The people of a registry and their sessions."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def sign_in(self, identity: Identity, role: Role | None = None, prefix: str = "") -> NewSession:
        """Begin a session of a person; one that is new gets a role below a prefix, if any.

        Raises RegistryRefused where the name belongs to another account of an issuer.
        """
        with self._store.write() as connection:
            person = self._save_person(connection, identity, role, prefix)
            return self._insert(connection, Caller(person.subject))

    def sign_in_with_token(self, caller: Caller) -> NewSession:
        """Begin a session of the caller with a token, which ends with the token."""
        if not caller.token:
            raise RegistryRefused("a session begins with a token")
        with self._store.write() as connection:
            return self._insert(connection, caller)

    def find(self, text: str) -> SignedIn | None:
        """Return the session with this secret, and note that it was used; None for any that is not valid."""
        match = _SESSION.fullmatch(text)
        if match is None:
            return None
        now = self._clock()
        with self._store.read() as connection:
            row = accounts.read_session(connection, match[1])
            session, hash = row or (None, "")
            is_right = is_same_secret(hash, hash_secret(match[2]))
            if session is None or not is_right or not session.is_valid(now):
                return None
            signed_in = self._sign_in(connection, session)
        if signed_in is not None and now - session.used_at >= TOUCH:
            with self._store.write() as connection:
                accounts.touch_session(connection, session.id, now)
        return signed_in

    def sign_out(self, session: Session) -> None:
        """End a session."""
        with self._store.write() as connection:
            self._end(connection, Caller(session.subject, token=session.token), session, "sign-out")

    def sessions(self, caller: Caller) -> list[Session]:
        """Return the sessions that a caller reaches and that are not over."""
        with self._store.read() as connection:
            reach = read_reach(connection, caller)
            sessions = accounts.read_sessions(connection, reach.owner)
            return [s for s in sessions if s.is_valid(self._clock()) and _is_within(connection, s, reach)]

    def revoke(self, caller: Caller, session_id: str) -> None:
        """End a session that a caller reaches."""
        with self._store.write() as connection:
            row = accounts.read_session(connection, parse_name(session_id, "session"))
            if row is None or not _is_within(connection, row[0], read_reach(connection, caller)):
                raise InvalidParameter("session", f"there is no session '{session_id}'")
            self._end(connection, caller, row[0], "revoke-session")

    def people(self, caller: Caller) -> list[Person]:
        caller.require(Role.ADMIN, "")
        with self._store.read() as connection:
            return accounts.read_people(connection)

    def remove_person(self, caller: Caller, subject: str) -> None:
        """Forget a person: sessions and tokens end, and another account may have the name. Grants stay."""
        caller.require(Role.ADMIN, "")
        now = self._clock()
        with self._store.write() as connection:
            if accounts.find_person(connection, parse_name(subject, "subject")) is None:
                raise InvalidParameter("subject", f"'{subject}' never signed in")
            for session in accounts.read_sessions(connection, subject):
                accounts.revoke_session(connection, session.id, now)
            for token in accounts.read_tokens(connection, subject):
                accounts.revoke_token(connection, token.id, now)
            accounts.remove_person(connection, subject)
            tables.record_change(connection, caller, now, "remove-person", subject=subject)

    def _save_person(
        self, connection: Connection, identity: Identity, role: Role | None, prefix: str
    ) -> Person:
        now = self._clock()
        person = accounts.find_identity(connection, identity.issuer, identity.id)
        if person is None:
            if accounts.find_person(connection, identity.subject) is not None:
                raise RegistryRefused(f"the name '{identity.subject}' belongs to another account")
            person = Person(identity.subject, identity.issuer, identity.id, "", "", (), now, now)
            tables.record_change(connection, Caller(person.subject), now, "create-person")
            if role is not None and not accounts.read_grants(connection, person.subject):
                set_grant(connection, Caller(person.subject), Grant(person.subject, role, prefix), now)
        person = replace(
            person, name=identity.name, email=identity.email, groups=identity.groups, signed_in_at=now
        )
        accounts.save_person(connection, person)
        return person

    def _insert(self, connection: Connection, caller: Caller) -> NewSession:
        now = self._clock()
        session_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        expires_at = min(now + LIFETIME, caller.expires_at or now + LIFETIME)
        session = Session(session_id, caller.subject, caller.token, now, now, expires_at)
        accounts.drop_sessions(connection, now - LIFETIME)
        accounts.insert_session(connection, session, hash_secret(secret))
        tables.record_change(connection, caller, now, "sign-in", session=session_id)
        return NewSession(session, f"{session_id}.{secret}")

    def _end(self, connection: Connection, caller: Caller, session: Session, action: str) -> None:
        accounts.revoke_session(connection, session.id, self._clock())
        tables.record_change(connection, caller, self._clock(), action, session=session.id)

    def _sign_in(self, connection: Connection, session: Session) -> SignedIn | None:
        """Return the caller of a session, with what it may do now; None where its token or person is gone."""
        now = self._clock()
        if session.token:
            row = accounts.read_token(connection, session.token)
            token: Token | None = row[0] if row else None
            if token is None or not token.is_valid(now):
                return None
            return SignedIn(session, read_token_caller(connection, token, now), session.subject)
        person = accounts.find_person(connection, session.subject)
        if person is None:
            return None
        return SignedIn(session, read_owner(connection, person.subject, now), person.name or person.subject)


def _is_within(connection: Connection, session: Session, reach: Reach) -> bool:
    """Return whether a session can be reached: it may do what its token may, or all that its person may."""
    row = accounts.read_token(connection, session.token) if session.token else None
    return reach.includes(session.subject, scope_of(row[0]) if row else EVERYTHING)

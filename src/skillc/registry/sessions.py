"""Keep people and the sessions of their browsers.

A session is `<id>.<secret>`. The store has the SHA-256 of the secret, which is 256 random bits. A wrong, an
ended and a revoked one get the same answer.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from skillc.errors import EntryNotFound, RegistryRefused
from skillc.registry import accounts
from skillc.registry.accounts import GRANTS, PEOPLE, TOKENS
from skillc.registry.model.access import LIFETIME, Caller, Identity, Person, Session, hash_secret
from skillc.registry.model.model import Grant, Role, parse_name
from skillc.registry.store import Connection, Table, to_number
from skillc.registry.store.tables import Ledger, Transaction

TOUCH = timedelta(minutes=5)  # how exactly it is known when a session was last used
SESSIONS = Table("sessions", Session, "created_at, id")
_SESSION = re.compile(r"([0-9a-f]{16})\.([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class NewSession:
    """A session and its secret, for the cookie of the browser alone."""

    session: Session
    secret: str = field(repr=False)  # what is logged by accident has none


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A session with its caller, and the name to show for it."""

    session: Session
    caller: Caller
    name: str


class Sessions(Ledger):
    """The people of a registry and their sessions."""

    def sign_in(self, identity: Identity, role: Role | None = None, prefix: str = "") -> NewSession:
        """Begin a session of a person; one that is new gets a role below a prefix, if any.

        Raises RegistryRefused where the name belongs to another account of an issuer.
        """
        with self._store.write() as connection:
            clause, now = "WHERE issuer = ? AND identity = ?", self._clock()
            person = next(iter(PEOPLE.select(connection, clause, identity.issuer, identity.id)), None)
            change = Transaction(connection, Caller(person.subject if person else identity.subject), now)
            if person is None:
                if PEOPLE.find(change, identity.subject) is not None:
                    raise RegistryRefused(f"the name '{identity.subject}' belongs to another account")
                person = Person(identity.subject, identity.issuer, identity.id, "", "", (), now, now)
                change.record("create-person")
                if role is not None and not GRANTS.filter(change, subject=person.subject):
                    accounts.set_grant(change, Grant(person.subject, role, prefix))
            columns = ("name", "email", "groups", "signed_in_at")
            changes = ", ".join(f"{column} = excluded.{column}" for column in columns)
            claims: Any = {column: getattr(identity, column) for column in columns[:-1]}
            person = replace(person, **claims, signed_in_at=now)
            PEOPLE.insert(change, person, f"(subject) DO UPDATE SET {changes}")
            return _insert(change)

    def sign_in_with_token(self, caller: Caller) -> NewSession:
        """Begin a session of the caller with a token, which ends with the token."""
        if not caller.token:
            raise RegistryRefused("a session begins with a token")
        with self._write(caller) as change:
            return _insert(change)

    def find(self, text: str) -> SignedIn | None:
        """Return the session with this secret, and note that it was used; None for any that is not valid."""
        match = _SESSION.fullmatch(text)
        if match is None:
            return None
        now = self._clock()
        with self._store.read() as connection:
            session = SESSIONS.find_with_hash(connection, match[1], hash_secret(match[2]))
            if session is None or not session.is_valid(now):
                return None
            signed_in = _read_signed_in(connection, session, now)
        if signed_in is not None and now - session.used_at >= TOUCH:
            with self._store.write() as connection:
                query = "UPDATE sessions SET used_at = ? WHERE id = ?"
                connection.execute(query, to_number(now), session.id)
        return signed_in

    def sign_out(self, session: Session) -> None:
        """End a session."""
        with self._write(Caller(session.subject, token=session.token)) as change:
            _end(change, session)
            change.record("sign-out", session=session.id)

    def sessions(self, caller: Caller) -> list[Session]:
        """Return the sessions that a caller reaches and that are not over."""
        with self._store.read() as connection:
            reach = accounts.read_reach(connection, caller)
            sessions = SESSIONS.filter(connection, subject=reach.owner)
            return [s for s in sessions if s.is_valid(self._clock()) and _is_within(connection, s, reach)]

    def revoke(self, caller: Caller, session_id: str) -> None:
        """End a session that a caller reaches."""
        with self._write(caller) as change:
            session = SESSIONS.find(change, parse_name(session_id, "session"))
            if session is None or not _is_within(change, session, accounts.read_reach(change, caller)):
                raise EntryNotFound(f"there is no session '{session_id}'")
            _end(change, session)
            change.record("revoke-session", session=session.id)

    def people(self, caller: Caller) -> list[Person]:
        caller.require(Role.ADMIN, "")
        with self._store.read() as connection:
            return PEOPLE.filter(connection)

    def remove_person(self, caller: Caller, subject: str) -> None:
        """Forget a person: sessions and tokens end, and another account may have the name. Grants stay."""
        caller.require(Role.ADMIN, "")
        with self._write(caller) as change:
            if PEOPLE.find(change, parse_name(subject, "subject")) is None:
                raise EntryNotFound(f"'{subject}' never signed in")
            for session in SESSIONS.filter(change, subject=subject):
                _end(change, session)
            for token in TOKENS.filter(change, owner=subject):
                accounts.revoke_token(change, token.id)
            change.execute("DELETE FROM people WHERE subject = ?", subject)
            change.record("remove-person", subject=subject)


def _insert(change: Transaction) -> NewSession:
    """Begin a session of the caller."""
    caller, now = change.caller, change.now
    session_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    expires_at = min(now + LIFETIME, caller.expires_at or now + LIFETIME)
    session = Session(session_id, caller.subject, caller.token, now, now, expires_at)
    change.execute("DELETE FROM sessions WHERE expires_at < ?", to_number(now - LIFETIME))
    SESSIONS.insert(change, session, hash=hash_secret(secret))
    change.record("sign-in", session=session_id)
    return NewSession(session, f"{session_id}.{secret}")


def _end(change: Transaction, session: Session) -> None:
    query = "UPDATE sessions SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
    change.execute(query, to_number(change.now), session.id)


def _read_signed_in(connection: Connection, session: Session, now: datetime) -> SignedIn | None:
    """Return the caller of a session, with what it may do now; None where its token or person is gone."""
    if session.token:
        token = TOKENS.find(connection, session.token)
        if token is None or not token.is_valid(now):
            return None
        return SignedIn(session, accounts.read_token_caller(connection, token, now), session.subject)
    person = PEOPLE.find(connection, session.subject)
    if person is None:
        return None
    caller = accounts.read_owner(connection, person.subject, now)
    return SignedIn(session, caller, person.name or person.subject)


def _is_within(connection: Connection, session: Session, reach: accounts.Reach) -> bool:
    """Return whether a session can be reached: it may do what its token may, or all that its person may."""
    token = TOKENS.find(connection, session.token) if session.token else None
    return reach.includes(session.subject, accounts.scope_of(token) if token else accounts.EVERYTHING)

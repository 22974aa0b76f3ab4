"""Read and write who signs in: people, sessions, trusted publishers, and ID tokens that were used."""

from __future__ import annotations

import json
from datetime import datetime

from skillc.registry.identities import Person, Session, TrustedPublisher
from skillc.registry.store.database import Connection, Row
from skillc.registry.store.tables import to_number, to_time

_PERSON = "subject, issuer, identity, name, email, groups, created_at, signed_in_at"
_SESSION = "id, subject, token, created_at, used_at, expires_at, revoked_at"
_PUBLISHER = "id, issuer, repository, workflow, prefix, ref, environment, pin, created_at, created_by"


# People


def read_people(connection: Connection) -> list[Person]:
    rows = connection.execute(f"SELECT {_PERSON} FROM people ORDER BY subject")  # noqa: S608
    return [_person(row) for row in rows]


def find_person(connection: Connection, subject: str) -> Person | None:
    rows = connection.execute(f"SELECT {_PERSON} FROM people WHERE subject = ?", subject)  # noqa: S608
    return _person(rows[0]) if rows else None


def find_identity(connection: Connection, issuer: str, identity: str) -> Person | None:
    query = f"SELECT {_PERSON} FROM people WHERE issuer = ? AND identity = ?"  # noqa: S608
    rows = connection.execute(query, issuer, identity)
    return _person(rows[0]) if rows else None


def save_person(connection: Connection, person: Person) -> None:
    """Insert a person, or change what an issuer says of one."""
    connection.execute(
        f"INSERT INTO people ({_PERSON}) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "  # noqa: S608
        "ON CONFLICT (subject) DO UPDATE SET name = excluded.name, email = excluded.email, "
        "groups = excluded.groups, signed_in_at = excluded.signed_in_at",
        *(person.subject, person.issuer, person.identity, person.name, person.email),
        *(json.dumps(person.groups), to_number(person.created_at), to_number(person.signed_in_at)),
    )


def remove_person(connection: Connection, subject: str) -> None:
    connection.execute("DELETE FROM people WHERE subject = ?", subject)


def _person(row: Row) -> Person:
    subject, issuer, identity, name, email, groups, *times = row
    created_at, signed_in_at = map(to_time, times)
    return Person(subject, issuer, identity, name, email, (*json.loads(groups),), created_at, signed_in_at)


# Sessions


def read_sessions(connection: Connection, subject: str = "") -> list[Session]:
    """Return the sessions of a subject, or all, oldest first."""
    condition = "WHERE subject = ?" if subject else ""
    query = f"SELECT {_SESSION} FROM sessions {condition} ORDER BY created_at, id"  # noqa: S608
    return [_session(row) for row in connection.execute(query, *([subject] if subject else ()))]


def read_session(connection: Connection, session_id: str) -> tuple[Session, str] | None:
    """Return a session and the hash of its secret."""
    rows = connection.execute(f"SELECT {_SESSION}, hash FROM sessions WHERE id = ?", session_id)  # noqa: S608
    return (_session(rows[0][:-1]), rows[0][-1]) if rows else None


def insert_session(connection: Connection, session: Session, hash: str) -> None:
    connection.execute(
        "INSERT INTO sessions (id, hash, subject, token, created_at, used_at, expires_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        *(session.id, hash, session.subject, session.token, to_number(session.created_at)),
        *(to_number(session.used_at), to_number(session.expires_at)),
    )


def touch_session(connection: Connection, session_id: str, now: datetime) -> None:
    connection.execute("UPDATE sessions SET used_at = ? WHERE id = ?", to_number(now), session_id)


def revoke_session(connection: Connection, session_id: str, now: datetime) -> None:
    query = "UPDATE sessions SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
    connection.execute(query, to_number(now), session_id)


def drop_sessions(connection: Connection, before: datetime) -> None:
    """Forget sessions that ended before this time."""
    connection.execute("DELETE FROM sessions WHERE expires_at < ?", to_number(before))


def _session(row: Row) -> Session:
    session_id, subject, token, *times, revoked_at = row
    created_at, used_at, expires_at = map(to_time, times)
    end = None if revoked_at is None else to_time(revoked_at)
    return Session(session_id, subject, token, created_at, used_at, expires_at, end)


# Trusted publishers


def read_publishers(connection: Connection, issuer: str = "") -> list[TrustedPublisher]:
    """Return the trusted publishers of an issuer, or all."""
    condition = "WHERE issuer = ?" if issuer else ""
    query = f"SELECT {_PUBLISHER} FROM publishers {condition} ORDER BY prefix, created_at, id"  # noqa: S608
    return [_publisher(row) for row in connection.execute(query, *([issuer] if issuer else ()))]


def read_publisher(connection: Connection, publisher_id: str) -> TrustedPublisher | None:
    query = f"SELECT {_PUBLISHER} FROM publishers WHERE id = ?"  # noqa: S608
    rows = connection.execute(query, publisher_id)
    return _publisher(rows[0]) if rows else None


def insert_publisher(connection: Connection, publisher: TrustedPublisher) -> None:
    connection.execute(
        f"INSERT INTO publishers ({_PUBLISHER}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
        *(publisher.id, publisher.issuer, publisher.repository, publisher.workflow, publisher.prefix),
        *(publisher.ref, publisher.environment, publisher.pin),
        *(to_number(publisher.created_at), publisher.created_by),
    )


def pin_publisher(connection: Connection, publisher_id: str, pin: str) -> None:
    connection.execute("UPDATE publishers SET pin = ? WHERE id = ?", pin, publisher_id)


def remove_publisher(connection: Connection, publisher_id: str) -> None:
    connection.execute("DELETE FROM publishers WHERE id = ?", publisher_id)


def _publisher(row: Row) -> TrustedPublisher:
    publisher_id, issuer, repository, workflow, prefix, ref, environment, pin, time, created_by = row
    patterns = ref, environment, pin
    return TrustedPublisher(
        publisher_id, issuer, repository, workflow, prefix, *patterns, to_time(time), created_by
    )


def use_id_token(connection: Connection, key: str, expires_at: datetime, now: datetime) -> bool:
    """Note that an ID token was used, and return whether it is the first time."""
    connection.execute("DELETE FROM id_tokens WHERE expires_at < ?", to_number(now))
    is_first = not connection.execute("SELECT 1 FROM id_tokens WHERE key = ?", key)
    if is_first:
        values = key, to_number(expires_at)
        connection.execute("INSERT INTO id_tokens (key, expires_at) VALUES (?, ?)", *values)
    return is_first


# Tokens of trusted publishers


def set_publisher(connection: Connection, token_id: str, publisher: TrustedPublisher) -> None:
    """Note that a token is a trusted publisher's."""
    connection.execute("UPDATE tokens SET publisher = ? WHERE id = ?", publisher.id, token_id)


def find_publisher(connection: Connection, token_id: str) -> TrustedPublisher | None:
    """Return the trusted publisher that a token was made for."""
    ((publisher_id,),) = connection.execute("SELECT publisher FROM tokens WHERE id = ?", token_id)
    return read_publisher(connection, publisher_id) if publisher_id else None


def find_tokens(connection: Connection, publisher: TrustedPublisher) -> list[str]:
    """Return the IDs of the tokens of a trusted publisher."""
    rows = connection.execute("SELECT id FROM tokens WHERE publisher = ?", publisher.id)
    return [token_id for (token_id,) in rows]

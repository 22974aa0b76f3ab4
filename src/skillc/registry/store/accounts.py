"""Read and write who may do what: grants, tokens, people, sessions, trusted publishers, used ID tokens."""

from __future__ import annotations

from datetime import datetime

from skillc.registry.access import Person, Session, TrustedPublisher
from skillc.registry.model import Grant, Token
from skillc.registry.store.database import Connection, Table, to_number

GRANTS = Table("grants", Grant)
TOKENS = Table("tokens", Token)
PEOPLE = Table("people", Person)
SESSIONS = Table("sessions", Session)
PUBLISHERS = Table("publishers", TrustedPublisher)


def read_grants(connection: Connection, subject: str = "") -> list[Grant]:
    """Return the grants of a subject, or all."""
    return GRANTS.filter(connection, "subject", subject, "subject, prefix")


def set_grant(connection: Connection, grant: Grant) -> None:
    GRANTS.insert(connection, grant, "(subject, prefix) DO UPDATE SET role = excluded.role")


def remove_grant(connection: Connection, subject: str, prefix: str) -> None:
    connection.execute("DELETE FROM grants WHERE subject = ? AND prefix = ?", subject, prefix)


def read_tokens(connection: Connection, owner: str = "") -> list[Token]:
    """Return the tokens of an owner, or all, oldest first."""
    return TOKENS.filter(connection, "owner", owner, "created_at, id")


def read_token(connection: Connection, token_id: str) -> tuple[Token, str] | None:
    """Return a token and the hash of its secret."""
    return TOKENS.find_with_hash(connection, token_id)


def insert_token(connection: Connection, token: Token, hash: str, parent: str, publisher: str = "") -> None:
    """Insert a token; `parent` is the one it was made with, `publisher` the trusted publisher it is for."""
    TOKENS.insert(connection, token, hash=hash, parent=parent, publisher=publisher)


def revoke_token(connection: Connection, token_id: str, now: datetime) -> None:
    """Revoke a token and those that were made with it."""
    connection.execute(
        "WITH RECURSIVE family (id) AS (SELECT id FROM tokens WHERE id = ? "
        "UNION SELECT tokens.id FROM tokens JOIN family ON tokens.parent = family.id) "
        "UPDATE tokens SET revoked_at = ? WHERE revoked_at IS NULL AND id IN (SELECT id FROM family)",
        *(token_id, to_number(now)),
    )


# People


def read_people(connection: Connection) -> list[Person]:
    return PEOPLE.select(connection, "ORDER BY subject")


def find_person(connection: Connection, subject: str) -> Person | None:
    return PEOPLE.find(connection, "WHERE subject = ?", subject)


def find_identity(connection: Connection, issuer: str, identity: str) -> Person | None:
    return PEOPLE.find(connection, "WHERE issuer = ? AND identity = ?", issuer, identity)


def save_person(connection: Connection, person: Person) -> None:
    """Insert a person, or change what an issuer says of one."""
    columns = ("name", "email", "groups", "signed_in_at")
    changes = ", ".join(f"{column} = excluded.{column}" for column in columns)
    PEOPLE.insert(connection, person, f"(subject) DO UPDATE SET {changes}")


def remove_person(connection: Connection, subject: str) -> None:
    connection.execute("DELETE FROM people WHERE subject = ?", subject)


# Sessions


def read_sessions(connection: Connection, subject: str = "") -> list[Session]:
    """Return the sessions of a subject, or all, oldest first."""
    return SESSIONS.filter(connection, "subject", subject, "created_at, id")


def read_session(connection: Connection, session_id: str) -> tuple[Session, str] | None:
    """Return a session and the hash of its secret."""
    return SESSIONS.find_with_hash(connection, session_id)


def insert_session(connection: Connection, session: Session, hash: str) -> None:
    SESSIONS.insert(connection, session, hash=hash)


def touch_session(connection: Connection, session_id: str, now: datetime) -> None:
    connection.execute("UPDATE sessions SET used_at = ? WHERE id = ?", to_number(now), session_id)


def revoke_session(connection: Connection, session_id: str, now: datetime) -> None:
    query = "UPDATE sessions SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"
    connection.execute(query, to_number(now), session_id)


def drop_sessions(connection: Connection, before: datetime) -> None:
    """Forget sessions that ended before this time."""
    connection.execute("DELETE FROM sessions WHERE expires_at < ?", to_number(before))


# Trusted publishers


def read_publishers(connection: Connection, issuer: str = "") -> list[TrustedPublisher]:
    """Return the trusted publishers of an issuer, or all."""
    return PUBLISHERS.filter(connection, "issuer", issuer, "prefix, created_at, id")


def read_publisher(connection: Connection, publisher_id: str) -> TrustedPublisher | None:
    return PUBLISHERS.find(connection, "WHERE id = ?", publisher_id)


def insert_publisher(connection: Connection, publisher: TrustedPublisher) -> None:
    PUBLISHERS.insert(connection, publisher)


def pin_publisher(connection: Connection, publisher_id: str, pin: str) -> None:
    connection.execute("UPDATE publishers SET pin = ? WHERE id = ?", pin, publisher_id)


def remove_publisher(connection: Connection, publisher_id: str) -> None:
    connection.execute("DELETE FROM publishers WHERE id = ?", publisher_id)


def find_publisher(connection: Connection, token_id: str) -> TrustedPublisher | None:
    """Return the trusted publisher that a token was made for."""
    return PUBLISHERS.find(connection, "WHERE id = (SELECT publisher FROM tokens WHERE id = ?)", token_id)


def find_tokens(connection: Connection, publisher: TrustedPublisher) -> list[str]:
    """Return the IDs of the tokens of a trusted publisher."""
    rows = connection.execute("SELECT id FROM tokens WHERE publisher = ?", publisher.id)
    return [token_id for (token_id,) in rows]


def use_id_token(connection: Connection, key: str, expires_at: datetime, now: datetime) -> bool:
    """Note that an ID token was used, and return whether it is the first time."""
    connection.execute("DELETE FROM id_tokens WHERE expires_at < ?", to_number(now))
    is_first = not connection.execute("SELECT 1 FROM id_tokens WHERE key = ?", key)
    if is_first:
        values = key, to_number(expires_at)
        connection.execute("INSERT INTO id_tokens (key, expires_at) VALUES (?, ?)", *values)
    return is_first

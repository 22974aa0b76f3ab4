"""Keep grants and tokens, and tell callers by their tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from skillc.contract import encode
from skillc.errors import EntryNotFound, InvalidParameter, SignInRequired
from skillc.registry.cache import ACCOUNTS, Cache
from skillc.registry.model.access import CI, SYSTEM, Caller, Permission, Person, create_secret, split_token
from skillc.registry.model.model import Grant, Role, Token, parse_name, parse_prefix
from skillc.registry.store import Connection, Store, Table, to_number
from skillc.registry.store.tables import Ledger, Transaction

FIRST_ADMIN = "admin"
EVERYTHING = Permission(Role.ADMIN)

GRANTS = Table("grants", Grant, "subject, prefix")
TOKENS = Table("tokens", Token, "created_at, id")
PEOPLE = Table("people", Person, "subject", key="subject")


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token and, this once, its secret: what requests send."""

    token: Token
    secret: str = field(repr=False)  # what is logged by accident has none


@dataclass(frozen=True, slots=True)
class Reach:
    """What a caller may list and end: tokens and sessions of one owner (all, without), within a scope.

    With a token, the scope is the token's own, so that one that leaks can't end another that may do more.
    """

    owner: str = ""
    scope: Permission = EVERYTHING

    def includes(self, owner: str, scope: Permission) -> bool:
        return self.owner in ("", owner) and self.scope.includes(scope.role, scope.prefix)


class Accounts(Ledger):
    """The grants and tokens of a registry."""

    def __init__(self, store: Store, clock: Callable[[], datetime], cache: Cache) -> None:
        super().__init__(store, clock)
        self._cache = cache

    def create_first_admin(self) -> NewToken | None:
        """Make an admin with a token where there are no grants yet; of several servers, one gets it."""
        with self._write(SYSTEM) as change:
            if GRANTS.filter(change):
                return None
            set_grant(change, Grant(FIRST_ADMIN, Role.ADMIN))
            return insert_token(change, FIRST_ADMIN, EVERYTHING, "first start")

    def authenticate(self, text: str) -> Caller:
        """Return the caller with this token; raises SignInRequired for any that is not valid."""
        token_id, hash = split_token(text)

        def read() -> Caller:
            with self._store.read() as connection:
                token = TOKENS.find_with_hash(connection, token_id, hash)
                if token is None or not token.is_valid(self._clock()):
                    raise SignInRequired
                return read_token_caller(connection, token, self._clock())

        return self._check(self._cache.remember(ACCOUNTS, (token_id, hash), read))

    def recall(self, text: str) -> Caller | None:
        """Return what `authenticate` would, if it need ask nothing; else None."""
        caller = self._cache.recall(ACCOUNTS, split_token(text))
        return self._check(caller) if isinstance(caller, Caller) else None

    def _check(self, caller: Caller) -> Caller:
        if caller.expires_at is not None and self._clock() >= caller.expires_at:
            raise SignInRequired
        return caller

    def grant(self, caller: Caller, grant: Grant) -> None:
        """Give a subject a role below a prefix, in place of the one it has there."""
        new_grant = Grant(parse_name(grant.subject, "subject"), grant.role, parse_prefix(grant.prefix))
        caller.require(Role.ADMIN, new_grant.prefix)
        with self._write(caller) as change:
            set_grant(change, new_grant)
            _require_admin(change)

    def remove_grant(self, caller: Caller, subject: str, prefix: str = "") -> None:
        caller.require(Role.ADMIN, parse_prefix(prefix))
        parse_name(subject, "subject")
        with self._write(caller) as change:
            if not any(grant.prefix == prefix for grant in GRANTS.filter(change, subject=subject)):
                raise EntryNotFound(f"'{subject}' has no grant for '{prefix}'")
            change.execute("DELETE FROM grants WHERE subject = ? AND prefix = ?", subject, prefix)
            _require_admin(change)
            change.record("remove-grant", grant={"subject": subject, "prefix": prefix})

    def grants(self, caller: Caller) -> list[Grant]:
        """Return the grants below the prefixes that a caller administers, and its own."""
        with self._store.read() as connection:
            grants = GRANTS.filter(connection)
        return [g for g in grants if g.subject == caller.subject or caller.allows(Role.ADMIN, g.prefix)]

    def create_token(
        self,
        caller: Caller,
        role: Role,
        prefix: str = "",
        *,
        label: str = "token",
        owner: str = "",
        expires_at: datetime | None = None,
    ) -> NewToken:
        """Make a token for the caller or, as an admin of the whole, for another owner.

        It may do no more, and lasts no longer, than the token that the caller itself used.
        """
        scope = Permission(role, parse_prefix(prefix))
        caller.require(role, scope.prefix)
        owner = parse_name(owner or caller.subject, "owner")
        if owner != caller.subject:
            caller.require(Role.ADMIN, "")  # below a prefix, it would speak in the name of any admin
        if caller.expires_at is not None:
            expires_at = min(expires_at or caller.expires_at, caller.expires_at)
        parse_name(label, "label")
        with self._write(caller) as change:
            return insert_token(change, owner, scope, label, expires_at)

    def abilities(self, tokens: Iterable[Token]) -> list[tuple[Permission, ...]]:
        """Return what each token may do now, as the grants of its owner are; nothing with one that ended."""
        now = self._clock()
        with self._store.read() as connection:
            return [
                read_token_caller(connection, token, now).permissions if token.is_valid(now) else ()
                for token in tokens
            ]

    def revoke_token(self, caller: Caller, token_id: str) -> None:
        """Revoke a token that a caller reaches, and those that were made with it."""
        with self._write(caller) as change:
            token = TOKENS.find(change, parse_name(token_id, "token"))
            if token is None or not read_reach(change, caller).includes(token.owner, scope_of(token)):
                raise EntryNotFound(f"there is no token '{token_id}'")
            revoke_token(change, token_id)
            change.record("revoke-token", id=token_id)

    def tokens(self, caller: Caller) -> list[Token]:
        """Return the tokens that a caller reaches, also those that are not valid any more."""
        with self._store.read() as connection:
            reach = read_reach(connection, caller)
            tokens = TOKENS.filter(connection, owner=reach.owner)
        return [token for token in tokens if reach.includes(token.owner, scope_of(token))]


def set_grant(change: Transaction, grant: Grant) -> None:
    """Give a role, whatever the caller may do."""
    GRANTS.insert(change, grant, "(subject, prefix) DO UPDATE SET role = excluded.role")
    change.record("grant", grant=encode(grant))


def insert_token(
    change: Transaction,
    owner: str,
    scope: Permission,
    label: str,
    expires_at: datetime | None = None,
    publisher: str = "",
    build: Mapping[str, str] | None = None,
) -> NewToken:
    """Make a token, whatever its caller may do; `publisher` is the trusted publisher that it is for.

    `build` says which job of CI it is for.
    """
    token_id, secret, hash = create_secret()
    token = Token(token_id, owner, scope.role, scope.prefix, label, change.now, expires_at)
    job = json.dumps(build or {})
    TOKENS.insert(change, token, hash=hash, parent=change.caller.token, publisher=publisher, build=job)
    detail = {"id": token_id, "owner": owner, "role": scope.role.label, "prefix": scope.prefix}
    change.record("create-token", **detail)
    return NewToken(token, secret)


def read_build(connection: Connection, token_id: str) -> dict[str, str]:
    """Return the job of CI that a token is for; nothing for any other."""
    rows = connection.execute("SELECT build FROM tokens WHERE id = ?", token_id)
    return dict(json.loads(rows[0][0])) if rows else {}


def revoke_token(change: Transaction, token_id: str) -> None:
    """Revoke a token and those that were made with it."""
    change.execute(
        "WITH RECURSIVE family (id) AS (SELECT id FROM tokens WHERE id = ? "
        "UNION SELECT tokens.id FROM tokens JOIN family ON tokens.parent = family.id) "
        "UPDATE tokens SET revoked_at = ? WHERE revoked_at IS NULL AND id IN (SELECT id FROM family)",
        *(token_id, to_number(change.now)),
    )


def read_owner(connection: Connection, subject: str, now: datetime) -> Caller:
    """Return a subject with what its own grants and those of its groups allow."""
    person = PEOPLE.find(connection, subject)
    subjects = person.subjects(now) if person else (subject,)
    grants = [grant for each in subjects for grant in GRANTS.filter(connection, subject=each)]
    return Caller(subject, tuple(Permission(grant.role, grant.prefix) for grant in grants))


def read_token_caller(connection: Connection, token: Token, now: datetime) -> Caller:
    """Return the caller with a valid token: what both its owner and the token may do."""
    owner = read_owner(connection, token.owner, now)
    if token.owner.startswith(CI):  # it may do what its trusted publisher may, where there is still one
        query = "SELECT prefix FROM publishers WHERE id = (SELECT publisher FROM tokens WHERE id = ?)"
        for (prefix,) in connection.execute(query, token.id):
            owner = Caller(token.owner, (Permission(Role.PUBLISHER, prefix),))
    return Caller(token.owner, owner.narrow(scope_of(token)), token.id, token.expires_at)


def read_reach(connection: Connection, caller: Caller) -> Reach:
    """Return what a caller may list and end: as an admin of the whole, what belongs to anyone."""
    if caller.allows(Role.ADMIN, ""):
        return Reach()
    if not caller.token:
        return Reach(caller.subject)
    token = TOKENS.find(connection, caller.token)
    if token is None:  # the store was replaced by an older one
        raise SignInRequired
    return Reach(caller.subject, scope_of(token))


def scope_of(token: Token) -> Permission:
    return Permission(token.role, token.prefix)


def _require_admin(connection: Connection) -> None:
    """Raise InvalidParameter where a change leaves a registry without an admin of the whole."""
    if not any(grant.role is Role.ADMIN and not grant.prefix for grant in GRANTS.filter(connection)):
        raise InvalidParameter("grant", "the last admin of the whole registry must stay")

"""Let CI publish without a stored token: a trusted workflow gets a token for a prefix, for minutes."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from skillc.contract import encode
from skillc.errors import InvalidParameter, RegistryRefused
from skillc.registry.access import (
    Caller,
    Job,
    Permission,
    TrustedPublisher,
    parse_environment,
    parse_ref,
    parse_repository,
    parse_workflow,
)
from skillc.registry.accounts import NewToken, insert_token
from skillc.registry.model import Role, is_below, parse_name, parse_prefix
from skillc.registry.store import Connection, Store, accounts, tables

LIFETIME = timedelta(minutes=15)  # of the token that a job gets
REPLAY = timedelta(minutes=5)  # that a used ID token is remembered beyond its end, whatever clocks say


@dataclass(frozen=True, slots=True)
class Publication:
    """What a job gets: a token, and the trusted publisher that it is for."""

    token: NewToken
    publisher: TrustedPublisher


class Publishers:
    """The trusted publishers of a registry."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock

    def publishers(self, caller: Caller) -> list[TrustedPublisher]:
        """Return those below the prefixes that a caller administers."""
        with self._store.read() as connection:
            publishers = accounts.read_publishers(connection)
        return [each for each in publishers if caller.allows(Role.ADMIN, each.prefix)]

    def trust(
        self,
        caller: Caller,
        issuer: str,
        repository: str,
        workflow: str,
        prefix: str,
        *,
        ref: str = "",
        environment: str = "",
    ) -> TrustedPublisher:
        """Let the jobs of a workflow publish below a prefix; `issuer` is one that the server knows."""
        publisher = TrustedPublisher(
            secrets.token_hex(8),
            issuer,
            parse_repository(repository),
            parse_workflow(workflow),
            parse_prefix(prefix),
            parse_ref(ref),
            parse_environment(environment),
            "",
            self._clock(),
            caller.subject,
        )
        caller.require(Role.ADMIN, publisher.prefix)
        with self._store.write() as connection:
            if any(_key(each) == _key(publisher) for each in accounts.read_publishers(connection, issuer)):
                raise InvalidParameter("workflow", "it is trusted for this prefix already")
            accounts.insert_publisher(connection, publisher)
            self._record(connection, caller, "trust", publisher)
        return publisher

    def distrust(self, caller: Caller, publisher_id: str) -> None:
        """Remove a trusted publisher; its tokens end at once."""
        with self._store.write() as connection:
            publisher = accounts.read_publisher(connection, parse_name(publisher_id, "publisher"))
            if publisher is None or not caller.allows(Role.ADMIN, publisher.prefix):
                raise InvalidParameter("publisher", f"there is no trusted publisher '{publisher_id}'")
            for token_id in accounts.find_tokens(connection, publisher):
                accounts.revoke_token(connection, token_id, self._clock())
            accounts.remove_publisher(connection, publisher.id)
            self._record(connection, caller, "distrust", publisher)

    def has_issuer(self, issuer: str) -> bool:
        """Return whether any trusted publisher is of an issuer."""
        with self._store.read() as connection:
            return bool(accounts.read_publishers(connection, issuer))

    def admit(self, job: Job, prefix: str | None = None) -> Publication:
        """Return a token for a job whose ID token was verified; raises RegistryRefused.

        `prefix` is the path that the token is for: that of a trusted publisher, or one below it. Without it,
        the token is for all that the publisher may publish. An ID token is good for one token.
        """
        now = self._clock()
        if prefix is not None:
            prefix = parse_prefix(prefix)
        with self._store.write() as connection:
            key = hashlib.sha256(f"{job.issuer}\n{job.id}".encode()).hexdigest()
            if not accounts.use_id_token(connection, key, _remember_until(job.expires_at), now):
                raise RegistryRefused("the ID token was used before")
            publisher = _choose(accounts.read_publishers(connection, job.issuer), job, prefix)
            if not publisher.pin:
                accounts.pin_publisher(connection, publisher.id, job.pin)
                publisher = replace(publisher, pin=job.pin)
            scope = Permission(Role.PUBLISHER, publisher.prefix if prefix is None else prefix)
            caller = Caller(publisher.subject)
            label = f"{publisher.workflow} {job.ref}"[:200]
            end = now + LIFETIME
            token = insert_token(connection, caller, caller.subject, scope, label, now, end, publisher.id)
        return Publication(token, publisher)

    def _record(
        self, connection: Connection, caller: Caller, action: str, publisher: TrustedPublisher
    ) -> None:
        tables.record_change(connection, caller, self._clock(), action, publisher=encode(publisher))


def _choose(publishers: list[TrustedPublisher], job: Job, prefix: str | None) -> TrustedPublisher:
    """Return the trusted publisher for a job; what others there are is not told."""
    matches = [each for each in publishers if each.fits(job)]
    if prefix is not None:
        matches = [each for each in matches if is_below(prefix, each.prefix)]
    if not matches:
        below = f" for '{prefix}'" if prefix else ""
        raise RegistryRefused(f"no trusted publisher{below} fits: {job.describe()}")
    matches = [each for each in matches if each.pin in ("", job.pin)]
    if not matches:
        reason = f"'{job.repository}' is another repository than the one that was trusted by this name"
        raise RegistryRefused(reason)
    prefixes = sorted({each.prefix for each in matches})
    if prefix is not None:
        return max(matches, key=lambda each: len(each.prefix))  # the nearest
    if len(prefixes) > 1:
        raise RegistryRefused(
            f"several trusted publishers fit: name one of the prefixes {', '.join(prefixes)}"
        )
    return matches[0]


def _remember_until(end: datetime) -> datetime:
    """Return when a used ID token may be forgotten; one that ends with time itself, then."""
    try:
        return end + REPLAY
    except OverflowError:
        return end


def _key(publisher: TrustedPublisher) -> tuple[str, ...]:
    return (
        publisher.repository.lower(),
        publisher.workflow,
        publisher.prefix,
        publisher.ref,
        publisher.environment.lower(),
    )

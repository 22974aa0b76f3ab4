"""Let CI publish without a stored token: a trusted workflow gets a token for a prefix, for minutes."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, replace
from datetime import timedelta

from skillc.contract import encode
from skillc.errors import EntryNotFound, InvalidParameter, RegistryRefused
from skillc.registry import accounts
from skillc.registry.model import access
from skillc.registry.model.access import Caller, Job, Permission, TrustedPublisher
from skillc.registry.model.model import Role, is_below, parse_name, parse_prefix
from skillc.registry.store import Table, to_number
from skillc.registry.store.tables import Ledger, Transaction

LIFETIME = timedelta(minutes=15)  # of the token that a job gets
REPLAY = timedelta(minutes=5)  # that a used ID token is remembered beyond its end, whatever clocks say
PUBLISHERS = Table("publishers", TrustedPublisher, "prefix, created_at, id")


@dataclass(frozen=True, slots=True)
class Publication:
    """What a job gets: a token, and the trusted publisher that it is for."""

    token: accounts.NewToken
    publisher: TrustedPublisher


class Publishers(Ledger):
    """The trusted publishers of a registry."""

    def publishers(self, caller: Caller) -> list[TrustedPublisher]:
        """Return those below the prefixes that a caller administers."""
        with self._store.read() as connection:
            publishers = PUBLISHERS.filter(connection)
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
            access.parse_repository(repository),
            access.parse_workflow(workflow),
            parse_prefix(prefix),
            access.parse_ref(ref),
            access.parse_environment(environment),
            "",
            self._clock(),
            caller.subject,
        )
        caller.require(Role.ADMIN, publisher.prefix)
        with self._write(caller) as change:
            if any(_key(each) == _key(publisher) for each in PUBLISHERS.filter(change, issuer=issuer)):
                raise InvalidParameter("workflow", "it is trusted for this prefix already")
            PUBLISHERS.insert(change, publisher)
            change.record("trust", publisher=encode(publisher))
        return publisher

    def distrust(self, caller: Caller, publisher_id: str) -> None:
        """Remove a trusted publisher; its tokens end at once."""
        with self._write(caller) as change:
            publisher = PUBLISHERS.find(change, parse_name(publisher_id, "publisher"))
            if publisher is None or not caller.allows(Role.ADMIN, publisher.prefix):
                raise EntryNotFound(f"there is no trusted publisher '{publisher_id}'")
            for token in accounts.TOKENS.filter(change, publisher=publisher.id):
                accounts.revoke_token(change, token.id)
            change.execute("DELETE FROM publishers WHERE id = ?", publisher.id)
            change.record("distrust", publisher=encode(publisher))

    def has_issuer(self, issuer: str) -> bool:
        """Return whether any trusted publisher is of an issuer."""
        with self._store.read() as connection:
            return bool(PUBLISHERS.filter(connection, issuer=issuer))

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
            connection.execute("DELETE FROM id_tokens WHERE expires_at < ?", to_number(now))
            if connection.execute("SELECT 1 FROM id_tokens WHERE key = ?", key):
                raise RegistryRefused("the ID token was used before")
            try:
                end = job.expires_at + REPLAY
            except OverflowError:  # it ends with time itself
                end = job.expires_at
            query = "INSERT INTO id_tokens (key, expires_at) VALUES (?, ?)"
            connection.execute(query, key, to_number(end))
            publisher = _choose(PUBLISHERS.filter(connection, issuer=job.issuer), job, prefix)
            if not publisher.pin:
                connection.execute("UPDATE publishers SET pin = ? WHERE id = ?", job.pin, publisher.id)
                publisher = replace(publisher, pin=job.pin)
            scope = Permission(Role.PUBLISHER, publisher.prefix if prefix is None else prefix)
            change = Transaction(connection, Caller(publisher.subject), now)
            label = f"{publisher.workflow} {job.ref}"[:200]
            values = publisher.subject, scope, label, now + LIFETIME, publisher.id, job.describe_build()
            return Publication(accounts.insert_token(change, *values), publisher)


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


def _key(publisher: TrustedPublisher) -> tuple[str, ...]:
    names = publisher.repository.lower(), publisher.environment.lower()
    return (*names, publisher.workflow, publisher.prefix, publisher.ref)

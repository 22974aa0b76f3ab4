"""Say what a caller may do: roles below prefixes, and tokens.

A token is `skc_<id>_<secret>`. The store has the SHA-256 of the secret, which is 256 random bits, so that no
slow hash is needed. A wrong, an expired and a revoked token get the same answer.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime

from skillc.errors import RegistryRefused, SignInRequired
from skillc.registry.model import Role, is_below

_TOKEN = re.compile(r"skc_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class Permission:
    """A role below a prefix."""

    role: Role
    prefix: str = ""

    def includes(self, role: Role, path: str) -> bool:
        return self.role >= role and is_below(path, self.prefix)

    def narrow(self, other: Permission) -> Permission | None:
        """Return what both permissions allow.

        >>> Permission(Role.ADMIN, "payments").narrow(Permission(Role.READER, "payments/refunds")).prefix
        'payments/refunds'
        """
        long, short = sorted((self.prefix, other.prefix), key=len, reverse=True)
        return Permission(min(self.role, other.role), long) if is_below(long, short) else None


@dataclass(frozen=True, slots=True)
class Caller:
    """A person or program, as every operation is called by one; `token` is the ID of the token it used."""

    subject: str
    permissions: tuple[Permission, ...] = ()
    token: str = ""
    expires_at: datetime | None = None

    def allows(self, role: Role, path: str) -> bool:
        return any(permission.includes(role, path) for permission in self.permissions)

    def require(self, role: Role, path: str) -> None:
        """Raise RegistryRefused without the role there, whether or not there is anything."""
        if not self.allows(role, path):
            where = f"'{path}'" if path else "the whole registry"
            raise RegistryRefused(f"it needs the role {role.label} for {where}")

    def require_anywhere(self, role: Role) -> None:
        """Raise RegistryRefused without the role below any prefix."""
        if not any(permission.role >= role for permission in self.permissions):
            raise RegistryRefused(f"it needs the role {role.label}")

    def narrow_prefix(self, role: Role, prefix: str) -> list[str]:
        """Return the fewest prefixes below which the caller has a role, within a prefix; none without it."""
        scope = Permission(role, prefix)
        prefixes = {both.prefix for both in self.narrow(scope) if both.role >= role}
        return [p for p in sorted(prefixes) if not any(p != o and is_below(p, o) for o in prefixes)]

    def narrow(self, scope: Permission) -> tuple[Permission, ...]:
        """Return the permissions of this caller within a scope."""
        return tuple(both for own in self.permissions if (both := own.narrow(scope)))


SYSTEM = Caller("system", (Permission(Role.ADMIN),))  # the operator's own machine
PUBLIC = Caller("public", (Permission(Role.READER),))  # requests without a token, where all may read


def create_secret() -> tuple[str, str, str]:
    """Return the ID of a new token, the token itself, and the hash to store."""
    token_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    return token_id, f"skc_{token_id}_{secret}", hash_secret(secret)


def split_token(text: str) -> tuple[str, str]:
    """Return the ID and the hash of a token; raises SignInRequired for text that is none."""
    match = _TOKEN.fullmatch(text)
    if match is None:
        raise SignInRequired
    return match[1], hash_secret(match[2])


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def is_same_secret(one: str, other: str) -> bool:
    """Compare two hashes in constant time."""
    return hmac.compare_digest(one.encode(), other.encode())

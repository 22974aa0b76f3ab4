"""Log in to a registry, with a token that is tried and kept; and log out of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skillc.contract import Result
from skillc.remotes.http import (
    Credential,
    check_token,
    forget_credential,
    parse_registry,
    read_credentials,
    store_credential,
)
from skillc.remotes.registry import RegistryApi
from skillc.spelling import near_miss
from skillc.text import describe_roles


@dataclass(frozen=True, slots=True)
class LoginRole:
    """A role that a token has below a path; an empty one is the whole registry."""

    role: str
    prefix: str


@dataclass(frozen=True, slots=True)
class Login(Result):
    """What a registry says of the token that is kept for it."""

    registry: str
    subject: str
    permissions: tuple[LoginRole, ...]
    expires_at: str | None

    def text(self) -> str:
        """Return it as a line for people."""
        roles = describe_roles([(each.role, each.prefix) for each in self.permissions])
        until = f"; the token is valid until {self.expires_at}" if self.expires_at else ""
        return f"Logged in to {self.registry} as {self.subject} ({roles}){until}"


@dataclass(frozen=True, slots=True)
class Logout(Result):
    """Whether there was a token to forget."""

    registry: str
    removed: bool

    def text(self) -> str:
        """Return it as a line for people, with the registry that was meant perhaps."""
        if self.removed:
            return f"Logged out of {self.registry}"
        near = near_miss(self.registry, [each.registry for each in read_credentials()])
        return f"You were not logged in to {self.registry}{near}"


def log_in(address: str, token: str, report: Callable[[str], None] = lambda text: None) -> Login:
    """Try a token at a registry and keep it; raises InvalidOption, or what the registry answers."""
    credential = Credential(parse_registry(address), check_token(token))
    with RegistryApi.connect(credential, report) as api:
        identity = api.whoami()
    store_credential(Credential(credential.registry, credential.token, identity.subject))
    roles = tuple(LoginRole(role, prefix) for role, prefix in identity.permissions)
    return Login(credential.registry, identity.subject, roles, identity.expires_at or None)


def log_out(address: str) -> Logout:
    """Forget the token for a registry; it stays valid there."""
    registry = parse_registry(address)
    return Logout(registry, forget_credential(registry))

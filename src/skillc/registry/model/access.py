"""Say who calls and what they may do: roles below prefixes, tokens, people, sessions, jobs of CI.

A token is `skc_<id>_<secret>`. The store has the SHA-256 of the secret, which is 256 random bits, so that no
slow hash is needed. A wrong, an expired and a revoked token get the same answer.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from skillc.errors import InvalidParameter, RegistryRefused, SignInRequired
from skillc.registry.model.model import MAX_NAME, Role, is_below, is_name, parse_name, parse_text
from skillc.text import describe_roles

GROUP = "group:"  # grants to it are grants to all people in the group
CI = "ci:"  # subjects of trusted publishers
RESERVED = (GROUP, CI)  # how no person's name starts
NAMES = ("system", "public", "admin")  # subjects that are no people
IDLE = timedelta(days=1)  # after which a session that was not used ends
LIFETIME = timedelta(days=7)  # after which every session ends
GROUPS_LAST = timedelta(days=30)  # after a sign-in, what an issuer said of a person's groups is forgotten
MAX_GROUPS = 500
MAX_PATTERN = 200  # characters of a ref, an environment or the name of a workflow

_REPOSITORY = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)+")
_WORKFLOW = re.compile(r"[A-Za-z0-9._ /+-]+\.ya?ml")
_REF = re.compile(r"refs/[!-)+-~]+\*?")  # a star at the end alone
_HOSTS = {"token.actions.githubusercontent.com": "github.com"}
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
            raise self._refusal(f"it needs the role {role.label} for {where}")

    def require_anywhere(self, role: Role) -> None:
        """Raise RegistryRefused without the role below any prefix."""
        if not any(permission.role >= role for permission in self.permissions):
            raise self._refusal(f"it needs the role {role.label}")

    def _refusal(self, reason: str) -> RegistryRefused:
        """Return the error for what the caller may not do; one without a token may with one."""
        if self is PUBLIC:
            return SignInRequired()
        means = "this token gives" if self.token else f"{self.subject} has"
        return RegistryRefused(f"{reason}; {means}: {self.describe_roles()}")

    def describe_roles(self) -> str:
        """Return the roles of this caller as words, and where it has none."""
        return describe_roles((own.role.label, own.prefix) for own in self.permissions)

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


# People, sessions and trusted publishers


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as an issuer describes one: `id` is the claim `sub`, `subject` the name to be known by."""

    issuer: str
    id: str
    subject: str
    name: str = ""
    email: str = ""
    groups: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parse_name(self.id, "sub")
        parse_name(self.subject, "subject")
        parse_text(self.name, "name", MAX_NAME)
        parse_text(self.email, "email", MAX_NAME)
        for group in self.groups:
            parse_name(group, "group")
        plain = self.subject.casefold()
        if plain.startswith(RESERVED) or plain in NAMES or self.subject != self.subject.strip():
            raise InvalidParameter("subject", f"'{self.subject}' is no name for a person")
        if len(self.groups) > MAX_GROUPS:
            raise InvalidParameter("groups", f"there are more than {MAX_GROUPS}")


def choose_groups(values: object) -> tuple[str, ...]:
    """Return the names of groups in a list of an issuer; those that no grant can name are left out."""
    every = values if isinstance(values, list) else []
    return tuple(dict.fromkeys(group for group in every if isinstance(group, str) and is_name(group)))


@dataclass(frozen=True, slots=True)
class Person:
    """A person that signed in at least once. Issuer and identity are one account, and never change."""

    subject: str
    issuer: str
    identity: str
    name: str
    email: str
    groups: tuple[str, ...]
    created_at: datetime
    signed_in_at: datetime

    def current_groups(self, now: datetime) -> tuple[str, ...]:
        return self.groups if now - self.signed_in_at < GROUPS_LAST else ()

    def subjects(self, now: datetime) -> tuple[str, ...]:
        """Return whose grants a person has: its own, and those of its groups."""
        return (self.subject, *(f"{GROUP}{group}" for group in self.current_groups(now)))


@dataclass(frozen=True, slots=True)
class Session:
    """A browser that is signed in; `token` is the ID of the token that it signed in with, if any."""

    id: str
    subject: str
    token: str
    created_at: datetime
    used_at: datetime
    expires_at: datetime
    revoked_at: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and now < self.expires_at and now - self.used_at < IDLE


@dataclass(frozen=True, slots=True)
class Job:
    """A job of CI, as its ID token describes it. `pin` is the ID of the repository, which is never reused."""

    issuer: str
    id: str
    repository: str
    workflow: str
    ref: str
    environment: str
    pin: str
    expires_at: datetime
    commit: str = ""

    def describe_build(self) -> dict[str, str]:
        """Return what is attested of it: where the files come from, and what built them."""
        names = ("issuer", "repository", "workflow", "ref", "commit")
        return {name: value for name in names if (value := getattr(self, name))}

    def describe(self) -> str:
        environment = f", environment '{self.environment}'" if self.environment else ""
        return f"repository '{self.repository}', workflow '{self.workflow}', ref '{self.ref}'{environment}"


@dataclass(frozen=True, slots=True)
class TrustedPublisher:
    """A workflow of a repository whose jobs may publish below a prefix."""

    id: str
    issuer: str
    repository: str
    workflow: str
    prefix: str
    ref: str
    environment: str
    pin: str
    created_at: datetime
    created_by: str
    subject: str = field(init=False)

    def __post_init__(self) -> None:
        host = self.issuer.partition("://")[2].rstrip("/")
        object.__setattr__(self, "subject", f"{CI}{_HOSTS.get(host, host)}/{self.repository}")

    def fits(self, job: Job) -> bool:
        """Return whether a job is of this workflow; names of repositories and environments have no case."""
        return (
            self.issuer == job.issuer
            and _equal(self.repository, job.repository)
            and self.workflow == job.workflow
            and (self.ref in ("", job.ref) or (self.ref[-1] == "*" and job.ref.startswith(self.ref[:-1])))
            and (not self.environment or _equal(self.environment, job.environment))
        )


def parse_repository(text: str) -> str:
    if _REPOSITORY.fullmatch(text) is None or len(text) > MAX_PATTERN // 2 or "/." in f"/{text}":
        raise InvalidParameter("repository", "it is a path such as acme/skills")
    return text


def parse_workflow(text: str) -> str:
    """Return the file of a workflow: for GitHub its name, for GitLab its path."""
    if _WORKFLOW.fullmatch(text) is None or len(text) > MAX_PATTERN or ".." in text or text[0] in "/ ":
        raise InvalidParameter("workflow", "it is the name of a file such as release.yml")
    return text


def parse_ref(text: str) -> str:
    if text and (_REF.fullmatch(text) is None or len(text) > MAX_PATTERN):
        reason = "it is such as refs/heads/main, or refs/tags/v* with a star at its end"
        raise InvalidParameter("ref", reason)
    return text


def parse_environment(text: str) -> str:
    return parse_name(text, "environment") if text else ""


def _equal(one: str, other: str) -> bool:
    """Compare two names without case, in ASCII alone: Unicode has letters whose lower case is another's."""
    return one == other or (one.isascii() and other.isascii() and one.lower() == other.lower())

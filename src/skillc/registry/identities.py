"""Say who signs in: people by an issuer, sessions of browsers, and jobs of CI that may publish."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from skillc.errors import InvalidParameter
from skillc.registry.model import MAX_NAME, parse_name, parse_text

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

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)


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

    def as_json(self) -> dict[str, Any]:
        return _as_json(self)


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

    @property
    def subject(self) -> str:
        host = self.issuer.partition("://")[2].rstrip("/")
        return f"{CI}{_HOSTS.get(host, host)}/{self.repository}"

    def fits(self, job: Job) -> bool:
        """Return whether a job is of this workflow; names of repositories and environments have no case."""
        return (
            self.issuer == job.issuer
            and _equal(self.repository, job.repository)
            and self.workflow == job.workflow
            and (not self.ref or _matches(self.ref, job.ref))
            and (not self.environment or _equal(self.environment, job.environment))
        )

    def as_json(self) -> dict[str, Any]:
        return {**_as_json(self), "subject": self.subject}


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


def _matches(pattern: str, ref: str) -> bool:
    return ref.startswith(pattern[:-1]) if pattern.endswith("*") else ref == pattern


def _as_json(value: Person | Session | TrustedPublisher) -> dict[str, Any]:
    def convert(part: Any) -> Any:
        return part.isoformat() if isinstance(part, datetime) else part

    return {part.name: convert(getattr(value, part.name)) for part in fields(value)}

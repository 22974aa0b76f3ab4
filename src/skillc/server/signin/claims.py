"""Read verified claims: a person of an issuer, or a job of CI."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from skillc.errors import RegistryRefused, SkillcError
from skillc.registry.model import Identity, Job, choose_groups
from skillc.server.settings import OidcSettings

# How a job may have been started. Others can be started by outsiders, or run their code.
GITHUB_EVENTS = ("push", "release", "workflow_dispatch", "repository_dispatch", "schedule")
GITLAB_SOURCES = ("push", "web", "schedule", "api", "trigger")
MAX_NAME = 200  # characters of a name to show

Claims = Mapping[str, Any]


def read_identity(claims: Claims, settings: OidcSettings) -> Identity:
    """Return the person; raises RegistryRefused for one that may not sign in."""
    email = _read_email(claims, settings)
    groups = choose_groups(claims.get(settings.groups))
    if settings.domains and email.rpartition("@")[2] not in settings.domains:
        raise RegistryRefused("sign-in is for other e-mail domains")
    if settings.groups_allowed and not set(groups).intersection(settings.groups_allowed):
        raise RegistryRefused("sign-in is for members of other groups")
    subject = email if settings.subject == "email" else claims.get(settings.subject)
    if not isinstance(subject, str) or not subject:
        what = "verified e-mail address" if settings.subject == "email" else f"claim '{settings.subject}'"
        raise RegistryRefused(f"the issuer sent no {what}, which is the name of an account here")
    name = claims.get("name")
    name = "".join(filter(str.isprintable, name)) if isinstance(name, str) else ""
    try:
        return Identity(settings.issuer, claims["sub"], subject, name[:MAX_NAME], email[:MAX_NAME], groups)
    except SkillcError as error:
        raise RegistryRefused(f"the issuer sent what can't be used: {error.message}") from None


def _read_email(claims: Claims, settings: OidcSettings) -> str:
    """Return the address, in lower case; empty for one that was not verified.

    Unicode has letters whose lower case is in ASCII (the Kelvin sign): with them it stays as it is, so that
    it is not the address of another.
    """
    email = claims.get("email")
    verified = claims.get("email_verified")
    is_verified = verified is True or verified == "true" or not settings.needs_verified_email
    if not isinstance(email, str) or not email.isprintable() or " " in email or not is_verified:
        return ""
    name, _, domain = email.partition("@")
    is_address = name and domain and "@" not in domain
    return (email.lower() if email.isascii() else email) if is_address else ""


def read_job(claims: Claims, kind: str) -> Job:
    """Return the job of a verified ID token; raises RegistryRefused for one that outsiders can start."""
    fields = {name: value for name, value in claims.items() if isinstance(value, str)}
    job = _read_github(fields, claims) if kind == "github" else _read_gitlab(fields, claims)
    for name in ("id", "repository", "workflow", "pin"):
        if not getattr(job, name):
            raise RegistryRefused(f"the ID token has no {_CLAIMS[kind][name]} that can be used")
    return job


_CLAIMS = {
    "github": {
        "id": "jti",
        "repository": "repository",
        "workflow": "workflow_ref of the repository",
        "pin": "repository_id",
    },
    "gitlab": {
        "id": "jti",
        "repository": "project_path",
        "workflow": "ci_config_ref_uri of the project",
        "pin": "project_id",
    },
}


def _read_github(fields: Mapping[str, str], claims: Claims) -> Job:
    event = fields.get("event_name", "")
    if event not in GITHUB_EVENTS:
        raise _refuse_event(event, GITHUB_EVENTS)
    repository = fields.get("repository", "")
    return Job(
        issuer=fields["iss"],
        id=fields.get("jti", ""),
        repository=repository,
        workflow=_between(fields.get("workflow_ref", ""), f"{repository}/.github/workflows/"),
        ref=fields.get("ref", ""),
        environment=fields.get("environment", ""),
        pin=fields.get("repository_id", ""),
        expires_at=_time(claims),
        commit=fields.get("sha", ""),
    )


def _read_gitlab(fields: Mapping[str, str], claims: Claims) -> Job:
    source = fields.get("pipeline_source", "")
    if source not in GITLAB_SOURCES:
        raise _refuse_event(source, GITLAB_SOURCES)
    project = fields.get("project_path", "")
    host = fields["iss"].partition("://")[2].rstrip("/")
    branch = "tags" if fields.get("ref_type") == "tag" else "heads"
    return Job(
        issuer=fields["iss"],
        id=fields.get("jti", ""),
        repository=project,
        workflow=_between(fields.get("ci_config_ref_uri", ""), f"{host}/{project}//"),
        ref=f"refs/{branch}/{fields['ref']}" if fields.get("ref") else "",
        environment=fields.get("environment", ""),
        pin=fields.get("project_id", ""),
        expires_at=_time(claims),
        commit=fields.get("sha", ""),
    )


def _between(text: str, prefix: str) -> str:
    """Return the file of a workflow between a prefix and `@ref`; empty for text of another repository."""
    file, mark, _ = text.removeprefix(prefix).partition("@")
    return file if text.startswith(prefix) and mark else ""


def _time(claims: Claims) -> datetime:
    try:
        return datetime.fromtimestamp(claims["exp"], UTC)
    except (OverflowError, OSError, ValueError):
        raise RegistryRefused("the ID token has an end that is no time") from None


def _refuse_event(event: str, events: tuple[str, ...]) -> RegistryRefused:
    return RegistryRefused(f"jobs started by '{event}' may not publish; by {', '.join(events)} they may")


def read_issuer(text: str) -> str:
    """Return the issuer that a token names, before anything is verified: it says which keys to look for."""
    try:
        payload = text.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(f"{payload}{'=' * (-len(payload) % 4)}"))
        return str(claims["iss"])
    except (ValueError, LookupError, TypeError, RecursionError):
        raise RegistryRefused("the ID token can't be read") from None

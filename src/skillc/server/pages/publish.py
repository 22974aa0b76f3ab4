"""Let visitors publish a skill from an archive.

The form has two buttons: one looks at the archive and says what publishing it would do, the other publishes.
An archive in which the audit finds something to block is published only if the visitor says so.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.audit import Audit, Changes, compare_audits
from skillc.errors import InvalidParameter, RegistryRefused, SkillNotFound
from skillc.registry import Package, Role, Skill
from skillc.server.caches import Cache
from skillc.server.pages.catalog import MAX_AUDIT_BYTES, MAX_AUDITS
from skillc.server.pages.registry_catalog import RegistrySite
from skillc.server.pages.skill import describe_audit
from skillc.server.pages.visit import FormLimits, Visit, redirect, serve_page
from skillc.server.service import UPLOAD_TIME, Service
from skillc.server.uploads import PACKED, Workplace, inspect_files, make_report, read_packed
from skillc.skills import SkillId
from skillc.versions import LATEST

FIELDS = ("id", "version", "tag", "note")
MAX_UPLOAD = 64 << 20  # bytes of an archive; the files of a skill are no more


@dataclass(frozen=True, slots=True)
class Draft:
    """What a visitor wants to publish, and what it changes."""

    package: Package
    skill: Skill | None  # as it is now; None for a new one
    audit: Audit | None
    changes: Changes | None  # of what it asks for, since the latest version

    @property
    def is_blocked(self) -> bool:
        return self.audit is not None and self.audit.blocks > 0


def routes(site: RegistrySite) -> list[BaseRoute]:
    publishing = Publishing(site.service)
    return [
        Route("/publish", serve_page(site, publishing.show), methods=["GET"]),
        Route("/publish", serve_page(site, publishing.publish, publishing.receive), methods=["POST"]),
    ]


class Publishing:
    """Where visitors publish."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._audits: Cache[Audit | None] = Cache(
            MAX_AUDITS
        )  # of what visitors looked at, for when they publish it

    @asynccontextmanager
    async def receive(self, visit: Visit) -> AsyncIterator[FormLimits]:
        """Take a place for an upload, for those who may publish anything."""
        _require_publisher(visit)
        async with self._service.upload():
            yield FormLimits(MAX_UPLOAD, 1, UPLOAD_TIME)

    def show(self, visit: Visit) -> Response:
        _require_publisher(visit)
        return _show_form(visit, None, {"id": visit.query("id")})

    def publish(self, visit: Visit) -> Response:
        """Publish what the form has, or only say what that would do."""
        skill_id = SkillId(visit.text("id").strip("/"))
        visit.person.require(Role.PUBLISHER, skill_id)
        draft = self._draft(visit, skill_id)
        fields = {name: visit.text(name) for name in FIELDS}
        if visit.text("action") != "publish":
            return _show_form(visit, draft, fields)
        if draft.is_blocked and visit.text("despite") != "yes":
            return _show_form(visit, draft, fields, 422)
        version = self._service.publish(
            visit.person,
            draft.package,
            version=fields["version"],
            tag=fields["tag"] or LATEST,
            note=fields["note"],
            audit=make_report(draft.audit) if draft.audit is not None else None,
        )
        return redirect(f"/s/{version.skill}@{version.version}")

    def _draft(self, visit: Visit, skill_id: SkillId) -> Draft:
        package = _receive(visit, skill_id, self._service.workplace)
        try:
            skill = visit.registry.skill(visit.person, skill_id)
        except SkillNotFound:
            skill = None
        audit = self._audits.get((skill_id, package.digest), lambda: self._inspect(package))
        before = visit.catalog.audit(skill.latest) if skill is not None and skill.latest is not None else None
        changes = compare_audits(before, audit) if before is not None and audit is not None else None
        return Draft(package, skill, audit, changes)

    def _inspect(self, package: Package) -> Audit | None:
        """Return the audit of a package; None where it is too large for a page to wait for."""
        if sum(map(len, package.contents.values())) > MAX_AUDIT_BYTES:
            return None
        return inspect_files(self._service.workplace, package.skill, package.contents)


def _require_publisher(visit: Visit) -> None:
    if visit.person and not visit.has_role("publisher"):
        raise RegistryRefused("publishing needs the role publisher")


def _show_form(visit: Visit, draft: Draft | None, fields: dict[str, str], status: int = 200) -> Response:
    values: dict[str, Any] = describe_audit(draft.audit if draft else None)
    every = dict.fromkeys(FIELDS, "") | fields
    return visit.page("publish.html", status, draft=draft, fields=every, max_upload=MAX_UPLOAD, **values)


def _receive(visit: Visit, skill_id: SkillId, workplace: Workplace) -> Package:
    """Return the skill in the archive that was sent; raises Refusal for one that can't be published."""
    upload = visit.file("archive")
    if upload is None:
        raise InvalidParameter("archive", "choose a file: .zip or .tar.gz")
    with workplace.open() as place:
        with open(os.path.join(place, PACKED), "xb") as file:
            shutil.copyfileobj(upload.file, file)
        return read_packed(place, skill_id)

"""Let visitors publish a skill from an archive, and change what is published.

Tags, yanks and deletions each have their undoing; maintainers decide reviews.

The form to publish has two buttons: one looks at the archive and says what publishing it would do, the other
publishes. An archive in which the audit finds something to block is published only if the visitor says so.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.audit import Audit, Changes, compare_audits
from skillc.errors import InvalidParameter, RegistryRefused, SkillNotFound
from skillc.registry import Package, Role
from skillc.registry.model import APPROVED, Skill, Version
from skillc.server.pages.catalog import MAX_AUDIT_BYTES
from skillc.server.pages.registry_catalog import RegistrySite
from skillc.server.pages.subject import describe_audit, describe_skill, find_subject
from skillc.server.pages.visit import FormLimits, Visit, change, redirect, serve_page
from skillc.server.service import UPLOAD_TIME
from skillc.server.uploads import PACKED, Workplace, inspect_files, make_report, read_packed
from skillc.skills import SkillId
from skillc.versions import LATEST

FIELDS = ("id", "version", "tag", "note")
MAX_VERSIONS = 50  # of a page
MAX_DELETIONS = 100
MAX_QUEUE = 50
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
    return [
        Route("/publish", serve_page(site, show_form), methods=["GET"]),
        Route("/publish", serve_page(site, publish, receive_archive), methods=["POST"]),
    ]


@asynccontextmanager
async def receive_archive(visit: Visit) -> AsyncIterator[FormLimits]:
    """Take a place for an upload, for those who may publish anything."""
    _require_publisher(visit)
    async with visit.service.upload():
        yield FormLimits(MAX_UPLOAD, 1, UPLOAD_TIME)


def show_form(visit: Visit) -> Response:
    _require_publisher(visit)
    return _show_form(visit, None, {"id": visit.query("id")})


def publish(visit: Visit) -> Response:
    """Publish what the form has, or only say what that would do."""
    skill_id = SkillId(visit.text("id").strip("/"))
    visit.person.require(Role.PUBLISHER, skill_id)
    draft = _make_draft(visit, skill_id)
    fields = {name: visit.text(name) for name in FIELDS}
    if visit.text("action") != "publish":
        return _show_form(visit, draft, fields)
    if draft.is_blocked and visit.text("despite") != "yes":
        return _show_form(visit, draft, fields, 422)
    version = visit.service.publish(
        visit.person,
        draft.package,
        version=fields["version"],
        tag=fields["tag"] or LATEST,
        note=fields["note"],
        audit=make_report(draft.audit) if draft.audit is not None else None,
    )
    return redirect(f"/s/{version.skill}@{version.version}")


def _make_draft(visit: Visit, skill_id: SkillId) -> Draft:
    workplace = visit.service.workplace
    package = _receive(visit, skill_id, workplace)
    try:
        skill = visit.registry.skill(visit.person, skill_id)
    except SkillNotFound:
        skill = None
    audit = None  # of what is too large for a page to wait for
    if sum(map(len, package.contents.values())) <= MAX_AUDIT_BYTES:
        make = partial(inspect_files, workplace, skill_id, package.contents)
        audit = visit.site.audits.get((skill_id, package.digest), make)  # for when it is published
    before = visit.catalog.audit(skill.latest) if skill is not None and skill.latest is not None else None
    changes = compare_audits(before, audit) if before is not None and audit is not None else None
    return Draft(package, skill, audit, changes)


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


# What is published


def show_versions(visit: Visit) -> Response:
    subject = find_subject(visit)
    every = subject.skill.versions
    older = {new.version: old.version for new, old in pairwise(every)}
    tags: dict[str, list[str]] = {}
    for tag, target in sorted(subject.skill.tags.items()):
        tags.setdefault(target, []).append(tag)
    return visit.page(
        "versions.html",
        **describe_skill(visit, subject, "versions"),
        **visit.part("versions", every, MAX_VERSIONS),
        older=older,
        version_tags=tags,
        skill_tags=sorted(subject.skill.tags.items())[:MAX_VERSIONS],
        targets=[version for version in every if version.status == APPROVED][:MAX_VERSIONS],
        can_tag=visit.allows("publisher", subject.skill.id),
        can_yank=visit.allows("maintainer", subject.skill.id),
    )


def delete(visit: Visit) -> Response:
    skill_id = SkillId(visit.text("id"))
    if visit.text("confirmation") != skill_id:
        raise InvalidParameter("confirmation", f"type the ID of the skill to delete it: {skill_id}")
    visit.registry.delete(visit.person, skill_id)
    return redirect("/deleted")


def show_deletions(visit: Visit) -> Response:
    person = visit.person
    if not visit.has_role("maintainer"):
        raise RegistryRefused("deleted skills are for maintainers")
    deletions = visit.registry.deletions(person, MAX_DELETIONS + 1)
    has_more = len(deletions) > MAX_DELETIONS
    return visit.page("deleted.html", deletions=deletions[:MAX_DELETIONS], has_more=has_more)


def show_queue(visit: Visit) -> Response:
    """Show maintainers what waits for a review, and publishers what became of theirs."""
    person = visit.person
    if not visit.has_role("publisher"):
        raise RegistryRefused("the queue is for publishers and maintainers")
    queue = visit.registry.queue(person, MAX_QUEUE + 1)
    entries = [(version, _before(visit, version)) for version in queue[:MAX_QUEUE]]
    return visit.page("review.html", entries=entries, has_more=len(queue) > MAX_QUEUE)


def _before(visit: Visit, version: Version) -> str:
    """Return the version that is installed today instead of one that waits; empty where there is none."""
    skill = visit.catalog.skill(version.skill)
    latest = skill.latest
    return latest.version if latest is not None and LATEST in skill.tags else ""


def decide(visit: Visit) -> Response:
    approve = visit.text("decision") == "approve"
    fields = (visit.text("id"), visit.text("version"), approve, visit.text("reason"))
    visit.registry.review(visit.person, *fields)
    return redirect("/review")


PAGES = {"/deleted": show_deletions, "/review": show_queue}
_VERSIONS = "/versions/{id}"
FORMS = {
    "/yank": change(_VERSIONS, lambda registry: registry.yank, "id", "version", "reason"),
    "/unyank": change(_VERSIONS, lambda registry: registry.unyank, "id", "version"),
    "/tag": change(_VERSIONS, lambda registry: registry.set_tag, "id", "tag", "version"),
    "/untag": change(_VERSIONS, lambda registry: registry.remove_tag, "id", "tag"),
    "/restore": change(_VERSIONS, lambda registry: registry.restore, "id"),
    "/delete": delete,
    "/review": decide,
}

"""Show audits, and decide what waits for a review."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from skillc.errors import SkillNotFound
from skillc.registry import Role
from skillc.server.api.declaration import IF_NONE_MATCH, LIMIT, TAG, VERSION, Call, Operation
from skillc.server.api.shapes import Decision, ReviewQueue, VersionEntry
from skillc.server.api.skills import resolve_version
from skillc.server.responses import respond, respond_tagged

DEFAULT_LIMIT = 100


async def list_reviews(call: Call) -> Response:
    """List what waits, oldest first: what the caller may decide, and its own."""
    versions = await call.run(call.service.registry.queue, call.query["limit"] or DEFAULT_LIMIT)
    entries = [{"id": str(version.skill), **version.as_json()} for version in versions]
    return respond({"reviews": entries})


async def decide_review(call: Call) -> Response:
    """Approve or reject a version that waits; a rejection needs a reason."""
    fields = await call.body(Decision)
    arguments = call.path["id"], call.path["version"], fields["approve"], fields.get("reason") or ""
    version = await call.run(call.service.registry.review, *arguments)
    return respond(version.as_json())


async def show_audit(call: Call) -> Response:
    """Return the report of a version's audit, as `skc audit --format json` has it."""
    version = await resolve_version(call)
    report = await call.run(call.service.registry.audit, version)
    if report is None:
        raise SkillNotFound(f"{version.skill}@{version.version}", "it was not audited")
    return respond_tagged(call.request, {"version": version.version, **report})


_TAGS = ("Reviews",)
OPERATIONS = (
    Operation(
        "GET",
        "/reviews",
        "List versions that wait for a review, oldest first.",
        list_reviews,
        {200: ReviewQueue},
        Role.PUBLISHER,
        needs_token=True,
        parameters=(LIMIT,),
        failures=(400,),
        tags=_TAGS,
    ),
    Operation(
        "POST",
        "/skills/{id:skill}/versions/{version}/review",
        "Approve or reject a version that waits for a review.",
        decide_review,
        {200: VersionEntry},
        Role.MAINTAINER,
        body=Decision,
        failures=(400, 404, 408, 413, 422),
        tags=_TAGS,
    ),
    Operation(
        "GET",
        "/skills/{id:skill}/audit",
        "Return what an audit says of a version: what it asks for, and findings.",
        show_audit,
        {200: dict[str, Any], 304: None},
        parameters=(VERSION, TAG, IF_NONE_MATCH),
        failures=(400, 404),
        tags=_TAGS,
    ),
)

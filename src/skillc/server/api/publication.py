"""Publish skills, and change what is published: reviews, tags, yanks, deletion."""

from __future__ import annotations

import base64
import binascii
import os
from contextlib import suppress
from typing import Any, TypeVar

from skillc.errors import SkillNotFound
from skillc.registry import Package, Role, make_package
from skillc.registry.model import Version
from skillc.server.api.contracts import (
    Decision,
    FileReference,
    Publication,
    Published,
    Replacement,
    ReviewEntry,
    TagTarget,
    VersionEntry,
    Yank,
    describe_versions,
    view,
)
from skillc.server.api.declaration import IF_MATCH, SKILL, Call, operation
from skillc.server.api.skills import VERSIONS, find_skill, version_etag
from skillc.server.requests import LIMIT, Parameter, read_body, receive_body
from skillc.server.responses import Refusal, read_etags, respond
from skillc.server.service import UPLOAD_TIME
from skillc.server.uploads import PACKED, REFUSED, read_packed
from skillc.skills import SkillId
from skillc.versions import LATEST

Entry = TypeVar("Entry", bound=VersionEntry)
MAX_JSON = 32 << 20  # bytes of a skill as JSON; as an archive it may be larger
MAX_ARCHIVE = 64 << 20
MAX_SEARCH = 20  # versions that are searched for a file that is sent by its digest
ARCHIVES = ("application/zip", "application/gzip", "application/x-tar", "application/octet-stream")
_ALIASES = ("application/x-gzip", "application/x-zip-compressed", "application/x-gtar", "application/x-tgz")
DEFAULT_REVIEWS = 100
NUMBERED, TAGGED = f"{SKILL}/versions/{{version}}", f"{SKILL}/tags/{{tag}}"
OPTIONS = (
    Parameter("version", "The version; else that of the frontmatter, else the next patch."),
    Parameter("tag", "The tag that points at it from now on; `latest` by default."),
    Parameter("note", "What changed."),
)
IF_NEW = Parameter("If-None-Match", "`*` is for a skill that must not exist yet.", is_header=True)
ID = Parameter("id", "The ID of a skill that is sent as an archive.")
UPLOAD: dict[str, Any] = {
    "status": 201,
    "role": Role.PUBLISHER,
    "media_types": ARCHIVES,
    "failures": (409, 412, 415),
}


@operation("Publishing", "POST", "/skills", Published, **UPLOAD, parameters=(ID, *OPTIONS), body=Publication)
async def publish_new(call: Call) -> Any:
    """Publish the first version of a skill."""
    return await _publish(call, call.query["id"], "")


@operation(
    "Publishing", "PUT", SKILL, Published, **UPLOAD, parameters=(*OPTIONS, IF_MATCH, IF_NEW), body=Replacement
)
async def publish_version(call: Call) -> Any:
    """Publish a new version of a skill."""
    # With If-Match only in place of what it names.
    return await _publish(call, call.path["id"], await call.service.call(_read_expectation, call))


async def _publish(call: Call, skill_id: str, expect: str | None) -> Any:
    if skill_id:
        call.caller.require(Role.PUBLISHER, SkillId(skill_id))  # before anything is read
    async with call.service.upload():
        try:
            package, options = await _receive(call, skill_id)
        except REFUSED as error:
            raise Refusal(422, error.message, error.code) from None
        version = await call.service.call(
            call.service.publish, call.caller, package, **options, expect=expect
        )
    published = view(Published, version, id=version.skill)
    location = f"/skills/{version.skill}?version={version.version}"
    return respond(published, 201, {"ETag": version_etag(version), "Location": location})


def _read_expectation(call: Call) -> str | None:
    """Return the digest that a publisher takes for the latest one, as `Registry.publish` wants it."""
    if call.query["If-None-Match"].strip() == "*":
        return ""
    header = call.query["If-Match"]
    if not header:
        return None
    try:
        skill = find_skill(call)
    except SkillNotFound as error:
        raise Refusal(412, error.message, error.code) from None
    latest = skill.latest or skill.versions[0]
    if header.strip() == "*" or version_etag(latest) in read_etags(header):
        return str(latest.digest)
    return "stale"  # no digest: publishing says what is there now


async def _receive(call: Call, skill_id: str) -> tuple[Package, dict[str, Any]]:
    """Return the skill that a request has, and its options."""
    media_type = call.request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media_type in ("application/json", ""):
        return await _receive_json(call, skill_id)
    if media_type not in (*ARCHIVES, *_ALIASES):
        raise Refusal(415, f"a skill is application/json or an archive: {', '.join(ARCHIVES)}")
    if not skill_id:
        raise Refusal(400, "an archive needs the query parameter 'id'")
    options: dict[str, Any] = {key: call.query[key] for key in ("version", "tag", "note")}
    with call.service.workplace.open() as place:
        with open(os.path.join(place, PACKED), "xb") as file:
            await receive_body(call.request, file.write, MAX_ARCHIVE, UPLOAD_TIME)
        return await call.service.call(read_packed, place, skill_id), _fill(options)


async def _receive_json(call: Call, skill_id: str) -> tuple[Package, dict[str, Any]]:
    kind = Replacement if skill_id else Publication
    fields: Replacement = await read_body(call.request, kind, MAX_JSON, UPLOAD_TIME)
    if skill_id and fields.id is not None and fields.id != skill_id:
        raise Refusal(422, "'id' is another one than the path or the query has")
    skill = SkillId(skill_id or str(fields.id))
    call.caller.require(Role.PUBLISHER, skill)
    options: dict[str, Any] = {
        key: getattr(fields, key) or call.query[key] for key in ("version", "tag", "note")
    }
    return await call.service.call(_read_json, call, skill, fields), _fill(options)


def _fill(options: dict[str, Any]) -> dict[str, Any]:
    return options | {"tag": options["tag"] or LATEST}


def _read_json(call: Call, skill_id: SkillId, fields: Replacement) -> Package:
    contents = {"SKILL.md": fields.skill_md.encode("utf-8", "surrogatepass")}
    references = {path: file.digest for path, file in fields.files.items() if isinstance(file, FileReference)}
    for path, value in fields.files.items():
        if path in contents:
            raise Refusal(422, f"'files' must not hold '{path}', which is 'skill_md'")
        if isinstance(value, str):
            contents[path] = _decode(path, value)
    contents |= _read_references(call, skill_id, references)
    return make_package(skill_id, contents, {path for path in fields.executable if path in contents})


def _decode(path: str, text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Refusal(422, f"'files/{path}' must be base64") from None


def _read_references(call: Call, skill_id: SkillId, references: dict[str, str]) -> dict[str, bytes]:
    """Return the bytes of files by their digests: those of this skill, which the caller may read anyway."""
    if not references:
        return {}
    registry, contents = call.registry, {}
    versions: tuple[Version, ...] = ()
    with suppress(SkillNotFound):
        versions = registry.skill(call.caller, skill_id).versions[:MAX_SEARCH]
    for version in versions:
        places = {file.digest: file.path for file in registry.files(call.caller, version)}
        for path, digest in references.items():
            if path not in contents and digest in places:
                contents[path] = registry.read_file(call.caller, version, places[digest])
        if len(contents) == len(references):
            return contents
    absent = next(path for path in references if path not in contents)
    raise Refusal(422, f"no version of '{skill_id}' has the bytes of 'files/{absent}'; send them")


@operation("Publishing", "DELETE", SKILL, status=204, role=Role.MAINTAINER, failures=(404,))
def delete_skill(call: Call) -> None:
    """Delete a skill with all its versions; it can be restored for 30 days."""
    call.registry.delete(call.caller, call.path["id"])


@operation("Publishing", "POST", f"{SKILL}/restore", VERSIONS, role=Role.MAINTAINER, failures=(404,))
def restore_skill(call: Call) -> Any:
    """Undo a deletion."""
    return {"versions": describe_versions(call.registry.restore(call.caller, call.path["id"]))}


@operation(
    "Publishing", "POST", f"{NUMBERED}/yank", VersionEntry, role=Role.MAINTAINER, body=Yank, failures=(404,)
)
def yank_version(call: Call) -> Any:
    """Take a version out of the choice for new installations; by its number it can still be had."""
    call.registry.yank(call.caller, call.path["id"], call.path["version"], call.body.reason)
    return _show(call, call.path["version"])


@operation("Publishing", "POST", f"{NUMBERED}/unyank", VersionEntry, role=Role.MAINTAINER, failures=(404,))
def unyank_version(call: Call) -> Any:
    """Undo a yank."""
    call.registry.unyank(call.caller, call.path["id"], call.path["version"])
    return _show(call, call.path["version"])


@operation("Publishing", "PUT", TAGGED, VersionEntry, role=Role.PUBLISHER, body=TagTarget, failures=(404,))
def set_tag(call: Call) -> Any:
    """Point a tag at a version; `latest` at an older one is a rollback."""
    call.registry.set_tag(call.caller, call.path["id"], call.path["tag"], call.body.version)
    return _show(call, call.body.version)


@operation("Publishing", "DELETE", TAGGED, status=204, role=Role.PUBLISHER, failures=(404,))
def remove_tag(call: Call) -> None:
    """Remove a tag."""
    call.registry.remove_tag(call.caller, call.path["id"], call.path["tag"])


def _show(call: Call, number: str) -> VersionEntry:
    return next(each for each in describe_versions(find_skill(call)) if each.version == number)


@operation(
    "Reviews",
    "GET",
    "/reviews",
    {"reviews": [ReviewEntry]},
    role=Role.PUBLISHER,
    needs_token=True,
    parameters=(LIMIT,),
)
def list_reviews(call: Call) -> Any:
    """List versions that wait for a review, oldest first."""
    # Those that the caller may decide, and its own.
    versions = call.registry.queue(call.caller, call.query["limit"] or DEFAULT_REVIEWS)
    return {"reviews": [_view(ReviewEntry, each, id=each.skill) for each in versions]}


@operation(
    "Reviews",
    "POST",
    f"{NUMBERED}/review",
    VersionEntry,
    role=Role.MAINTAINER,
    body=Decision,
    failures=(404,),
)
def decide_review(call: Call) -> Any:
    """Approve or reject a version that waits for a review."""
    decision = call.body.approve, call.body.reason or ""
    version = call.registry.review(call.caller, call.path["id"], call.path["version"], *decision)
    return _view(VersionEntry, version)


def _view(kind: type[Entry], version: Version, **others: Any) -> Entry:
    """Return a version without its tags."""
    return view(kind, version, tags=[], signature=version.signature or None, **others)

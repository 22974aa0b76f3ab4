"""List and read skills: their text, versions, files and archives; find them; and tell how the server is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

from starlette.concurrency import iterate_in_threadpool
from starlette.responses import Response, StreamingResponse

from skillc.errors import FileNotFound, RegistryUnavailable, SkillNotFound
from skillc.library.sources import SkillCollection, SkillFilter
from skillc.registry import describe_version, read_document
from skillc.registry.model import Skill, StoredFile, Version
from skillc.server.api.contracts import (
    TURN,
    FileEntry,
    SkillList,
    SkillText,
    VersionEntry,
    describe_versions,
    view,
)
from skillc.server.api.declaration import IF_NONE_MATCH, SKILL, TAG, VERSION, Call, operation
from skillc.server.app import (
    SEARCH,
    SELECTION,
    TurnRequest,
    answer_search,
    answer_turn,
    describe_document,
)
from skillc.server.requests import Parameter
from skillc.server.responses import HEADERS, Refusal, respond, respond_tagged, unchanged
from skillc.skills import SkillId
from skillc.startup import sha256_hex
from skillc.versions import LATEST

PAGE = 200  # skills in one chunk of a list
IMMUTABLE = {"Cache-Control": "private, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
# What a skill has is data: a browser must neither run it nor show it as a page of this server.
DOWNLOAD = {"Content-Security-Policy": "sandbox; default-src 'none'", "Content-Disposition": "attachment"}
BYTES = "application/octet-stream"
GZIP = "application/gzip"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
DIGEST = Parameter("digest", "The digest of the file: what is sent then never changes.")
CHOICE = (VERSION, TAG, IF_NONE_MATCH)
COLLECTIONS, VERSIONS = {"collections": [SkillCollection]}, {"versions": [VersionEntry]}
FILES, STATUS = {"version": str, "files": [FileEntry]}, {"status": str}


@operation("Reading", "GET", "/skills", SkillList, parameters=(*SELECTION, IF_NONE_MATCH))
def list_skills(call: Call) -> Any:
    """List the skills by ID; without a limit all of them, as a stream."""
    query, limit = call.query, call.query["limit"]
    collection = str(SkillId(text)) if (text := query["collection"].strip("/")) else ""
    cursor = SkillId(query["cursor"]) if query["cursor"] else ""
    selection = collection, query["query"], limit, cursor
    key = repr((call.registry.log.find_end(), call.caller.subject, call.caller.permissions, selection))
    etag = f'W/"{sha256_hex(key.encode("utf-8", "replace"))[:32]}"'
    if response := unchanged(call.request, etag):
        return response
    skills = _filter(call, SkillFilter(collection or None, query["query"] or None), collection, cursor)
    if limit is not None:
        return respond(_read_page(skills, limit), headers={"ETag": etag})
    chunks = _write_list(skills)
    first = next(chunks)  # an outage is told as long as nothing was sent
    stream = iterate_in_threadpool(chain([first], chunks))
    return StreamingResponse(stream, headers=HEADERS | {"ETag": etag}, media_type="application/json")


def _filter(call: Call, filter: SkillFilter, collection: str, after: str) -> Iterator[dict[str, Any]]:
    """Yield the skills that pass a filter, by ID, at their latest versions."""
    for found in call.registry.source(call.caller).skills(collection, after):
        version = found.latest
        if version is not None and filter.matches(skill := describe_version(version)):
            yield skill.as_json() | {"version": version.version, "digest": version.digest}


def _read_page(skills: Iterator[dict[str, Any]], limit: int) -> dict[str, object]:
    page = [skill for skill, _ in zip(skills, range(limit + 1), strict=False)]
    value: dict[str, object] = {"skills": page[:limit]}
    return value | {"next_cursor": page[limit - 1]["id"]} if len(page) > limit else value


def _write_list(skills: Iterator[dict[str, Any]]) -> Iterator[bytes]:
    chunk = ['{"skills":[']
    separator = ""
    for skill in skills:
        text = json.dumps(skill, ensure_ascii=False, separators=(",", ":"))
        chunk.append(separator + text)
        separator = ","
        if len(chunk) >= PAGE:
            yield "".join(chunk).encode("utf-8", "replace")
            chunk.clear()
    yield ("".join(chunk) + "]}").encode("utf-8", "replace")


@operation("Reading", "GET", "/skill-collections", COLLECTIONS, parameters=(IF_NONE_MATCH,))
async def read_collections(call: Call) -> Any:
    """List all prefixes of IDs, with the number of skills below each."""
    return {"collections": await call.service.engine(call.caller).collections()}


@operation("Reading", "GET", SKILL, SkillText, parameters=CHOICE, failures=(404,))
async def read_skill(call: Call) -> Any:
    """Return a version of a skill with the text of its SKILL.md."""
    # Most requests are for this, and most need no thread.
    registry, skill_id, choose = call.registry, call.path["id"], read_choice(call)
    skill = registry.recall_skill(call.caller, skill_id)
    version = choose(skill if skill is not None else await call.service.call(find_skill, call))
    key = "text", version.version, version.digest
    text = registry.recall(skill_id, key)
    if text is None:
        make = partial(_read_text, call, version)
        text = await call.service.call(registry.remember, skill_id, key, make, len)
    assert isinstance(text, bytes)
    return respond_tagged(call.request, version_etag(version), text)


def _read_text(call: Call, version: Version) -> bytes:
    """Return the response for a version, which is the same for all that may see the version."""
    value = describe_document(read_document(call.registry.source(call.caller), version))
    return bytes(respond(value | {"version": version.version, "digest": version.digest}).body)


@operation("Reading", "GET", f"{SKILL}/versions", VERSIONS, parameters=(IF_NONE_MATCH,), failures=(404,))
def read_versions(call: Call) -> Any:
    """List the versions of a skill, last published first."""
    return {"versions": describe_versions(find_skill(call))}


@operation("Reading", "GET", f"{SKILL}/files", FILES, parameters=CHOICE, failures=(404,))
def read_files(call: Call) -> Any:
    """List the files of a version."""
    version = find_version(call)
    files = call.registry.files(call.caller, version)
    entries = [view(FileEntry, file, executable=file.is_executable) for file in files]
    return {"version": version.version, "files": entries}


@operation(
    "Reading", "GET", f"{SKILL}/files/{{path:path}}", BYTES, parameters=(*CHOICE, DIGEST), failures=(404,)
)
def read_file(call: Call) -> Any:
    """Return a file of a version."""
    # With the digest in the query, what is sent never changes.
    version, file = _find_file(call)
    headers = (IMMUTABLE if call.query["digest"] else HEADERS) | DOWNLOAD
    headers |= {"X-Skill-Version": version.version}
    read = partial(call.registry.read_file, call.caller, version, file.path)
    return respond_tagged(call.request, f'"{file.digest}"', read, headers, BYTES)


def _find_file(call: Call) -> tuple[Version, StoredFile]:
    """Return a file of the version that is asked for; with a digest, that of any version."""
    path, digest = call.path["path"], call.query["digest"]
    for version in find_skill(call).versions if digest else (find_version(call),):
        for file in call.registry.files(call.caller, version):
            if file.path == path and digest in ("", file.digest):
                return version, file
    raise FileNotFound(path)


@operation("Reading", "GET", f"{SKILL}/archive.tar.gz", GZIP, parameters=CHOICE, failures=(404,))
def read_archive(call: Call) -> Any:
    """Return all files of a version; the same version is always the same archive."""
    version = find_version(call)
    name = f"{version.skill.name}-{version.version}.tar.gz"
    headers = (IMMUTABLE if call.query["version"] else HEADERS) | DOWNLOAD
    headers |= {"X-Skill-Version": version.version}
    headers |= {"Content-Disposition": f'attachment; filename="{name}"'}
    read = partial(call.registry.read_archive, call.caller, version)
    return respond_tagged(call.request, f'"{version.archive}"', read, headers, GZIP)


def find_skill(call: Call) -> Skill:
    """Return the skill that the path names, as far as the caller may see it."""
    return call.registry.skill(call.caller, call.path["id"])


def find_version(call: Call) -> Version:
    """Return the version that the path and the query name, if the caller may see it."""
    choose = read_choice(call)
    return choose(find_skill(call))


def read_choice(call: Call) -> Callable[[Skill], Version]:
    """Return how the query chooses a version of a skill; refuses one that does so in two ways."""
    number, tag = call.query["version"], call.query["tag"]
    if number and tag:
        raise Refusal(400, "give 'version' or 'tag', not both")
    return lambda skill: skill.require(number) if number else skill.resolve(tag or LATEST)


def version_etag(version: Version) -> str:
    return f'"{version.version}+{version.digest}"'


@operation("Reading", "GET", f"{SKILL}/versions/{{version}}/attestation", dict[str, Any], failures=(404,))
def show_attestation(call: Call) -> Any:
    """Return what the registry attests of a version: an in-toto statement in a DSSE envelope."""
    # Of versions from before it had a key there is none.
    version = find_skill(call).require(call.path["version"])
    statement = call.registry.attestation(call.caller, version)
    if not statement:
        raise SkillNotFound(f"{version.skill}@{version.version}", "it was not attested")
    return json.loads(statement)


@operation("Reviews", "GET", f"{SKILL}/audit", dict[str, Any], parameters=CHOICE, failures=(404,))
def show_audit(call: Call) -> Any:
    """Return what an audit says of a version: what it asks for, and findings."""
    # It is the report of `skc audit --format json`.
    version = find_version(call)
    report = call.registry.audit(call.caller, version)
    if report is None:
        raise SkillNotFound(f"{version.skill}@{version.version}", "it was not audited")
    return {"version": version.version, **report}


@operation("Finding", "GET", "/search", dict[str, Any], parameters=SEARCH)
async def find_skills(call: Call) -> Any:
    """Find the skills that fit a task, best first."""
    # In the index of this process: it may be two seconds behind other processes, and never more.
    return await answer_search(call.query, partial(call.service.find, call.caller))


@operation("Finding", "POST", "/turns", TURN, body=TurnRequest)
async def prepare_turn(call: Call) -> Any:
    """Return what a model gets for a message: the inventory of skills, and those it refers to."""
    return await answer_turn(call.request, call.service.agent_engine(call.caller))


@operation("Operation", "GET", "/healthz", STATUS, role=None)
async def show_health(call: Call) -> Any:
    """Say that the process runs."""
    return {"status": "ok"}


@operation("Operation", "GET", "/readyz", STATUS, role=None)
async def show_readiness(call: Call) -> Any:
    """Say that the store and the blobs answer."""
    reason = (
        call.registry.outage()
    )  # known already, so that this waits for nothing while they are out of reach
    if reason is None:
        await call.service.call(call.registry.probe)
    elif reason:
        raise RegistryUnavailable("store", reason)
    return {"status": "ready"}


@operation("Operation", "GET", "/metrics", "text/plain", needs_token=True)
def show_metrics(call: Call) -> Any:
    """Return numbers of requests, times and uploads for Prometheus."""
    service = call.service
    service.metrics.lag = max(0, call.registry.feed.sequence - service.finder.sequence)
    return Response(service.metrics.text(), media_type=PROMETHEUS)

"""The ClawHub v1 protocol for publishing, and for taking back what was published.

    POST /api/v1/skills/-/upload-url   {"path", "size", "sha256"} gives {"uploadUrl", "uploadTicket"}
    POST <uploadUrl>                   the bytes of the file, gives {"storageId"}
    POST /api/v1/skills                {"slug", "ownerHandle", "version", "changelog", "tags", "files"}
                                       or a form with this as `payload` and the `files`

    DELETE /api/v1/skills/{slug}                    POST …/undelete
    DELETE /api/v1/skills/{slug}/versions/{v}       POST …/restore

The version, the tags and the changelog are the client's; name and description are those of SKILL.md. The body
of a request that takes something back may name the owner and a reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import Invalid, InvalidParameter, InvalidSkillId, SkillNotFound
from skillc.registry import MAX_BYTES, MAX_FILES, Registry, make_package
from skillc.registry.model import Caller, Version
from skillc.server.protocols.adapter import Handler, fail_plainly, find_address, serve
from skillc.server.protocols.clawhub import API, ROOT, handle_of, parse_slug, slug_of
from skillc.server.requests import parse_object, read_bytes, read_form
from skillc.server.responses import Refusal, respond
from skillc.server.service import UPLOAD_TIME, Service
from skillc.startup import sha256_hex
from skillc.versions import LATEST

MAX_PAYLOAD = 4 << 20  # bytes of JSON, which has a line for each file
MAX_TAGS = 20
_DIGEST = re.compile("[0-9a-f]{64}")
_FORM = "multipart/form-data"
MAX_REQUEST = 64 << 10
REASON = "withdrawn by its publisher"  # where a client sends none


def routes(service: Service) -> list[BaseRoute]:
    registry = service.registry

    async def grant_upload(request: Request, caller: Caller) -> Response:
        """Say where to send a file; the address has its digest, so nothing needs to be remembered."""
        fields = parse_object(await read_bytes(request, MAX_PAYLOAD, UPLOAD_TIME), 400)
        digest = _digest(fields.get("sha256"))
        await service.call(registry.uploads.check, caller, fields.get("size"))
        address = f"{find_address(service, request)}{API}/skills/-/uploads/{digest}"
        return respond({"uploadUrl": address, "uploadTicket": digest})

    async def upload(request: Request, caller: Caller) -> Response:
        await service.call(registry.uploads.check, caller, 0)
        async with service.upload():
            data = await read_bytes(request, MAX_BYTES, UPLOAD_TIME)
            if sha256_hex(data) != request.path_params["digest"]:
                raise Refusal(400, "the file has another SHA-256 than the one that was announced")
            return respond({"storageId": await service.call(registry.uploads.add, caller, data)})

    async def publish(request: Request, caller: Caller) -> Response:
        await service.call(registry.uploads.check, caller, 0)
        async with service.upload():
            if request.headers.get("Content-Type", "").lower().startswith(_FORM):
                fields, contents = await _read_form(request)
            else:
                fields = parse_object(await read_bytes(request, MAX_PAYLOAD, UPLOAD_TIME), 400)
                contents = await service.call(_collect, registry, caller, fields.get("files"))
            version = await service.call(_publish, service, caller, fields, contents)
        return respond(
            {
                "ok": True,
                "skillId": str(version.skill),
                "versionId": f"{version.skill}@{version.version}",
                "slug": slug_of(version.skill),
                "version": version.version,
                "status": "published",
                "publicationStatus": "published",
            }
        )

    def withdraw(operation: Callable[..., object], *names: str) -> Handler:
        """Return what takes a request for an operation on a skill, which takes what `names` name, too."""

        async def respond_withdrawal(request: Request, caller: Caller) -> Response:
            fields = parse_object(await read_bytes(request, MAX_REQUEST, UPLOAD_TIME) or b"{}", 400)
            slug, version = request.path_params["slug"], request.path_params.get("version")
            try:
                skill_id = parse_slug(slug, read_text(fields, "ownerHandle"))
            except InvalidSkillId:
                raise SkillNotFound(slug[:200].replace("@", "")) from None
            values = {"version": version, "reason": read_text(fields, "reason") or REASON}
            await service.call(operation, caller, skill_id, *(values[name] for name in names))
            return respond({"ok": True})

        return respond_withdrawal

    skill = f"{API}/skills/{{slug}}"
    version = f"{skill}/versions/{{version}}"
    endpoints: list[tuple[str, str, Handler]] = [
        ("POST", f"{API}/skills/-/upload-url", grant_upload),
        ("POST", f"{API}/skills/-/uploads/{{digest}}", upload),
        ("POST", f"{API}/skills", publish),
        ("DELETE", skill, withdraw(registry.delete)),
        ("POST", f"{skill}/undelete", withdraw(registry.restore)),
        ("DELETE", version, withdraw(registry.yank, "version", "reason")),
        ("POST", f"{version}/restore", withdraw(registry.unyank, "version")),
    ]
    return [
        Route(path, serve(service, handle, fail_plainly), methods=[method])
        for method, path, handle in endpoints
    ]


def _publish(
    service: Service, caller: Caller, fields: Mapping[str, Any], contents: Mapping[str, bytes]
) -> Version:
    """Publish what was sent; the first tag goes with the version, further ones follow."""
    tags = fields.get("tags") or [LATEST]
    if not isinstance(tags, list) or len(tags) > MAX_TAGS or not all(isinstance(tag, str) for tag in tags):
        raise Refusal(400, f"'tags' must be a list of at most {MAX_TAGS} texts")
    first, *others = dict.fromkeys(tags)
    try:
        owner = read_text(fields, "ownerHandle") or handle_of(caller) or ROOT
        package = make_package(parse_slug(read_text(fields, "slug"), owner), contents)
        number, note = read_text(fields, "version"), read_text(fields, "changelog")
        version = service.publish(caller, package, version=number, tag=first, note=note)
    except Invalid as error:  # what is wrong with the files is for the publisher to know
        raise Refusal(400, error.message, error.code) from None
    for tag in others:
        service.registry.set_tag(caller, version.skill, tag, version.version)
    return version


def _collect(registry: Registry, caller: Caller, files: object) -> dict[str, bytes]:
    """Return the files that a publication names among the caller's uploads."""
    if not isinstance(files, list) or len(files) > MAX_FILES:
        raise Refusal(400, f"'files' must be a list of at most {MAX_FILES}")
    contents: dict[str, bytes] = {}
    size = 0
    for file in files:
        if not isinstance(file, dict):
            raise Refusal(400, "a file must be an object")
        path = read_text(file, "path")
        data = registry.uploads.read(caller, _digest(file.get("storageId")))
        size += len(data)
        if sha256_hex(data) != _digest(file.get("sha256")) or path in contents:
            raise Refusal(400, f"'{path[:200]}' is not the file that was sent, or is there twice")
        if size > MAX_BYTES:
            raise Refusal(413, f"the files are over {MAX_BYTES >> 20} MiB")
        contents[path] = data
    return contents


async def _read_form(request: Request) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the payload and the files of a form."""
    options = {"max_files": MAX_FILES, "max_fields": 10, "max_part_size": MAX_PAYLOAD}
    form = await read_form(request, MAX_BYTES + MAX_PAYLOAD, UPLOAD_TIME, **options)
    try:
        payload = form.get("payload")
        contents: dict[str, bytes] = {}
        for key, file in form.multi_items():
            if isinstance(file, UploadFile) and key in ("files", "files[]"):
                name = file.filename or ""
                if name in contents:
                    raise Refusal(400, f"'{name[:200]}' is there twice")
                contents[name] = await file.read()
    finally:
        await form.close()
    return parse_object(payload.encode() if isinstance(payload, str) else b"", 400), contents


def read_text(fields: Mapping[str, Any], key: str) -> str:
    """Return a text of an object, empty where it is missing; refuses any other value."""
    value = fields.get(key)
    if value is not None and not isinstance(value, str):
        raise Refusal(400, f"'{key}' must be text")
    return value or ""


def _digest(value: object) -> str:
    if not isinstance(value, str) or not _DIGEST.fullmatch(value):
        raise InvalidParameter("sha256", "it must be 64 hexadecimal digits")
    return value

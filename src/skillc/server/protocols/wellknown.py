"""Well-known discovery 0.2.0: an index for the whole registry, for each prefix, and for each skill.

    /.well-known/agent-skills/index.json                          everything
    /payments/.well-known/agent-skills/index.json                 what is below payments
    /skills/payments/refunds/.well-known/agent-skills/index.json  one skill, where its page is
    …/.well-known/agent-skills/archives/payments/refunds/1.2.0.tar.gz

An entry is an archive of the latest version with its digest. The older form (`/.well-known/skills/`, with a
list of files) is not there: it has no digests, and clients that read it read this one first.
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import SkillNotFound
from skillc.server.listings import respond_listing
from skillc.server.protocols.catalog import Entry, list_entries
from skillc.server.protocols.request import find_caller, find_prefix
from skillc.server.responses import HEADERS, guard
from skillc.server.service import Service

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
PLACE = ".well-known/agent-skills"
IMMUTABLE = {"Cache-Control": "private, max-age=31536000, immutable"}


def routes(service: Service) -> list[BaseRoute]:
    async def index(request: Request) -> Response:
        """List what is below a prefix; nothing there is an empty list, so that clients look no further."""
        caller = await find_caller(service, request)
        prefix = find_prefix(request)

        def make() -> dict[str, object]:
            entries = list_entries(service.registry, caller, prefix)
            return {"$schema": SCHEMA, "skills": [_as_json(entry) for entry in entries]}

        return respond_listing(request, await service.call(service.listings.get, PLACE, caller, prefix, make))

    async def archive(request: Request) -> Response:
        """Return the archive of a version, whose digest the index has; a yanked one can still be had."""
        caller = await find_caller(service, request)
        skill = await service.call(service.registry.skill, caller, request.path_params["id"])
        version = skill.find(request.path_params["version"])
        if version is None:
            raise SkillNotFound(f"{skill.id}@{request.path_params['version'][:64]}", "no such version")
        data = await service.call(service.registry.read_archive, caller, version)
        headers = HEADERS | IMMUTABLE | {"ETag": f'"{version.archive}"'}
        return Response(data, headers=headers, media_type="application/gzip")

    index_endpoint, archive_endpoint = guard(index), guard(archive)
    return [
        route
        for above in ("", "/{prefix:path}")
        for route in (
            Route(f"{above}/{PLACE}/index.json", index_endpoint),
            Route(f"{above}/{PLACE}/archives/{{id:path}}/{{version}}.tar.gz", archive_endpoint),
        )
    ]


def _as_json(entry: Entry) -> dict[str, str]:
    return {
        "name": entry.name,
        "type": "archive",
        "description": entry.description,
        "url": f"archives/{entry.id}/{entry.version}.tar.gz",
        "digest": entry.archive,
    }

"""Well-known discovery: an index for the whole registry, for each prefix, and for each skill.

    /.well-known/agent-skills/index.json                          everything
    /payments/.well-known/agent-skills/index.json                 what is below payments
    /skills/payments/refunds/.well-known/agent-skills/index.json  one skill, where its page is
    …/.well-known/agent-skills/archives/payments/refunds/1.2.0.tar.gz

An entry of version 0.2.0 is an archive of the latest version with its digest. The older form is there for
clients that know no other, such as opencode: it lists files, and has no digests.

    /.well-known/skills/index.json, /payments/.well-known/skills/index.json, …
    …/.well-known/skills/refunds/references/rules.md
"""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import SkillNotFound
from skillc.registry import Registry
from skillc.registry.model import Caller
from skillc.server.protocols.adapter import Entry, find_prefix, list_entries, serve
from skillc.server.responses import HEADERS, Refusal, respond, respond_tagged, respond_value
from skillc.server.service import Service
from skillc.skills import MAX_SEGMENT

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
PLACE, OLD_PLACE = ".well-known/agent-skills", ".well-known/skills"
MAX_OLD = 1000  # skills in an index of the older form, which has to name all their files
IMMUTABLE = {"Cache-Control": "private, max-age=31536000, immutable"}


def routes(service: Service) -> list[BaseRoute]:
    registry = service.registry

    async def keys(request: Request) -> Response:
        """List the keys that statements about versions are checked with; anyone may have them."""
        return respond({"keys": [*registry.keys]})

    def index(request: Request, caller: Caller) -> Response:
        """List what is below a prefix; nothing there is an empty list, so that clients look no further."""
        prefix = find_prefix(request)

        def make() -> dict[str, object]:
            entries = list_entries(registry, caller, prefix)
            return {"$schema": SCHEMA, "skills": [_as_json(entry) for entry in entries]}

        return respond_tagged(request, *service.listing(caller, prefix, PLACE, make))

    def archive(request: Request, caller: Caller) -> Response:
        """Return the archive of a version, whose digest the index has; a yanked one can still be had."""
        skill = registry.skill(caller, request.path_params["id"])
        version = skill.find(request.path_params["version"])
        if version is None:
            raise SkillNotFound(f"{skill.id}@{request.path_params['version'][:64]}", "no such version")
        headers = HEADERS | IMMUTABLE | {"ETag": f'"{version.archive}"'}
        return Response(
            registry.read_archive(caller, version), headers=headers, media_type="application/gzip"
        )

    def old_index(request: Request, caller: Caller) -> Response:
        skills = [
            {
                "name": name,
                "description": entry.description,
                "files": [file.path for file in registry.files(caller, entry.version)],
            }
            for name, entry in _list_old(registry, caller, find_prefix(request)).items()
        ]
        return respond_value(request, {"skills": skills})

    def old_file(request: Request, caller: Caller) -> Response:
        name = request.path_params["name"]
        entry = _list_old(registry, caller, find_prefix(request)).get(name)
        if entry is None:
            raise SkillNotFound(name[:MAX_SEGMENT], "this index has no such skill")
        data = registry.read_file(caller, entry.version, request.path_params["path"])
        headers = HEADERS | {"Content-Disposition": "attachment"}  # a browser must not run what a skill holds
        return Response(data, headers=headers, media_type="application/octet-stream")

    endpoints = {
        f"{PLACE}/index.json": index,
        f"{PLACE}/archives/{{id:path}}/{{version}}.tar.gz": archive,
        f"{OLD_PLACE}/index.json": old_index,
        f"{OLD_PLACE}/{{name}}/{{path:path}}": old_file,
    }
    places = ("", "/{prefix:path}")
    return [
        Route("/.well-known/skillc-keys.json", keys),
        *(Route(f"{at}/{path}", serve(service, each)) for at in places for path, each in endpoints.items()),
    ]


def _list_old(registry: Registry, caller: Caller, prefix: str) -> dict[str, Entry]:
    """Return the latest versions by their names in an index of the older form."""
    entries = list_entries(registry, caller, prefix)
    if len(entries) > MAX_OLD:
        advice = f"ask below a prefix, or for {PLACE}/index.json"
        raise Refusal(403, f"these are over {MAX_OLD} skills; {advice}")
    return {entry.name: entry for entry in entries}


def _as_json(entry: Entry) -> dict[str, str]:
    version = entry.version
    return {
        "name": entry.name,
        "type": "archive",
        "description": entry.description,
        "url": f"archives/{version.skill}/{version.version}.tar.gz",
        "digest": version.archive,
    }

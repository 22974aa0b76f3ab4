"""The ClawHub v1 protocol for taking back: a skill is deleted, a version of it is yanked, and both undone.

    DELETE /api/v1/skills/{slug}                    POST …/undelete
    DELETE /api/v1/skills/{slug}/versions/{v}       POST …/restore

A body may name the owner and a reason.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from skillc.errors import InvalidSkillId, SkillNotFound
from skillc.registry import Caller
from skillc.server.protocols.clawhub import API
from skillc.server.protocols.request import find_caller, read_body
from skillc.server.protocols.response import plain
from skillc.server.protocols.slugs import parse_slug
from skillc.server.protocols.submission import read_object, read_text
from skillc.server.responses import respond
from skillc.server.service import Service
from skillc.skills import SkillId

MAX_REQUEST = 64 << 10
REASON = "withdrawn by its publisher"  # where a client sends none


def routes(service: Service) -> list[BaseRoute]:
    registry = service.registry

    async def delete(request: Request) -> Response:
        caller, skill_id, _ = await parse(request)
        await service.call(registry.delete, caller, skill_id)
        return respond({"ok": True})

    async def undelete(request: Request) -> Response:
        caller, skill_id, _ = await parse(request)
        await service.call(registry.restore, caller, skill_id)
        return respond({"ok": True})

    async def yank(request: Request) -> Response:
        caller, skill_id, fields = await parse(request)
        reason = read_text(fields, "reason") or REASON
        await service.call(registry.yank, caller, skill_id, request.path_params["version"], reason)
        return respond({"ok": True})

    async def unyank(request: Request) -> Response:
        caller, skill_id, _ = await parse(request)
        await service.call(registry.unyank, caller, skill_id, request.path_params["version"])
        return respond({"ok": True})

    async def parse(request: Request) -> tuple[Caller, SkillId, dict[str, Any]]:
        caller = await find_caller(service, request)
        fields = read_object(await read_body(request, MAX_REQUEST) or b"{}")
        try:
            return caller, parse_slug(request.path_params["slug"], read_text(fields, "ownerHandle")), fields
        except InvalidSkillId:
            raise SkillNotFound(request.path_params["slug"][:200].replace("@", "")) from None

    skill = f"{API}/skills/{{slug}}"
    return [
        Route(skill, plain(delete), methods=["DELETE"]),
        Route(f"{skill}/undelete", plain(undelete), methods=["POST"]),
        Route(f"{skill}/versions/{{version}}", plain(yank), methods=["DELETE"]),
        Route(f"{skill}/versions/{{version}}/restore", plain(unyank), methods=["POST"]),
    ]

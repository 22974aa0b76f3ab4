"""Create the HTTP API over an engine: skills, collections and search for reading, and turns for agents."""

from __future__ import annotations

from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from skillc.engine import DefaultSkillEngine
from skillc.library import SkillFilter, SkillSource
from skillc.server.engine_endpoints import (
    SEARCH,
    SELECTION,
    answer_collections,
    answer_search,
    answer_turn,
    describe_document,
    for_readers,
)
from skillc.server.requests import read_parameters
from skillc.server.responses import guard, refuse_route, respond, respond_value
from skillc.skills import SkillId


def create_app(engine: DefaultSkillEngine | SkillSource) -> Starlette:
    """Return an ASGI application over an engine, or over a source with an engine's defaults.

    Skills are listed whatever capabilities they need: the client has an engine of its own that knows which
    it has. What the engine's `allow` and `deny` hide stays hidden.
    """
    api = _Api(engine if isinstance(engine, DefaultSkillEngine) else DefaultSkillEngine(engine))
    routes = [
        Route("/skills", guard(api.skills)),
        Route("/skills/{id:path}", guard(api.skill)),
        Route("/skill-collections", guard(api.collections)),
        Route("/search", guard(api.search)),
        Route("/turns", guard(api.turn), methods=["POST"]),
        Route("/healthz", guard(api.health)),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: refuse_route})
    app.router.redirect_slashes = False
    return app


class _Api:
    """The endpoints: each parses a request, asks the engine, and makes a response."""

    def __init__(self, engine: DefaultSkillEngine) -> None:
        self._engine = engine
        self._reader = for_readers(engine)

    async def skills(self, request: Request) -> Response:
        """List the skills that pass a filter, by ID; with a limit a page of them, after the cursor."""
        query = read_parameters(request, SELECTION)
        selection = SkillFilter(query["collection"].strip("/") or None, query["query"] or None)
        cursor = SkillId(query["cursor"]) if query["cursor"] else ""
        every = await self._reader.list_skills(selection)
        skills = sorted((skill for skill in every if skill.id > cursor), key=lambda skill: skill.id)
        page = skills[: query["limit"]]
        value: dict[str, Any] = {"skills": [skill.as_json() for skill in page]}
        if len(page) < len(skills):
            value["next_cursor"] = str(page[-1].id)
        return respond_value(request, value)

    async def skill(self, request: Request) -> Response:
        return respond_value(request, describe_document(await self._reader.load(request.path_params["id"])))

    async def collections(self, request: Request) -> Response:
        return await answer_collections(request, self._reader)

    async def search(self, request: Request) -> Response:
        return await answer_search(read_parameters(request, SEARCH), self._reader.find)

    async def turn(self, request: Request) -> Response:
        return await answer_turn(request, self._engine)

    async def health(self, request: Request) -> Response:
        return respond({"status": "ok"})

"""Create the HTTP API: skills, collections and search for reading, and turns for agents."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from skillc.engine import DefaultSkillEngine, model_input
from skillc.library import SkillFilter, SkillSource
from skillc.server.responses import MISTAKES, Refusal, explain, guard, refuse_route, respond, respond_tagged
from skillc.skills import SkillId

MAX_REQUEST = 1 << 20  # bytes of a request's body
MAX_READ = 8 << 20  # bytes that are read and dropped, so that the client gets to see the refusal
REQUEST_TIME = 30.0  # seconds for a request's body to arrive
MAX_LIMIT = 1000  # skills on a page
MAX_ITEMS = 100  # in a list of a turn: skills, capabilities
SCOPE = ("repository", "collection", "capability", "tag")  # what a search can be limited to
DEFAULT_LIMIT = 10  # results of a search without a limit


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


class _Everything(frozenset[str]):
    """The capabilities of a client that this server does not know."""

    def __contains__(self, capability: object) -> bool:
        return True


class _Api:
    """The endpoints: each parses a request, asks the engine, and makes a response."""

    def __init__(self, engine: DefaultSkillEngine) -> None:
        self._engine = engine
        # A program has no use for suggestions of names, which cost a listing.
        options = replace(engine.options, capabilities=_Everything(), suggest=False)
        self._reader = DefaultSkillEngine(engine.source, options)

    async def skills(self, request: Request) -> Response:
        """List the skills that pass a filter, by ID; with a limit a page of them, after the cursor."""
        query = request.query_params
        collection = query.get("collection", "").strip("/") or None
        selection = SkillFilter(collection=collection, query=query.get("query") or None)
        limit = _limit(query.get("limit", ""))
        cursor = SkillId(query["cursor"]) if query.get("cursor") else ""
        every = await self._reader.list_skills(selection)
        skills = sorted((skill for skill in every if skill.id > cursor), key=lambda skill: skill.id)
        page = skills[:limit]
        value: dict[str, Any] = {"skills": [skill.as_json() for skill in page]}
        if len(page) < len(skills):
            value["next_cursor"] = str(page[-1].id)
        return respond_tagged(request, value)

    async def skill(self, request: Request) -> Response:
        """Return a skill with its body; other fields of its frontmatter are `extensions`."""
        document = await self._reader.load(request.path_params["id"])
        value = document.descriptor.as_json() | {"body": document.body}
        extensions = _plain(document.extensions)
        return respond_tagged(request, value | {"extensions": extensions} if extensions else value)

    async def collections(self, request: Request) -> Response:
        fields = ("path", "description", "count")
        value = [{f: getattr(c, f) for f in fields} for c in await self._reader.collections()]
        return respond_tagged(request, {"collections": value})

    async def search(self, request: Request) -> Response:
        """Return what `skc find` prints: the skills that fit a task, best first."""
        task = request.query_params.get("q", "")
        limit = _limit(request.query_params.get("limit", "")) or DEFAULT_LIMIT
        scope = {name: request.query_params.get(name, "") for name in SCOPE}
        every = _switch(request.query_params.get("all", ""))
        skills = await self._reader.find(task, limit, **scope, every=every)
        return respond(skills.as_json(task))

    async def turn(self, request: Request) -> Response:
        """Return what `skc turn` prints; a preload that fails is a client error, a reference an event."""
        fields = await _json_object(request)
        message = fields.get("message")
        if not isinstance(message, str):
            raise Refusal(422, "'message' must be text")
        preload, references = _texts(fields, "preload_skills"), _texts(fields, "skill_references")
        engine = self._engine_with(_texts(fields, "capabilities"))
        try:
            why = partial(explain, request)
            result = await model_input(engine, message, preload, references, explain=why)
        except MISTAKES as error:
            raise Refusal(422, error.message, error.code) from None
        return respond(result.as_json())

    def _engine_with(self, capabilities: list[str]) -> DefaultSkillEngine:
        """Return the engine for a client that has further capabilities."""
        options = self._engine.options
        options = replace(options, capabilities=options.capabilities.union(capabilities))
        return DefaultSkillEngine(self._engine.source, options)

    async def health(self, request: Request) -> Response:
        return respond({"status": "ok"})


def _limit(text: str) -> int | None:
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= MAX_LIMIT:
        return int(text)
    raise Refusal(400, f"'limit' must be a number from 1 to {MAX_LIMIT}")


def _switch(text: str) -> bool:
    if text.lower() in ("", "0", "false", "1", "true"):
        return text.lower() in ("1", "true")
    raise Refusal(400, "'all' must be true or false")


def _plain(value: Any) -> Any:
    """Return a value in JSON's types; anything else becomes text."""
    try:
        return json.loads(json.dumps(dict(value), skipkeys=True, default=str), parse_constant=str)
    except (ValueError, RecursionError):
        return {}


async def _json_object(request: Request) -> dict[str, Any]:
    """Return a request's body as a JSON object; refuses one that is too large, too slow, or no object."""
    try:
        async with asyncio.timeout(REQUEST_TIME):
            data = await _body(request)
    except TimeoutError:
        raise Refusal(408, "the request did not arrive in time") from None
    except ClientDisconnect:
        raise Refusal(400, "the request broke off") from None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise Refusal(400, "the request is not JSON") from None
    if not isinstance(value, dict):
        raise Refusal(422, "the request must be a JSON object")
    return value


async def _body(request: Request) -> bytes:
    data, size = bytearray(), 0
    async for chunk in request.stream():
        size += len(chunk)
        if size <= MAX_REQUEST:
            data += chunk
        elif size > MAX_READ:
            break
    if size > MAX_REQUEST:
        raise Refusal(413, f"the request is over {MAX_REQUEST >> 20} MiB")
    return bytes(data)


def _texts(fields: dict[str, Any], key: str) -> list[str]:
    """Return a list of texts; null and a missing one are empty."""
    value = fields.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Refusal(422, f"'{key}' must be a list of texts or null")
    if len(value) > MAX_ITEMS:
        raise Refusal(422, f"'{key}' must not hold more than {MAX_ITEMS} texts")
    return value

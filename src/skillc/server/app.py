"""Create the HTTP API over an engine: skills, collections and search for reading, and turns for agents.

A registry answers searches and turns in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from pydantic import Field
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from skillc.engine import DefaultSkillEngine, model_input
from skillc.index.skills import FoundSkills
from skillc.library.sources import SkillDocument, SkillFilter, SkillSource
from skillc.server.requests import LIMIT, Parameter, read_body, read_parameters
from skillc.server.responses import MISTAKES, Refusal, explain, guard, refuse_route, respond, respond_value
from skillc.skills import SkillId
from skillc.text import utf8_text

SCOPE = ("repository", "collection", "capability", "tag")  # what a search can be limited to
SELECTION = (
    Parameter("collection", "Only the skills below this path."),
    Parameter("query", "Only skills whose name or description has all these words."),
    LIMIT,
    Parameter("cursor", "Only skills behind this ID: `next_cursor` of the page before."),
)
SEARCH = (
    Parameter("q", "The task, in words."),
    LIMIT,
    *(Parameter(name, f"Only skills of this {name}.") for name in SCOPE),
    Parameter("all", "Also skills that another one with the same ID hides.", "boolean"),
)
DEFAULT_LIMIT = 10  # results of a search without a limit
Texts = Annotated[list[str], Field(max_length=100)]


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
        return respond_value(request, {"collections": await self._reader.collections()})

    async def search(self, request: Request) -> Response:
        return await answer_search(read_parameters(request, SEARCH), self._reader.find)

    async def turn(self, request: Request) -> Response:
        return await answer_turn(request, self._engine)

    async def health(self, request: Request) -> Response:
        return respond({"status": "ok"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    message: str
    preload_skills: Texts | None = None
    skill_references: Texts | None = None
    capabilities: Texts | None = None


class _Everything(frozenset[str]):
    """The capabilities of a client that this server does not know."""

    def __contains__(self, capability: object) -> bool:
        return True


def for_readers(engine: DefaultSkillEngine) -> DefaultSkillEngine:
    """Return the engine that lists skills whatever capabilities they need: clients know which they have.

    A program has no use for suggestions of names, which cost a listing.
    """
    options = replace(engine.options, capabilities=_Everything(), suggest=False)
    return DefaultSkillEngine(engine.source, options)


def describe_document(document: SkillDocument) -> dict[str, Any]:
    """Return a skill with its body; other fields of its frontmatter are `extensions`."""
    value = document.descriptor.as_json() | {"body": document.body}
    extensions = _plain(document.extensions)
    return value | {"extensions": extensions} if extensions else value


async def answer_search(query: Mapping[str, Any], find: Callable[..., Awaitable[FoundSkills]]) -> Response:
    """Return what `skc find` prints: the skills that fit a task, best first; `find` is that of an engine."""
    scope = {name: query[name] for name in SCOPE}
    skills = await find(query["q"], query["limit"] or DEFAULT_LIMIT, **scope, every=query["all"])
    value = await run_in_threadpool(skills.as_json, query["q"])  # the reasons read the skills' texts
    return respond(value)


async def answer_turn(request: Request, engine: DefaultSkillEngine) -> Response:
    """Return what `skc turn` prints; a preload that fails is a client error, a reference an event."""
    turn = await read_body(request, TurnRequest)
    capabilities = engine.options.capabilities.union(turn.capabilities or ())
    engine = DefaultSkillEngine(engine.source, replace(engine.options, capabilities=capabilities))
    preload, references = turn.preload_skills or (), turn.skill_references or ()
    message = utf8_text(turn.message, "replace")  # JSON can hold halves of characters, answers can't
    try:
        why = partial(explain, request)
        result = await model_input(engine, message, preload, references, explain=why)
    except MISTAKES as error:
        raise Refusal(422, error.message, error.code) from None
    return respond(result.as_json())


def _plain(value: Any) -> Any:
    """Return a value in JSON's types; anything else becomes text."""
    try:
        return json.loads(json.dumps(dict(value), skipkeys=True, default=str), parse_constant=str)
    except (ValueError, RecursionError):
        return {}

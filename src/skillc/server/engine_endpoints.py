"""Answer for an engine what both applications do: collections, a document, a search and a turn."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from skillc.engine import DefaultSkillEngine, model_input
from skillc.index.skills import FoundSkills
from skillc.library import SkillDocument
from skillc.server.requests import read_limit, read_object, read_switch, read_texts
from skillc.server.responses import MISTAKES, Refusal, explain, respond, respond_tagged

SCOPE = ("repository", "collection", "capability", "tag")  # what a search can be limited to
DEFAULT_LIMIT = 10  # results of a search without a limit


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


async def answer_collections(request: Request, engine: DefaultSkillEngine) -> Response:
    fields = ("path", "description", "count")
    value = [{f: getattr(c, f) for f in fields} for c in await engine.collections()]
    return respond_tagged(request, {"collections": value})


async def answer_search(request: Request, find: Callable[..., Awaitable[FoundSkills]]) -> Response:
    """Return what `skc find` prints: the skills that fit a task, best first; `find` is that of an engine."""
    task = request.query_params.get("q", "")
    limit = read_limit(request.query_params.get("limit", "")) or DEFAULT_LIMIT
    scope = {name: request.query_params.get(name, "") for name in SCOPE}
    every = read_switch(request.query_params.get("all", ""), "all")
    skills = await find(task, limit, **scope, every=every)
    return respond(await run_in_threadpool(skills.as_json, task))  # the reasons read the skills' texts


async def answer_turn(request: Request, engine: DefaultSkillEngine) -> Response:
    """Return what `skc turn` prints; a preload that fails is a client error, a reference an event."""
    fields = await read_object(request)
    message = fields.get("message")
    if not isinstance(message, str):
        raise Refusal(422, "'message' must be text")
    preload, references = read_texts(fields, "preload_skills"), read_texts(fields, "skill_references")
    capabilities = engine.options.capabilities.union(read_texts(fields, "capabilities"))
    engine = DefaultSkillEngine(engine.source, replace(engine.options, capabilities=capabilities))
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

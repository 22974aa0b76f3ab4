"""Write the OpenAPI document of the registry's own API, from the declarations of its operations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from skillc import __version__
from skillc.server.api.declaration import JSON, Call, Operation, Parameter
from skillc.server.api.shapes import Problem, make_schema
from skillc.server.responses import PROBLEM, respond_tagged

_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
_SKILL_ID = "^[a-z0-9-]{1,64}(/[a-z0-9-]{1,64})*$"
_DESCRIPTIONS = {
    "id": "The skill; slashes of its ID are written as %2F, or as they are.",
    "path": "The path of a file below the skill.",
    "version": "A semantic version.",
    "tag": "The name of a tag.",
    "token": "The ID of a token.",
}


def make_document(operations: Iterable[Operation], url: str = "") -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of some operations."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for operation in operations:
        path = _PARAMETER.sub(r"{\1}", operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _describe(operation, schemas)
    make_schema(Problem, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "skillc registry",
            "version": __version__,
            "description": "Skills with immutable versions, tags, roles and tokens.",
        },
        "servers": [{"url": url or "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _describe(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    value: dict[str, Any] = {
        "operationId": operation.handle.__name__,
        "summary": operation.summary,
        "tags": list(operation.tags),
        "parameters": [
            *map(_describe_path, _PARAMETER.findall(operation.path)),
            *map(_describe_parameter, operation.parameters),
        ],
        "responses": _describe_responses(operation, schemas),
    }
    if operation.role is None:
        value["security"] = []
    else:
        value["security"] = [{"token": []}] if operation.needs_token else [{"token": []}, {}]
        value["x-role"] = operation.role.label
    if operation.body is not None:
        value["requestBody"] = {"required": True, "content": _describe_body(operation, schemas)}
    return value


def _describe_path(name: str) -> dict[str, Any]:
    schema = {"type": "string", **({"pattern": _SKILL_ID} if name == "id" else {"minLength": 1})}
    value = {"name": name, "in": "path", "required": True, "schema": schema}
    return value | ({"description": _DESCRIPTIONS[name]} if name in _DESCRIPTIONS else {})


def _describe_parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "header" if parameter.is_header else "query",
        "description": parameter.description,
        "schema": parameter.schema(),
    }


def _describe_body(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    archive = {"schema": {"type": "string", "contentMediaType": "application/octet-stream"}}
    return {JSON: {"schema": make_schema(operation.body, schemas)}} | dict.fromkeys(
        operation.media_types, archive
    )


def _describe_responses(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, result in operation.results.items():
        responses[str(status)] = {"description": HTTPStatus(status).phrase}
        if isinstance(result, str):
            responses[str(status)]["content"] = {result: {}}
        elif result is not None:
            responses[str(status)]["content"] = {JSON: {"schema": make_schema(result, schemas)}}
    problem = {PROBLEM: {"schema": make_schema(Problem, schemas)}}
    for status in sorted(operation.all_failures()):
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "content": problem}
    return responses


def make_operation(operations: Iterable[Operation]) -> Operation:
    """Return the operation that shows the document, in which it is itself."""

    async def show_document(call: Call) -> Response:
        return respond_tagged(call.request, json.loads(write(call.service.settings.url)))

    own = Operation(
        "GET",
        "/openapi.json",
        "Return this document.",
        show_document,
        {200: dict[str, Any], 304: None},
        None,
        tags=("Operation",),
    )
    every = (*operations, own)

    @cache
    def write(url: str) -> str:
        return json.dumps(make_document(every, url))

    return own

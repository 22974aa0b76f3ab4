"""Write the OpenAPI document of the registry's own API, from the declarations of its operations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import cache
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from starlette.responses import Response

from skillc import __version__
from skillc.contract import is_optional, key_of
from skillc.server.api.declaration import IF_NONE_MATCH, Call, Group, Operation
from skillc.server.requests import Parameter
from skillc.server.responses import PROBLEM, Problem, respond_tagged

JSON = "application/json"
ARCHIVE = {"schema": {"type": "string", "contentMediaType": "application/octet-stream"}}
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
_SKILL_ID = "^[a-z0-9-]{1,64}(/[a-z0-9-]{1,64})*$"
_DESCRIPTIONS = {
    "id": "The skill; slashes of its ID are written as %2F, or as they are.",
    "path": "The path of a file below the skill.",
    "version": "A semantic version.",
    "tag": "The name of a tag.",
    "token": "The ID of a token.",
}
Schemas = Mapping[Any, Any]  # by class


class _Schemas(GenerateJsonSchema):
    """Schemas of what `skillc.contract.encode` writes: a result has all keys that are not optional."""

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        value = super().dataclass_schema(schema)
        value.pop("title", None)
        if self.mode == "serialization":
            value["required"] = [key_of(each) for each in fields(schema["cls"]) if not is_optional(each)]
        return value

    def enum_schema(self, schema: Any) -> dict[str, Any]:
        return {"type": "string", "enum": [member.label for member in schema["members"]]}  # roles

    def default_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def make_document(operations: Iterable[Operation], url: str = "") -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of some operations."""
    operations = tuple(operations)
    schemas, components = _make_schemas(operations)
    paths: dict[str, Any] = {}
    for operation in operations:
        path = _PARAMETER.sub(r"{\1}", operation.path)
        paths.setdefault(path, {})[operation.method.lower()] = _describe(operation, schemas)
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
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _make_schemas(operations: Iterable[Operation]) -> tuple[Schemas, dict[str, Any]]:
    """Return the schema of each class by class, and what they refer to by name."""
    kinds: dict[Any, Any] = {Problem: "serialization"}
    for operation in operations:
        kinds[operation.body] = "validation"
        kinds[operation.result] = "serialization"
    adapters = [
        (kind, mode, TypeAdapter(kind))
        for kind, mode in kinds.items()
        if kind is not None and not isinstance(kind, str)
    ]
    schemas, definitions = TypeAdapter.json_schemas(
        adapters, ref_template="#/components/schemas/{model}", schema_generator=_Schemas
    )
    return {kind: schema for (kind, _), schema in schemas.items()}, definitions["$defs"]


def _describe(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    value: dict[str, Any] = {
        "operationId": operation.handle.__name__,
        "summary": operation.summary,
        "tags": [operation.tag],
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
        content = {JSON: {"schema": schemas[operation.body]}} | dict.fromkeys(operation.media_types, ARCHIVE)
        value["requestBody"] = {"required": True, "content": content}
    return value


def _describe_path(name: str) -> dict[str, Any]:
    schema = {"type": "string", **({"pattern": _SKILL_ID} if name == "id" else {"minLength": 1})}
    value = {"name": name, "in": "path", "required": True, "schema": schema}
    return value | ({"description": _DESCRIPTIONS[name]} if name in _DESCRIPTIONS else {})


def _describe_parameter(parameter: Parameter) -> dict[str, Any]:
    is_number = parameter.type == "integer"
    limits = {"minimum": parameter.minimum, "maximum": parameter.maximum} if is_number else {}
    return {
        "name": parameter.name,
        "in": "header" if parameter.is_header else "query",
        "description": parameter.description,
        "schema": {"type": parameter.type, **limits},
    }


def _describe_responses(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    contents: dict[int, Any] = {operation.status: {}}
    if isinstance(operation.result, str):
        contents[operation.status] = {operation.result: {}}
    elif operation.result is not None:
        contents[operation.status] = {JSON: {"schema": schemas[operation.result]}}
    if IF_NONE_MATCH in operation.parameters:
        contents[304] = {}
    problem = {PROBLEM: {"schema": schemas[Problem]}}
    contents |= dict.fromkeys(sorted(operation.all_failures()), problem)
    return {
        str(status): {"description": HTTPStatus(status).phrase} | ({"content": content} if content else {})
        for status, content in contents.items()
    }


def make_operation(operations: Iterable[Operation]) -> Operation:
    """Return the operation that shows the document, in which it is itself."""
    group = Group("Operation")

    @group.operation("GET", "/openapi.json", dict[str, Any], role=None, parameters=(IF_NONE_MATCH,))
    async def show_document(call: Call) -> Response:
        """Return this document."""
        return respond_tagged(call.request, json.loads(write(call.service.settings.url)))

    every = (*operations, *group.operations)

    @cache
    def write(url: str) -> str:
        return json.dumps(make_document(every, url))

    return every[-1]

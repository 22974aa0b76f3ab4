"""Write the OpenAPI document of the registry's own API, from the declarations of its operations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from http import HTTPStatus
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from skillc import __version__
from skillc.contract import is_optional, key_of
from skillc.server.api.declaration import IF_NONE_MATCH, Call, Operation, operation
from skillc.server.requests import Parameter
from skillc.server.responses import PROBLEM, Problem

JSON = "application/json"
ARCHIVE = {"schema": {"type": "string", "contentMediaType": "application/octet-stream"}}
BODY, RESULT = "validation", "serialization"  # as pydantic names the two ways to use a class
_PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
_SKILL_ID = "^[a-z0-9-]{1,64}(/[a-z0-9-]{1,64})*$"
_DESCRIPTIONS = {
    "id": "The skill; slashes of its ID are written as %2F, or as they are.",
    "path": "The path of a file below the skill.",
    "version": "A semantic version.",
    "tag": "The name of a tag.",
    "token": "The ID of a token.",
}
Schemas = Mapping[Any, dict[str, Any]]  # by class, and by how it is used


class _Schemas(GenerateJsonSchema):
    """Schemas of what `skillc.contract.encode` writes: a result has all keys that are not optional."""

    def dataclass_schema(self, schema: Any) -> dict[str, Any]:
        value = super().dataclass_schema(schema)
        value.pop("title", None)
        if self.mode == RESULT:
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
    uses: list[Any] = [(Problem, RESULT)]
    for each in operations:
        uses += [(kind, BODY) for kind in _list_classes(each.body)]
        uses += [(kind, RESULT) for kind in _list_classes(each.result)]
    schemas, definitions = TypeAdapter.json_schemas(
        [(kind, mode, TypeAdapter(kind)) for kind, mode in dict.fromkeys(uses)],
        ref_template="#/components/schemas/{model}",
        schema_generator=_Schemas,
    )
    paths: dict[str, Any] = {}
    for each in operations:
        path = _PARAMETER.sub(r"{\1}", each.path)
        paths.setdefault(path, {})[each.method.lower()] = _describe(each, schemas)
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
            "schemas": definitions["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _list_classes(shape: Any) -> Iterator[Any]:
    """Yield the classes of what is sent: one, or those in `{"key": [Class]}`."""
    if isinstance(shape, dict | list):
        for each in shape.values() if isinstance(shape, dict) else shape:
            yield from _list_classes(each)
    elif shape is not None and not isinstance(shape, str):  # a text is a media type
        yield shape


def _schema_of(shape: Any, mode: str, schemas: Schemas) -> dict[str, Any]:
    if isinstance(shape, dict):
        properties = {key: _schema_of(each, mode, schemas) for key, each in shape.items()}
        return {"type": "object", "properties": properties, "required": list(shape)}
    if isinstance(shape, list):
        return {"type": "array", "items": _schema_of(shape[0], mode, schemas)}
    return schemas[shape, mode]


def _describe(operation: Operation, schemas: Schemas) -> dict[str, Any]:
    value: dict[str, Any] = {
        "operationId": operation.handle.__name__,
        "summary": (operation.handle.__doc__ or "").partition("\n")[0],
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
        content = {JSON: {"schema": _schema_of(operation.body, BODY, schemas)}}
        content |= dict.fromkeys(operation.media_types, ARCHIVE)
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
    """Return the responses by status: also the errors that follow from the declaration."""
    contents: dict[int, Any] = {operation.status: {}}
    if isinstance(operation.result, str):
        contents[operation.status] = {operation.result: {}}
    elif operation.result is not None:
        contents[operation.status] = {JSON: {"schema": _schema_of(operation.result, RESULT, schemas)}}
    if IF_NONE_MATCH in operation.parameters:
        contents[304] = {}
    failures = {*operation.failures, 500, 503}
    failures |= {401, 403, 429} if operation.role is not None else set()
    failures |= {400} if operation.parameters or "{" in operation.path else set()
    failures |= {400, 408, 413, 422} if operation.body is not None else set()
    problem = {PROBLEM: {"schema": schemas[Problem, RESULT]}}
    contents |= dict.fromkeys(sorted(failures), problem)
    return {
        str(status): {"description": HTTPStatus(status).phrase} | ({"content": content} if content else {})
        for status, content in contents.items()
    }


def add_document(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """Return some operations, and the one that shows their document, in which it is itself."""

    @operation("Operation", "GET", "/openapi.json", dict[str, Any], role=None, parameters=(IF_NONE_MATCH,))
    def show_document(call: Call) -> Any:
        """Return this document."""
        return json.loads(write(call.service.settings.url))

    every = (*operations, show_document)

    @cache
    def write(url: str) -> str:
        return json.dumps(make_document(every, url))

    return every

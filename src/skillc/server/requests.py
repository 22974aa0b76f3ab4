"""Read what a client sends: parameters, and bodies that are bounded in size and time and have a shape."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from python_multipart.exceptions import MultipartParseError
from starlette.datastructures import FormData, QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from skillc.server.responses import Refusal

MAX_REQUEST = 1 << 20  # bytes of a request's body
REQUEST_TIME = 30.0  # seconds for a request's body to arrive
MAX_LIMIT = 1000  # entries on a page
NO_QUERY = QueryParams()
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A query parameter or a header; an empty one is as good as none."""

    name: str
    description: str
    type: str = "string"
    minimum: int = 0
    maximum: int = 0
    is_header: bool = False

    def parse(self, text: str) -> Any:
        if self.type == "string":
            return text
        if self.type == "boolean":
            if text.lower() in ("", "0", "false", "1", "true"):
                return text.lower() in ("1", "true")
            raise Refusal(400, f"'{self.name}' must be true or false")
        if not text:
            return None
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= 19 else -1
        if not self.minimum <= number <= self.maximum:
            raise Refusal(400, f"'{self.name}' must be a number from {self.minimum} to {self.maximum}")
        return number


LIMIT = Parameter("limit", "How many entries at most.", "integer", 1, MAX_LIMIT)


def read_parameters(request: Request, parameters: Iterable[Parameter]) -> dict[str, Any]:
    """Return the values of parameters by name; refuses what they can't be."""
    query = request.query_params if request.scope["query_string"] else NO_QUERY  # most have none
    return {each.name: each.parse(_read_text(request, query, each)) for each in parameters}


def _read_text(request: Request, query: QueryParams, parameter: Parameter) -> str:
    if parameter.is_header:
        return request.headers.get(parameter.name, "")
    values = query.getlist(parameter.name)
    if len(values) > 1:
        raise Refusal(400, f"'{parameter.name}' is there more than once")
    return values[0] if values else ""


async def read_body(
    request: Request, kind: type[T], limit: int = MAX_REQUEST, seconds: float = REQUEST_TIME
) -> T:
    """Return a request's body, the JSON of a dataclass; refuses any other. Further keys are ignored."""
    value = parse_object(await read_bytes(request, limit, seconds))
    try:
        return cast("T", _adapter(cast(Any, kind)).validate_python(value))
    except ValidationError as error:
        raise Refusal(422, _explain(error)) from None


def parse_object(data: bytes, status: int = 422) -> dict[str, Any]:
    """Return a JSON object; refuses what is no JSON with 400, and any other value with `status`."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise Refusal(400, "the request is not JSON") from None
    if not isinstance(value, dict):
        raise Refusal(status, "the request must be a JSON object")
    return value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


_WORDS = {  # by the first word of pydantic's name for a fault
    "string": "text",
    "int": "a whole number",
    "bool": "true or false",
    "list": "a list",
    "dict": "an object",
    "dataclass": "an object",
}


def _explain(error: ValidationError) -> str:
    """Return the first fault in our own words."""
    fault = error.errors(include_url=False)[0]
    kind, context = fault["type"], fault.get("ctx", {})
    # A place has numbers of list items, too, and the types that a value could have been of.
    name = "/".join(part for part in fault["loc"] if isinstance(part, str) and part != "str")
    if kind == "missing":
        return f"'{name}' is missing"
    if kind == "too_long":
        return f"'{name}' must not hold more than {context['max_length']} entries"
    if kind in ("literal_error", "enum"):
        return f"'{name}' must be one of {context['expected']}"
    return f"'{name}' must be {_WORDS.get(kind.partition('_')[0], 'another value')}"


async def read_bytes(request: Request, limit: int, seconds: float = REQUEST_TIME) -> bytes:
    """Return a request's body, as `receive_body` does."""
    data = bytearray()
    await receive_body(request, data.extend, limit, seconds)
    return bytes(data)


async def receive_body(
    request: Request, write: Callable[[bytes], object], limit: int, seconds: float
) -> None:
    """Write the chunks of a body; raises Refusal for one that is too large, too slow or not complete."""
    try:
        async with asyncio.timeout(seconds):
            async for chunk in _limit(request, limit).stream():
                write(chunk)
    except TimeoutError:
        raise Refusal(408, "the request did not arrive in time") from None
    except ClientDisconnect:
        raise Refusal(400, "the request broke off") from None


async def read_form(request: Request, limit: int, seconds: float, **options: int) -> FormData:
    """Return the form of a request, whose files are on the disk; `options` are those of Starlette's parser.

    Raises Refusal for one that is too large, too slow or not complete.
    """
    try:
        async with asyncio.timeout(seconds):
            return await _limit(request, limit).form(**options)
    except TimeoutError:
        raise Refusal(408, "the form did not arrive in time") from None
    except (HTTPException, MultipartParseError, ClientDisconnect, KeyError, ValueError):
        raise Refusal(400, "the form can't be read") from None


def _limit(request: Request, limit: int) -> Request:
    """Return a request that raises Refusal where its body is too large, or says that it will be."""
    size = f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit >> 10} KiB"
    refusal = Refusal(413, f"the request is over {size}")
    declared = request.headers.get("Content-Length", "")
    if declared.isascii() and declared.isdigit() and (len(declared) > 19 or int(declared) > limit):
        raise refusal
    received = 0

    async def receive() -> Message:
        nonlocal received
        message = await request.receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise refusal
        return message

    return Request(request.scope, receive)

"""Read what a client sends: query parameters, and bodies that are bounded in size and time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from starlette.requests import ClientDisconnect, Request

from skillc.server.responses import Refusal

MAX_REQUEST = 1 << 20  # bytes of a request's body
MAX_READ = 8 << 20  # bytes that are read and dropped, so that the client gets to see the refusal
REQUEST_TIME = 30.0  # seconds for a request's body to arrive
MAX_LIMIT = 1000  # entries on a page
MAX_ITEMS = 100  # in a list of a turn: skills, capabilities


def read_limit(text: str) -> int | None:
    """Return the number of entries that a client asks for; None where it asks for all."""
    if not text:
        return None
    if text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= MAX_LIMIT:
        return int(text)
    raise Refusal(400, f"'limit' must be a number from 1 to {MAX_LIMIT}")


def read_switch(text: str, name: str) -> bool:
    if text.lower() in ("", "0", "false", "1", "true"):
        return text.lower() in ("1", "true")
    raise Refusal(400, f"'{name}' must be true or false")


async def read_object(
    request: Request, limit: int = MAX_REQUEST, seconds: float = REQUEST_TIME
) -> dict[str, Any]:
    """Return a request's body as a JSON object; refuses one that is too large, too slow, or no object."""
    data = bytearray()
    await receive_body(request, data.extend, limit, seconds)
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise Refusal(400, "the request is not JSON") from None
    if not isinstance(value, dict):
        raise Refusal(422, "the request must be a JSON object")
    return value


async def receive_body(
    request: Request, write: Callable[[bytes], object], limit: int, seconds: float
) -> None:
    """Write the chunks of a body; raises Refusal for one that is too large, too slow or not complete."""
    declared = request.headers.get("Content-Length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > max(limit, MAX_READ):
        raise _too_large(limit)
    size = 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size <= limit:
                    write(chunk)
                elif size > limit + MAX_READ:
                    break
    except TimeoutError:
        raise Refusal(408, "the request did not arrive in time") from None
    except ClientDisconnect:
        raise Refusal(400, "the request broke off") from None
    if size > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"the request is over {limit >> 20} MiB")


def read_texts(fields: dict[str, Any], key: str) -> list[str]:
    """Return a list of texts; null and a missing one are empty."""
    value = fields.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Refusal(422, f"'{key}' must be a list of texts or null")
    if len(value) > MAX_ITEMS:
        raise Refusal(422, f"'{key}' must not hold more than {MAX_ITEMS} texts")
    return value

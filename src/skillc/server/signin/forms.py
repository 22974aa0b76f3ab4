"""Read the forms of sign-in, which are small and have no files."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

from skillc.server.requests import REQUEST_TIME, receive_body
from skillc.server.responses import Refusal

MAX_FORM = 16 << 10  # bytes
MAX_FIELDS = 20


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form without files; refuses one that is large."""
    data = bytearray()
    await receive_body(request, data.extend, MAX_FORM, REQUEST_TIME)
    try:
        return dict(parse_qsl(data.decode(), max_num_fields=MAX_FIELDS))
    except ValueError:
        raise Refusal(400, "the form can't be read") from None

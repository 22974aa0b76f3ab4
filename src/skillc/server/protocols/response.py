"""Make the responses of protocols that know no JSON errors."""

from __future__ import annotations

import json
from functools import wraps

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from skillc.errors import SkillNotFound
from skillc.server.responses import HEADERS, Endpoint, Refusal, fail


def plain(endpoint: Endpoint) -> Endpoint:
    """Wrap an endpoint: errors become plain text, as clients of the protocol show it."""

    @wraps(endpoint)
    async def respond_safely(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Refusal as error:
            return PlainTextResponse(str(error), error.status, HEADERS | (error.headers or {}))
        except SkillNotFound as error:
            return PlainTextResponse(_explain(error), 404, HEADERS)
        except Exception as error:
            response = fail(request, error)
            text = json.loads(bytes(response.body))["error"]["message"]
            kept = ("cache-control", "retry-after", "www-authenticate", "x-content-type-options")
            headers = {name: value for name, value in response.headers.items() if name in kept}
            return PlainTextResponse(text, response.status_code, headers)

    return respond_safely


def _explain(error: SkillNotFound) -> str:
    """Return the words that clients look for, and why where it is about a version."""
    return "Skill not found" if "@" not in error.skill else f"Version not found: {error.reason}"

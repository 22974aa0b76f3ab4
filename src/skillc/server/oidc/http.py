"""Ask an issuer for a JSON object: without redirects, and bounded in size and time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2

from skillc.errors import IssuerUnavailable
from skillc.remotes import private_logs

TIME_OUT = 10.0  # seconds for an answer as a whole
MAX_ANSWER = 1 << 20  # bytes


async def request_json(
    url: str, form: Mapping[str, str] | None = None, authorization: str = ""
) -> dict[str, Any]:
    """GET a URL, or POST a form to it, and return the JSON; raises IssuerUnavailable without what was sent.

    An answer with an error (4xx) that is JSON is returned, too: OAuth says there what went wrong.
    """
    try:
        with private_logs():
            async with asyncio.timeout(TIME_OUT):
                status, data = await _request(url, form, authorization)
        value = json.loads(data) if status < 500 else None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError) as error:
        raise _unavailable(url, f"no answer ({type(error).__name__})") from None
    except (ValueError, RecursionError):
        raise _unavailable(url, f"the answer ({status}) is not JSON") from None
    if not isinstance(value, dict) or (status != 200 and form is None):
        raise _unavailable(url, f"status {status}")
    return value


async def _request(url: str, form: Mapping[str, str] | None, authorization: str) -> tuple[int, bytes]:
    headers = {"Accept": "application/json"} | ({"Authorization": authorization} if authorization else {})
    method = "GET" if form is None else "POST"
    async with (
        httpx2.AsyncClient(timeout=TIME_OUT, follow_redirects=False) as client,
        client.stream(method, url, data=form, headers=headers) as response,
    ):
        data = bytearray()
        async for chunk in response.aiter_bytes():
            data += chunk
            if len(data) > MAX_ANSWER:
                raise _unavailable(url, f"the answer is over {MAX_ANSWER >> 20} MiB")
        return response.status_code, bytes(data)


def _unavailable(url: str, reason: str) -> IssuerUnavailable:
    return IssuerUnavailable(urlsplit(url).netloc, reason)

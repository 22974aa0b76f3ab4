"""Ask web servers for files and JSON: over https, within limits, and patient where a server asks for it."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from skillc import __version__, remotes
from skillc.errors import OriginNotFound
from skillc.install.origin import Origin
from skillc.remotes import LOOPBACK, Failure, find_token, hide_secrets
from skillc.text import cut, one_line

if TYPE_CHECKING:
    from skillc.remotes import Response

TIME_OUT = 30.0  # seconds to connect, and between two pieces of an answer
MAX_JSON = 16 << 20  # bytes of an index
MAX_WAIT = 60  # seconds that a server may ask us to wait
MAX_ATTEMPTS = 3
BUSY = (429, 503)


@dataclass(frozen=True, slots=True)
class Web:
    """Requests on behalf of an origin, whose credentials go to its own host alone.

    Raises OriginNotFound (E080) with the reason, without secrets.
    """

    origin: Origin

    def get(self, url: str, limit: int, accept: str = "*/*") -> Response:
        """Return the answer, whatever its status; wait and ask again where the server is busy."""
        parts = urlsplit(url)
        if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
            raise self.failure(f"'{url}' is not https, and http is for this machine alone")
        refusal = self.origin.allowed_hosts.refusal(url)
        if refusal:
            raise self.failure(f"{url}: {refusal}")
        for attempt in range(MAX_ATTEMPTS):
            response = self._send(url, limit, accept)
            wait = _seconds(response.retry_after)
            if response.status not in BUSY or attempt == MAX_ATTEMPTS - 1 or wait > MAX_WAIT:
                break
            time.sleep(wait)
        return response

    def get_file(self, url: str, limit: int) -> Response:
        """Return the answer with a file; raise OriginNotFound for any other status."""
        response = self.get(url, limit)
        if response.status != 200:
            raise self.failure(f"{url}: {explain_status(response)}")
        return response

    def get_json(self, url: str) -> Any:
        """Return the JSON at an address; None where there is nothing, or something else than JSON."""
        response = self.get(url, MAX_JSON, "application/json")
        if response.status in BUSY or response.status in (401, 403) or response.status >= 500:
            raise self.failure(f"{url}: {explain_status(response)}")
        if response.status != 200:
            return None
        try:
            return json.loads(response.data)
        except (ValueError, RecursionError):
            return None

    def failure(self, reason: str, details: str = "") -> OriginNotFound:
        return OriginNotFound(self.origin.label(), hide_secrets(one_line(reason)), details)

    def _send(self, url: str, limit: int, accept: str) -> Response:
        headers = {"Accept": accept, "Accept-Encoding": "identity", "User-Agent": f"skillc/{__version__}"}
        credentials, hosts = self._credentials(url), self.origin.allowed_hosts
        stored = "" if credentials else find_token(url)
        if stored:
            credentials = {"Authorization": f"Bearer {stored}"}
        request = remotes.fetch(
            *(url, headers, credentials, TIME_OUT, limit), hosts=hosts, secure=True, resend=not stored
        )
        try:
            return asyncio.run(request)
        except Failure as error:
            raise self.failure(f"{url}: {error}") from None

    def _credentials(self, url: str) -> dict[str, str]:
        own, other = urlsplit(self.origin.address), urlsplit(url)
        is_same = (own.scheme, own.hostname, own.port) == (other.scheme, other.hostname, other.port)
        if not is_same or "@" not in own.netloc:
            return {}
        pair = f"{unquote(own.username or '')}:{unquote(own.password or '')}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def explain_status(response: Response) -> str:
    """Return what an answer with an error says, in one short line."""
    if response.status in BUSY and response.retry_after:
        return f"the server is busy and asks to come again in {one_line(response.retry_after)} s"
    if response.status in (401, 403):
        return f"the server wants authentication (HTTP {response.status})"
    text = response.data.decode("utf-8", "replace").strip()
    is_plain = text and not re.match(r"\s*[<{]", text)
    return f"HTTP {response.status}{f': {cut(one_line(text), 200)}' if is_plain else ''}"


def _seconds(text: str) -> float:
    """Return how long Retry-After asks to wait; a second where it says nothing, forever for a date."""
    if not text:
        return 1.0
    return float(text) if re.fullmatch("[0-9]{1,6}", text) else float("inf")

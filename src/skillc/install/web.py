"""Ask web servers on behalf of an origin; what goes wrong is E080, without secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from skillc.errors import OriginNotFound
from skillc.install.origin import Origin
from skillc.remotes import (
    BUSY,
    MAX_ATTEMPTS,
    Failure,
    Refused,
    Response,
    Session,
    hide_secrets,
    parse_base_url,
)
from skillc.text import cut, one_line

MAX_JSON = 16 << 20  # bytes of an index


class Web:
    """Requests on behalf of an origin, whose credentials go to its own host alone.

    Raises OriginNotFound (E080) with the reason.
    """

    def __init__(self, origin: Origin) -> None:
        self.origin = origin
        self.session = Session(
            origin.url,
            credentials=parse_base_url(origin.address)[1],
            hosts=origin.allowed_hosts,
            plain="'{}' is not https, and http is for this machine alone",
            logins=True,
            attempts=MAX_ATTEMPTS,
        )

    def get(self, url: str, limit: int) -> Response:
        """Return the answer, whatever its status."""
        with self.errors():
            return self.session.get(url, limit)

    def get_file(self, url: str, limit: int) -> Response:
        """Return the answer with a file; raises OriginNotFound for any other status."""
        with self.errors():
            return self.session.get_file(url, limit)

    def get_json(self, url: str) -> Any:
        """Return the JSON at an address; None where there is nothing, or something else than JSON."""
        with self.errors():
            return self.session.get_json(url, MAX_JSON)

    def failure(self, reason: str, details: str = "") -> OriginNotFound:
        return OriginNotFound(self.origin.label(), hide_secrets(one_line(reason)), details)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn failures of a remote into OriginNotFound."""
        try:
            yield
        except Failure as error:
            reason = _explain_status(error.response) if isinstance(error, Refused) else str(error)
            is_told = not error.url or error.url in reason
            raise self.failure(reason if is_told else f"{error.url}: {reason}") from None


def _explain_status(response: Response) -> str:
    """Return what an answer with an error says, in one short line."""
    if response.status in BUSY and response.retry_after:
        return f"the server is busy and asks to come again in {one_line(response.retry_after)} s"
    if response.status in (401, 403):
        return f"the server wants authentication (HTTP {response.status})"
    text = response.data.decode("utf-8", "replace").strip()
    is_plain = text and not re.match(r"\s*[<{]", text)
    return f"HTTP {response.status}{f': {cut(one_line(text), 200)}' if is_plain else ''}"

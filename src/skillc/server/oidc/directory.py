"""Hold the issuers that a server knows. They are asked when they are first needed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from skillc.errors import require_extra

if TYPE_CHECKING:
    from skillc.server.oidc.issuers import Issuer


class Directory:
    """The issuers of one server process, which keep their keys."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._issuers: dict[str, Issuer] = {}  # by URL: as many as are configured

    def get(self, url: str) -> Issuer:
        """Return an issuer of the configuration, and of nothing else; raises MissingExtra."""
        with require_extra("sso"):
            from skillc.server.oidc.issuers import Issuer  # here, because it needs the extra
        if url not in self._issuers:
            self._issuers[url] = Issuer(url, self._clock)
        return self._issuers[url]

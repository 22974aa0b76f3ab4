"""Serve a registry. What that needs is loaded when it is called."""

from __future__ import annotations

from collections.abc import Callable

from skillc.errors import require_extra
from skillc.server.settings import Launch


def serve_registry(
    launch: Launch, announce: Callable[[str], None], show_token: Callable[[str], None]
) -> None:
    """Serve until SIGINT or SIGTERM; `announce` gets the URL as soon as requests are answered.

    `show_token` gets the admin's token at the first start, unless there is a file for it. Raises
    MissingExtra, RegistryUnavailable, and SkillcError where the port is taken.
    """
    with require_extra("server"):
        from skillc.server.host import run
    run(launch, announce, show_token)

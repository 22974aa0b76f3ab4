"""Hold what the endpoints of a registry share: the registry, its settings, and the caller of a request.

    caller = await service.caller(request)
    skill = await service.call(service.registry.skill, caller, skill_id)

A registry's operations block, so they run in threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from skillc.errors import SignInRequired
from skillc.registry import PUBLIC, Caller, Registry

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a registry is served; `url` is its address as clients know it, without a slash at the end."""

    url: str = ""
    public_read: bool = False  # requests without a token may read everything


class Service:
    """A registry as one server process offers it."""

    def __init__(self, registry: Registry, settings: ServerSettings) -> None:
        self.registry = registry
        self.settings = settings

    async def call(self, operation: Callable[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """Run a blocking operation in a thread and return its result."""
        return await run_in_threadpool(operation, *arguments, **options)

    async def caller(self, request: Request) -> Caller:
        """Return the caller of a request, by its token; raises SignInRequired."""
        header = request.headers.get("Authorization")
        if header is not None:
            scheme, _, token = header.partition(" ")
            if scheme.lower() != "bearer":
                raise SignInRequired
            return await self.call(self.registry.accounts.authenticate, token.strip())
        if self.settings.public_read:
            return PUBLIC
        raise SignInRequired

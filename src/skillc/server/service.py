"""Hold what the endpoints of a registry share: the registry, its settings, and the caller of a request.

    caller = await service.caller(request)
    skill = await service.call(service.registry.skill, caller, skill_id)

A registry's operations block, so they run in threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import ParamSpec, TypeVar

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from skillc.engine import DefaultSkillEngine
from skillc.errors import RegistryUnavailable, SignInRequired
from skillc.registry import PUBLIC, Caller, Registry, RegistrySkillSource
from skillc.server.answers import for_readers
from skillc.server.settings import ServerSettings as ServerSettings

P = ParamSpec("P")
T = TypeVar("T")

MAX_UPLOADS = 4  # at once; each is in memory while it is checked and stored
UPLOAD_WAIT = 20.0  # seconds that an upload waits for its place
UPLOAD_TIME = 300.0  # seconds for an upload to arrive


class Service:
    """A registry as one server process offers it; `number` tells the processes of one server apart.

    What has to run as long as the server does is added to `contexts`: it is entered at the start.
    """

    def __init__(self, registry: Registry, settings: ServerSettings, number: int = 0) -> None:
        self.registry = registry
        self.settings = settings
        self.number = number
        self.contexts: list[Callable[[], AbstractAsyncContextManager[object]]] = []
        self._uploads = asyncio.Semaphore(MAX_UPLOADS)

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

    def engine(self, caller: Caller) -> DefaultSkillEngine:
        """Return the engine over the skills of a caller, whatever capabilities they need."""
        return for_readers(self.agent_engine(caller))

    def agent_engine(self, caller: Caller) -> DefaultSkillEngine:
        """Return the engine that prepares turns, which hides skills that need more than the agent has."""
        return DefaultSkillEngine(RegistrySkillSource(self.registry.source(caller)))

    @asynccontextmanager
    async def upload(self) -> AsyncIterator[None]:
        """Take one of the places for uploads; raises RegistryUnavailable where none gets free."""
        try:
            async with asyncio.timeout(UPLOAD_WAIT):
                await self._uploads.acquire()
        except TimeoutError:
            raise RegistryUnavailable("server", "too many uploads wait") from None
        try:
            yield
        finally:
            self._uploads.release()

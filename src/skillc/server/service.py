"""Hold what the endpoints of a registry share: the registry, its settings, and the caller of a request.

    caller = await service.caller(request)
    skill = await service.call(service.registry.skill, caller, skill_id)

A registry's operations block, so they run in threads.
"""

from __future__ import annotations

import asyncio
import logging
import random
import tempfile
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Hashable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property, partial
from typing import Any, ParamSpec, TypeVar, cast

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from skillc import atomic
from skillc.engine import DefaultSkillEngine
from skillc.errors import RegistryRefused, RegistryUnavailable, SignInRequired, unexpected
from skillc.index.skills import EVERYTHING, FoundSkills, Scope
from skillc.registry import PUBLIC, SYSTEM, Finder, Package, Registry, RegistrySkillSource, Role, SignedIn
from skillc.registry.model import Caller, Version
from skillc.server.access import Limiter, Proxies
from skillc.server.app import for_readers
from skillc.server.request_log import CALLER, QUOTA, Metrics
from skillc.server.responses import Refusal, etag_of, respond
from skillc.server.settings import ServerSettings
from skillc.server.signin.flow import Directory
from skillc.server.signin.sessions import HEADER, SAFE, check_form_token, check_origin, read_cookie
from skillc.server.uploads import Workplace, audit_package, check_package

log = logging.getLogger("skillc.server")
P = ParamSpec("P")
T = TypeVar("T")

MAX_UPLOADS = 4  # at once; each is in memory while it is checked and stored
UPLOAD_WAIT = 20.0  # seconds that an upload waits for its place
COLLECT_SECONDS = 6 * 3600  # about, between two collections of what nothing needs any more
PROBE_SECONDS = 15  # about, between two looks whether the blobs can be reached
UPLOAD_TIME = 300.0  # seconds for an upload to arrive


class Service:
    """A registry as one server process offers it; `number` tells the processes of one server apart.

    What has to run as long as the server does is added to `contexts`: it is entered at the start.
    """

    def __init__(self, registry: Registry, settings: ServerSettings, number: int = 0) -> None:
        self.registry = registry
        self.settings = settings
        self.metrics = Metrics(settings.metrics)
        self.proxies = Proxies(settings.trusted_proxies)
        self._limiter = Limiter(settings.rate_limit)
        collect = partial(self._repeat, partial(registry.collect, SYSTEM), COLLECT_SECONDS)
        probe = partial(self._repeat, registry.probe, PROBE_SECONDS)
        # Of the processes of a server, the first one collects.
        self.contexts: list[Callable[[], AbstractAsyncContextManager[object]]]
        self.contexts = [self._follow, probe, *([] if number else [collect])]
        self._is_followed = False
        self.issuers = Directory(registry.now)
        self._listing = threading.Lock()
        self.workplace = Workplace(settings.work)
        self._uploads = asyncio.Semaphore(MAX_UPLOADS)

    async def call(self, operation: Callable[P, T], /, *arguments: P.args, **options: P.kwargs) -> T:
        """Run a blocking operation in a thread and return its result."""
        return await run_in_threadpool(operation, *arguments, **options)

    async def caller(self, request: Request) -> Caller:
        """Return the caller of a request, by its token or its session; raises SignInRequired.

        With a session, a request that may change something comes from a page of this server and has the
        session's form token in the header X-CSRF-Token; raises RegistryRefused for any other.
        Raises Refusal (429) where a token, or an address without a valid one, asks too often.
        """
        try:
            caller = await self._identify(request)
        except SignInRequired:
            self.limit(request)
            raise
        request.scope[CALLER] = caller.token or caller.subject
        self._spend(request, caller.token or self.proxies.address_of(request.scope))
        return caller

    def limit(self, request: Request) -> None:
        """Count a request that needs no caller; raises Refusal (429) where its address asks too often."""
        self._spend(request, self.proxies.address_of(request.scope))

    def _spend(self, request: Request, key: str) -> None:
        quota = self._limiter.spend(key)
        request.scope[QUOTA] = quota
        if quota and quota.wait:
            message = f"too many requests; ask again in {quota.wait} s"
            raise Refusal(429, message, RegistryRefused.code, {"Retry-After": str(quota.wait)})

    async def _identify(self, request: Request) -> Caller:
        header = request.headers.get("Authorization")
        if header is not None:
            scheme, _, token = header.partition(" ")
            if scheme.lower() != "bearer":
                raise SignInRequired
            accounts = self.registry.accounts
            caller = accounts.recall(token.strip())  # most requests need no thread
            return caller if caller else await self.call(accounts.authenticate, token.strip())
        if signed_in := await self.visitor(request):
            if request.method not in SAFE:
                check_origin(request, self.settings.url)
                check_form_token(read_cookie(request, self.settings.url), request.headers.get(HEADER, ""))
            return signed_in.caller
        if self.settings.public_read:
            return PUBLIC
        raise SignInRequired

    async def visitor(self, request: Request) -> SignedIn | None:
        """Return the session of a browser, by its cookie; None without one that is valid.

        Forms are checked elsewhere: by `check_origin` and `check_form_token`.
        """
        cookie = read_cookie(request, self.settings.url)
        return await self.call(self.registry.sessions.find, cookie) if cookie else None

    @cached_property
    def finder(self) -> Finder:
        """The index of this process."""
        folder = self.settings.index or tempfile.mkdtemp(prefix="skillc-index-")
        finder = Finder(self.registry, folder)
        if not self.settings.index:
            weakref.finalize(self, _discard, finder, folder)
        return finder

    async def find(
        self, caller: Caller, task: str, limit: int = 10, *, every: bool = False, **scope: str
    ) -> FoundSkills:
        """Return the skills that fit a task and that a caller may read, best first."""
        return await self.call(self.search, caller, task, limit, Scope(**scope, every=every))

    def search(self, caller: Caller, task: str, limit: int, scope: Scope = EVERYTHING) -> FoundSkills:
        """Do what `find` does; blocks."""
        if not self._is_followed or not self.finder.is_ready:
            self.finder.refresh()
        return self.finder.find(caller, task, limit, scope)

    @asynccontextmanager
    async def _follow(self) -> AsyncIterator[None]:
        """Keep the index current, and remember what was read, as long as the server runs."""
        self.finder.start()
        self._is_followed = True
        try:
            yield
        finally:
            self._is_followed = False
            await self.call(self.finder.close)

    @asynccontextmanager
    async def _repeat(self, operation: Callable[[], object], seconds: float) -> AsyncIterator[None]:
        """Run an operation about as often, as long as the server runs; log what it raises."""

        async def run() -> None:
            while True:
                await asyncio.sleep(seconds * random.uniform(0.5, 1.5))  # noqa: S311
                try:
                    await self.call(operation)
                except Exception as error:
                    log.error("%s", unexpected(error).line())

        task = asyncio.create_task(run())
        try:
            yield
        finally:
            task.cancel()

    def publish(
        self, caller: Caller, package: Package, *, audit: Mapping[str, Any] | None = None, **options: Any
    ) -> Version:
        """Audit a package, unless its report is given, and publish it with the report; blocks.

        `options` are those of the registry.
        """
        caller.require(Role.PUBLISHER, package.skill)
        signature = check_package(self.workplace, package, self.settings.trust)
        report = audit_package(self.workplace, package) if audit is None else audit
        version = self.registry.publish(caller, package, **options, audit=report, signature=signature)
        self.metrics.uploads += 1
        self.metrics.upload_bytes += sum(map(len, package.contents.values()))
        return version

    def listing(
        self, caller: Caller, prefix: str, kind: Hashable, make: Callable[[], Any]
    ) -> tuple[str, bytes]:
        """Return a list of the skills below a prefix as JSON, with its ETag, as `make` made it; blocks.

        It depends on the permissions of the caller, not on who it is. It is remembered until something below
        the prefix changes. One is made at a time, so that clients can't take all processors.
        """

        def write() -> tuple[str, bytes]:
            data = bytes(respond(make()).body)
            return etag_of(data), data

        owner, key = f"{prefix}/", (kind, caller.permissions)
        if (found := self.registry.recall(owner, key)) is not None:
            return cast("tuple[str, bytes]", found)
        with self._listing:
            return self.registry.remember(owner, key, write, lambda pair: len(pair[1]))

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


def _discard(finder: Finder, folder: str) -> None:
    finder.close()
    atomic.discard(folder)

"""Telling clients what changed: the library is looked at again and again, as `build --watch` does.

Nothing is looked at before somebody has asked for resources, and the larger a library is the longer
the pauses are, so that watching never takes more than a small share of a core.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated
from mcp_types import EmptyResult, NotificationParams, SubscribeRequestParams, UnsubscribeRequestParams

from skillc.errors import SkillcError
from skillc.mcp.entries import Stamps, uri_of

if TYPE_CHECKING:
    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext

    from skillc.mcp.skills import Shelf
    from skillc.skills import SkillId

INTERVAL = 1.0  # seconds between two looks
SHARE = 30  # a pause is at least so many times as long as the look before it
SUBSCRIPTIONS = "skillc.subscriptions"  # where a connection keeps its own
MAX_SUBSCRIPTIONS = 10_000  # of one connection

log = logging.getLogger("skillc.mcp")

Snapshot = dict["SkillId", Stamps]


class Watch:
    """Who listens, and what they hear."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.bus = InMemorySubscriptionBus()  # clients of 2026-07-28
        self._connections: dict[int, Connection] = {}  # clients that shook hands
        self._wanted = anyio.Event()
        self._looking = anyio.Event()

    def ask(self) -> None:
        """From now on it is worth looking."""
        self._wanted.set()

    async def begin(self) -> None:
        """The same, and wait until every later change will be seen."""
        self.ask()
        await self._looking.wait()

    async def greet(self, ctx: ServerRequestContext[Any, Any], params: NotificationParams) -> None:
        """A client has shaken hands: it hears of changes until it leaves."""
        connection = ctx.session._connection  # the SDK has no public way to what lives as long as a client
        self._connections[id(connection)] = connection
        connection.exit_stack.callback(self._connections.pop, id(connection), None)

    async def subscribe(
        self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams
    ) -> EmptyResult:
        await self.begin()
        own: set[str] = ctx.session._connection.state.setdefault(SUBSCRIPTIONS, set())
        if len(own) < MAX_SUBSCRIPTIONS:
            own.add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(
        self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        ctx.session._connection.state.get(SUBSCRIPTIONS, set()).discard(str(params.uri))
        return EmptyResult()

    async def run(self) -> None:
        """Look until cancelled."""
        await self._wanted.wait()
        known = await self._look({}) | self._shelf.told()  # what changed since it was told counts, too
        self._looking.set()
        while True:
            started = time.monotonic()
            now = await self._look(known)
            took = time.monotonic() - started
            if now != known:
                await self._tell(known, now)
                known = now
            await anyio.sleep(max(INTERVAL, SHARE * took))

    async def _look(self, last: Snapshot) -> Snapshot:
        """The library as it is; as it was where it can't be seen."""
        try:
            return await self._shelf.stamps()
        except (SkillcError, OSError) as error:
            log.warning("the library can't be looked at: %s", error)
            return last

    async def _tell(self, old: Snapshot, new: Snapshot) -> None:
        before, after = dict(_files(old)), dict(_files(new))
        changed = [uri for uri in before.keys() | after.keys() if before.get(uri) != after.get(uri)]
        listed = before.keys() != after.keys() or _mains(changed)
        if listed:
            await self.bus.publish(ResourcesListChanged())
        for uri in sorted(changed):
            await self.bus.publish(ResourceUpdated(uri=uri))
        for connection in list(self._connections.values()):
            if listed:
                await connection.send_resource_list_changed()
            for uri in sorted(connection.state.get(SUBSCRIPTIONS, set()).intersection(changed)):
                await connection.send_resource_updated(uri)


def _files(snapshot: Snapshot) -> list[tuple[str, tuple[int, int, int]]]:
    return [(uri_of(skill_id, name), stamp) for skill_id, files in snapshot.items() for name, stamp in files]


def _mains(uris: list[str]) -> bool:
    """Whether a SKILL.md is among them: its name and description are part of the list."""
    return any(uri.endswith("/SKILL.md") for uri in uris)

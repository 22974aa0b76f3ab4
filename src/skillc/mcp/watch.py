"""Tell clients what changed: poll the library, as `build --watch` does.

Polling starts when a client first asks for resources. The pause grows with the library, so that watching
never takes more than a small share of a core.
"""

from __future__ import annotations

import logging
import time

import anyio
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext as Context
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated
from mcp_types import EmptyResult, NotificationParams, SubscribeRequestParams, UnsubscribeRequestParams

from skillc.errors import SkillcError
from skillc.mcp.skills import ServedSkills, Stamps, uri_of
from skillc.skills import SkillId

INTERVAL = 1.0  # seconds between two polls
PAUSE_FACTOR = 30  # a pause takes at least this many times as long as the poll before it
SUBSCRIPTIONS = "skillc.subscriptions"  # the key under which a connection keeps its own
MAX_SUBSCRIPTIONS = 10_000  # of one connection

log = logging.getLogger("skillc.mcp")
SkillStamps = dict["SkillId", Stamps]


class Watch:
    """The clients that listen for changes, and what they are sent."""

    def __init__(self, skills: ServedSkills) -> None:
        self._skills = skills
        self.bus = InMemorySubscriptionBus()  # clients of 2026-07-28
        self._connections: dict[int, Connection] = {}  # clients of older protocols
        self._start = anyio.Event()
        self._ready = anyio.Event()

    def ask(self) -> None:
        """Start polling, if it has not started."""
        self._start.set()

    async def begin(self) -> None:
        """Start polling, and wait until every later change will be seen."""
        self.ask()
        await self._ready.wait()

    async def greet(self, ctx: Context, params: NotificationParams) -> None:
        """Send a client that completed its handshake every change until it leaves."""
        connection = ctx.session._connection  # the SDK has no public handle on a connection
        self._connections[id(connection)] = connection
        connection.exit_stack.callback(self._connections.pop, id(connection), None)

    async def subscribe(self, ctx: Context, params: SubscribeRequestParams) -> EmptyResult:
        await self.begin()
        own: set[str] = ctx.session._connection.state.setdefault(SUBSCRIPTIONS, set())
        if len(own) < MAX_SUBSCRIPTIONS:
            own.add(str(params.uri))
        return EmptyResult()

    async def unsubscribe(self, ctx: Context, params: UnsubscribeRequestParams) -> EmptyResult:
        ctx.session._connection.state.get(SUBSCRIPTIONS, set()).discard(str(params.uri))
        return EmptyResult()

    async def run(self) -> None:
        """Poll until cancelled."""
        await self._start.wait()
        # Changes since an entry was sent count, too.
        last = await self._poll({}) | self._skills.entry_stamps()
        self._ready.set()
        while True:
            start = time.monotonic()
            now = await self._poll(last)
            duration = time.monotonic() - start
            if now != last:
                await self._notify(last, now)
                last = now
            await anyio.sleep(max(INTERVAL, PAUSE_FACTOR * duration))

    async def _poll(self, last: SkillStamps) -> SkillStamps:
        """Return the library as it is; as it was where it can't be read."""
        try:
            return await self._skills.stamps()
        except (SkillcError, OSError) as error:
            log.warning("the library can't be looked at: %s", error)
            return last

    async def _notify(self, old: SkillStamps, new: SkillStamps) -> None:
        before, after = dict(_files(old)), dict(_files(new))
        changes = [uri for uri in before.keys() | after.keys() if before.get(uri) != after.get(uri)]
        # A SKILL.md has a name and a description, which are part of the list.
        is_new_list = before.keys() != after.keys() or any(uri.endswith("/SKILL.md") for uri in changes)
        if is_new_list:
            await self.bus.publish(ResourcesListChanged())
        for uri in sorted(changes):
            await self.bus.publish(ResourceUpdated(uri=uri))
        for connection in list(self._connections.values()):
            if is_new_list:
                await connection.send_resource_list_changed()
            for uri in sorted(connection.state.get(SUBSCRIPTIONS, set()).intersection(changes)):
                await connection.send_resource_updated(uri)


def _files(skills: SkillStamps) -> list[tuple[str, tuple[int, int, int]]]:
    return [(uri_of(skill_id, name), stamp) for skill_id, files in skills.items() for name, stamp in files]

"""What calls leave in memory: nothing, however many there are."""

from __future__ import annotations

import asyncio
import gc
import os
from pathlib import Path

import pytest

from skillc.workspace import Workspace
from tests.conftest import World
from tests.support.mcp import NEW, over_stdio, server_of
from tests.support.skills import skill

WARM_UP, CALLS = 200, 500
MAX_GROWTH = 2 * CALLS  # KiB; what a call may leave to the allocator is far less


@pytest.mark.slow
def test_browsing_leaves_no_cycles(world: World) -> None:
    """[SURFACES: Serving] what a call has seen is freed at its end, not by some later garbage collection.

    The default repositories that do not exist are part of it: their errors held the whole walk.
    """
    for number in range(5):
        skill(world.store, f"s{number}")
    workspace = Workspace()

    async def look(count: int) -> None:
        for _ in range(count):
            await workspace.engine().list_skills()
            await workspace.engine().browse()

    async def garbage() -> int:
        await look(5)
        gc.collect()
        gc.disable()
        try:
            await look(20)
            return gc.collect()
        finally:
            gc.enable()

    assert asyncio.run(garbage()) < 20  # 165 for each call, once


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc to look at")
def test_thousands_of_calls(world: World) -> None:
    """[SURFACES: Serving] after a warm-up, the server's memory stays where it was."""
    for number in range(20):
        skill(world.store, f"s{number:02}")

    def size(process: int) -> int:
        """Resident memory in KiB."""
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") >> 10

    async def growth() -> int:
        async with over_stdio(world, NEW) as client:
            server = server_of(world)
            for _ in range(WARM_UP):
                await client.session.call_tool("browse_skills", {})
            before = size(server)
            for _ in range(CALLS):
                await client.session.call_tool("browse_skills", {})
            return size(server) - before

    assert asyncio.run(growth()) < MAX_GROWTH

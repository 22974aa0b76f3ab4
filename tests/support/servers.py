"""Our HTTP server: in a thread over any engine, and `skc serve` as a process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import httpx2
import pytest

from skillc.engine import DefaultSkillEngine
from skillc.library.sources import SkillSource
from skillc.server import Guard, create_app
from skillc.server.serve import create_server, listen
from tests.conftest import World
from tests.support.forks import serving_skc
from tests.support.skills import skill


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(min(seconds, 0.01))


@contextmanager
def run_server(create: Callable[[str], Any], port: int = 0, **options: Any) -> Iterator[str]:
    """The address of a server in a thread, for an application that is made for this address.

    uvicorn looks ten times a second whether it is to end, and waits as long for its connections. That is most
    of what a test with a server takes, so it looks more often here.
    """
    listener = listen("127.0.0.1", port)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    server = create_server(create(url), **options)
    thread = threading.Thread(target=server.run, args=([listener],))
    with patch("uvicorn.server.asyncio", SimpleNamespace(**vars(asyncio) | {"sleep": _sleep})):
        thread.start()
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def live(engine: DefaultSkillEngine | SkillSource, token: str = "") -> Iterator[httpx2.Client]:
    """A client of a server that runs in a thread."""
    app = Guard(create_app(engine), "127.0.0.1", (), token, ("/healthz",))
    with (
        run_server(lambda _: app) as url,
        httpx2.Client(base_url=url, timeout=60, trust_env=False, verify=False) as client,
    ):
        yield client


@pytest.fixture
def served(world: World) -> Iterator[str]:
    """The address of a `skc serve` over a library elsewhere."""
    other = world.root / "team"
    skill(other, ".skillc/skills/extraction/email-extractor")
    (other / ".skillc/skills/extraction/COLLECTION.md").write_text("Entities from text\n")
    env = world.env | {"HOME": str(other)}
    with serving_skc(["serve", "--read-only", "--port", "0"], cwd=other, env=env) as (url, server):
        yield url
    assert server.wait(60) == 0

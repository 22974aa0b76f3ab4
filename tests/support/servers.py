"""Our HTTP server: in a thread over any engine, and `skc serve` as a process."""

from __future__ import annotations

import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from skillc.engine import DefaultSkillEngine
from skillc.library import SkillSource
from skillc.server import Guard, create_app
from skillc.server.serve import create_server, listen
from tests.conftest import World
from tests.support.forks import start_skc
from tests.support.skills import skill


@contextmanager
def live(engine: DefaultSkillEngine | SkillSource, token: str = "") -> Iterator[httpx2.Client]:
    """A client of a server that runs in a thread."""
    listener = listen("127.0.0.1", 0)
    server = create_server(Guard(create_app(engine), "127.0.0.1", (), token, ("/healthz",)))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        with httpx2.Client(base_url=url, timeout=10, trust_env=False, verify=False) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture
def served(world: World) -> Iterator[str]:
    """The address of a `skc serve` over a library elsewhere."""
    other = world.root / "team"
    skill(other, ".skillc/skills/extraction/email-extractor")
    (other / ".skillc/skills/extraction/COLLECTION.md").write_text("Entities from text\n")
    with start_skc(
        ["serve", "--read-only", "--port", "0"],
        cwd=other,
        env=world.env | {"HOME": str(other)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as server:
        assert server.stdout is not None
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            assert found
            yield found[0]
        finally:
            server.terminate()
        assert server.wait(10) == 0

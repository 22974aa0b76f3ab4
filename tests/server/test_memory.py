"""What requests leave behind in a server: nothing that grows."""

from __future__ import annotations

import http.client
import os
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from tests.conftest import World

MARGIN = 3 << 20  # bytes


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")
def test_memory_stays(world: World) -> None:
    """[SURFACES: Serving] after a warm-up, requests on new connections leave the memory as it was."""
    world.skill("pdf")
    paths = [
        *("/healthz", "/healthz", "/skills", "/healthz", "/healthz", "/skills/pdf", "/nope"),
        "/skills/nope",
    ]

    def send(port: int, count: int) -> None:
        for number in range(count):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("GET", paths[number % len(paths)])
            connection.getresponse().read()
            connection.close()

    command = [sys.executable, "-m", "skillc", "serve", "--read-only", "--port", "0"]
    with Popen(command, cwd=world.project, env=world.env, stdout=PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline().rpartition(":")[2])
            send(port, 400)
            before = _memory(server.pid)
            send(port, 2000)
            assert _memory(server.pid) - before < MARGIN
        finally:
            server.kill()


def _memory(pid: int) -> int:
    """Return the bytes that a process holds in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

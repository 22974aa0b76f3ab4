"""What the scenarios stand on: Elephant's server, `skc serve`, and git repositories on loopback."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.conftest import World
from tests.support.elephant import Elephant, elephant
from tests.support.forks import start_skc
from tests.support.git import Origin, Server, cache, origin, server, template

__all__ = [  # fixtures, and what makes them
    "Elephant",
    "Origin",
    "Server",
    "cache",
    "elephant",
    "origin",
    "server",
    "template",
]


Serve = Callable[[Path], str]


@pytest.fixture
def serve(world: World) -> Iterator[Serve]:
    """Start `skc serve --read-only` for a project; gives its address."""
    with ExitStack() as servers:
        yield lambda project: servers.enter_context(_serving(world, project))


@contextmanager
def _serving(world: World, project: Path) -> Iterator[str]:
    words = ["serve", "--read-only", "--port", "0"]
    env = world.env | {"SKILLC_HOME": str(world.root / "nobody")}
    with start_skc(
        words, cwd=project, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
            assert found
            yield found[0]
        finally:
            process.terminate()
            process.wait()

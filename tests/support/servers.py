"""`skc serve` as a process."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.conftest import World
from tests.support.skills import skill


@pytest.fixture
def served(world: World) -> Iterator[str]:
    """The address of a `skc serve` over a library elsewhere."""
    other = world.root / "team"
    skill(other, ".skillc/skills/extraction/email-extractor")
    (other / ".skillc/skills/extraction/COLLECTION.md").write_text("Entities from text\n")
    with subprocess.Popen(
        [sys.executable, "-m", "skillc", "serve", "--read-only", "--port", "0"],
        cwd=other,
        env=world.env | {"HOME": str(other)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        assert server.stdout is not None
        try:
            found = re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline())
            assert found
            yield found[0]
        finally:
            server.terminate()
        assert server.wait(10) == 0

"""Loading commands: help and completion load all that a command's page needs, and nothing that it runs."""

from __future__ import annotations

import subprocess
import sys

# What takes long to load, and is needed to do something, not to say what can be done.
SLOW = ("asyncio", "ssl", "sqlite3", "yaml", "httpx2", "tarfile", "zipfile", "starlette", "concurrent")
ROOMS = ("install", "audit", "compiler", "registry", "server", "library.http", "library.git")


def test_pages_load_no_rooms() -> None:
    """[RFC-0005] [SURFACES: Terminal] help answers at once, whatever the command does."""
    program = (
        "import sys; from skillc.cli import load; from skillc.cli.help import page;"
        "from skillc.cli.summaries import NAMES;"
        "pages = [page(load(name).COMMAND) for name in NAMES];"
        "print(len(pages) == len(NAMES) and all(pages)); print(*sys.modules, sep='\\n')"
    )
    run = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    good, *modules = run.stdout.splitlines()
    assert good == "True"
    assert [name for name in SLOW if name in modules] == []
    below = tuple(f"skillc.{room}." for room in ROOMS)
    assert [name for name in modules if name.startswith(below)] == []

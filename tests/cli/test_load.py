"""Loading commands: help and completion load all that a command's page needs, and nothing that it runs."""

from __future__ import annotations

import os
import subprocess
import sys

from skillc.cli.summaries import NAMES
from skillc.cli.topics import TOPICS

# What takes long to load, and is needed to do something, not to say what can be done.
SLOW = """
    argparse asyncio concurrent contextlib ctypes dataclasses datetime email enum functools getpass
    hashlib html http httpx2 importlib inspect ipaddress json locale logging pathlib random re shlex
    shutil signal socket sqlite3 ssl starlette string subprocess tarfile tempfile threading tomllib
    traceback typing urllib uvicorn webbrowser yaml zipfile zlib
"""
ROOMS = ("install", "audit", "compiler", "registry", "server", "library.http", "library.git", "tools")

# Prints the statuses of command lines, one on each line of stdin, and then what they loaded.
PROGRAM = """
import sys
before = {*sys.modules}
from skillc.cli import main
lines = sys.stdin.read().splitlines()
out, sys.stdout = sys.stdout, sys.stderr
statuses = [main(line.split()) for line in lines]
print(statuses, *{*sys.modules} - before, sep="\\n", file=out)
"""


def test_pages_load_no_rooms() -> None:
    """[RFC-0005] [SURFACES: Terminal] help answers at once, whatever the command does."""
    lines = ["--help", "help", *(f"help {name}" for name in (*TOPICS, *NAMES))]
    lines += [f"{name} --help" for name in NAMES]
    run = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM],  # without what the environment loads first
        input="\n".join(lines),
        env={"PYTHONPATH": os.pathsep.join(sys.path), "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    statuses, *modules = run.stdout.splitlines()
    assert statuses == str([0] * len(lines))
    assert run.stderr.count("Usage: skc ") == 2 + 2 * len(NAMES)
    assert [name for name in SLOW.split() if name in modules] == []
    below = tuple(f"skillc.{room}." for room in ROOMS)
    assert [name for name in modules if name.startswith(below)] == []

"""Every command as a whole process, once: most tests run commands in forks of a process that has it all."""

from __future__ import annotations

import subprocess
import sys

import pytest

from skillc.cli.summaries import NAMES
from tests.conftest import World

SERVERS = {"mcp", "serve", "ui"}  # whose tests start whole processes
# In an order that works: each finds what those before it left.
COMMANDS = """\
init, build pdf, list, info pdf, listing, outline pdf, show pdf --section usage, search pdf text,
open pdf SKILL.md, sources pdf, find text, browse, load pdf, inventory, turn text, lint pdf, audit pdf,
tools pdf, trust, import, doctor --library, verify, digest pdf, add ../got, why got,
pin got, unpin got, outdated, lock, install, update,
disable got, enable got, remove got, trash list, restore got, clean --yes, repo list, login,
completion bash, stats, sync, setup --dry-run,
hook prompt"""
# What needs a registry, or a machine that has everything.
FAILING = {
    "run pdf nothing": "E060",
    "logout nowhere": "E",
    "publish pdf": "E",
    "yank pdf@1.0.0": "E",
    "token list": "E",
    "grant list": "E",
    "publisher list": "E",
    "doctor --format nothing": "E100",
    "eval pdf": "E110",
    "sign pdf --key nowhere": "E100",
}


@pytest.mark.slow
def test_every_command(world: World) -> None:
    """[RFC-0005] [RFC-0007] each does its work, or says why not, where nothing is loaded yet."""
    world.skill("pdf")
    world.skill("got", store=world.root)
    lines = [line.strip() for line in COMMANDS.replace("\n", " ").split(",")]
    assert {line.split()[0] for line in [*lines, *FAILING]} | SERVERS == set(NAMES)
    for line in [*lines, *FAILING]:
        run = subprocess.run(
            [sys.executable, "-m", "skillc", *line.split()],
            cwd=world.project,
            env=world.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in run.stderr
        if line in FAILING:
            assert run.stderr.startswith(f"error[{FAILING[line]}"), (line, run.stderr)
        assert run.returncode == (line in FAILING), (line, run.stderr)

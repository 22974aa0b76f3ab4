"""The npm packages `skills` and `clawhub`, run as their users do; `scripts/setup` puts them into .cache."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import World

MODULES = Path(__file__).parent.parent.parent / ".cache" / "npm" / "node_modules"


def node(package: str = "skills") -> str:
    """Return a Node.js that is new enough for the package; skip the test where there is none."""
    own = sorted(MODULES.glob("node-*/bin/node"))
    program = str(own[0]) if own else shutil.which("node")
    if program is None or not (MODULES / package).is_dir():
        pytest.skip(f"needs Node.js and npm's package '{package}'; run scripts/setup where npm is installed")
    return program


class Installer:
    """The npm package in a world: `run` is its command line."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.node = node()

    def run(self, *words: str, cwd: Path | None = None) -> str:
        """Run a command that must succeed; it sends nothing to its makers."""
        quiet = {"DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", "NO_COLOR": "1", "CI": "1"}
        done = subprocess.run(
            [self.node, str(MODULES / "skills" / "bin" / "cli.mjs"), *words],
            cwd=cwd or self.world.project,
            env=self.world.env | quiet,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def lock(self) -> dict[str, Any]:
        """Return the entries of the project's lock."""
        content = json.loads((self.world.project / "skills-lock.json").read_text(encoding="utf-8"))
        return dict(content["skills"])


class ClawHub:
    """The client of ClawHub's protocol in a world, talking to the registry at `url`."""

    def __init__(self, world: World, url: str) -> None:
        self.world = world
        self.url = url
        self.node = node("clawhub")

    def try_run(self, *words: str) -> subprocess.CompletedProcess[str]:
        # Its schemas compile themselves at each start, unless they may not; they say the same without.
        command = [self.node, "--disallow-code-generation-from-strings"]
        program = MODULES / "clawhub" / "bin" / "clawdhub.js"
        return subprocess.run(
            [*command, str(program), "--site", self.url, "--no-input", *words],
            cwd=self.world.project,
            env=self.world.env | {"CLAWHUB_DISABLE_TELEMETRY": "1", "NO_COLOR": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def run(self, *words: str) -> str:
        """Run a command that must succeed, and return what it printed."""
        done = self.try_run(*words)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def fails(self, *words: str) -> str:
        """Run a command that must fail, and return what it said."""
        done = self.try_run(*words)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def lock(self) -> dict[str, Any]:
        """Return the entries of the project's lock."""
        content = json.loads((self.world.project / ".clawhub" / "lock.json").read_text(encoding="utf-8"))
        return dict(content["skills"])


def evaluate(script: str, value: object) -> Any:
    """Return what a line of JavaScript makes of `value`."""
    program = f"const value = JSON.parse(require('fs').readFileSync(0));console.log(JSON.stringify({script}))"
    done = subprocess.run(
        [node(), "-e", program],
        input=json.dumps(value),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={"PATH": os.environ["PATH"], "LANG": "en_US.UTF-8"},
    )
    return json.loads(done.stdout)


@pytest.fixture
def installer(world: World) -> Installer:
    return Installer(world)

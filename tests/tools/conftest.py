"""A skill, a working directory and a home of its own, and commands run there at every level."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillc.tools import sandbox
from skillc.tools.environment import build_environment, find_program
from skillc.tools.process import Envelope, run
from skillc.tools.sandbox import Launch
from tests.tools.levels import works


class Bench:
    """Where commands run: `skill`, `project` (the working directory), `home`, and `outside` them all."""

    def __init__(self, root: Path, level: str) -> None:
        self.level = level
        self.home = root / "home"
        self.skill = self.home / ".skillc" / "skills" / "probe"
        self.project = root / "project"
        self.outside = root / "outside"
        for path in (self.home, self.skill, self.project, self.outside):
            path.mkdir(parents=True)
        self.parent = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}

    def script(self, text: str, name: str = "probe.sh") -> str:
        """A script of the skill, as its tools would name it."""
        path = self.skill / "scripts" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return f"./scripts/{name}"

    def launch(
        self,
        *argv: str,
        timeout: float = 60,
        network: bool = False,
        read_only: bool = True,
        cwd: Path | None = None,
    ) -> Launch:
        env = build_environment("probe", str(self.skill), "Global", self.parent)
        program = find_program(argv[0], str(self.skill), env["PATH"])
        where = str(cwd or self.project)
        skill = str(self.skill)
        return Launch((program, *argv[1:]), where, env, skill, timeout, network, read_only, self.level)

    def run(
        self,
        *argv: str,
        cancel: threading.Event | None = None,
        check: Callable[[], None] | None = None,
        **options: Any,
    ) -> Envelope:
        return run(self.launch(*argv, **options), cancel, check)

    def python(self, code: str, *arguments: str, **options: Any) -> Envelope:
        """Python code as the command, by the interpreter of these tests, wherever that is."""
        argv = (sys.executable, "-I", "-S", "-c", code, *arguments)
        return run(replace(self.launch("true", **options), argv=argv))

    def sh(self, text: str, **options: Any) -> Envelope:
        return self.run("sh", "-c", text, **options)


@pytest.fixture(params=sandbox.LEVELS)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    """The bench at each level that works here; where one does not, the test is skipped and says why."""
    level = str(request.param)
    works(level)
    return Bench(tmp_path, level)


@pytest.fixture
def bare(tmp_path: Path) -> Bench:
    """The bench without a sandbox, for what does not depend on one."""
    return Bench(tmp_path, sandbox.NONE)

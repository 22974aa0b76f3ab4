"""A world whose commands run in this process: what they do needs no interpreter of its own."""

from __future__ import annotations

import io
import os
import subprocess
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from skillc.cli import main
from tests.conftest import SkcRun, World


class NearWorld(World):
    """A world as tests know it; only what `prefix` runs, such as another user, is a process.

    `process` is for what a command shows as a whole: signals, time-outs, what it loads.
    """

    @classmethod
    def of(cls, world: World) -> NearWorld:
        """The same world, whose commands run in this process."""
        near = cls.__new__(cls)
        vars(near).update(vars(world))
        return near

    def skc(
        self,
        *words: str,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        without: tuple[str, ...] = (),
        prefix: tuple[str, ...] = (),
    ) -> SkcRun:
        """Run a command, and return what it printed and its status."""
        if prefix:
            return self.process(*words, cwd=cwd, env=env, without=without, prefix=prefix)
        out, err = (_stream() for _ in range(2))
        variables = {k: v for k, v in (self.env | (env or {})).items() if k not in without}
        with (
            patch.dict(os.environ, variables, clear=True),
            chdir(cwd or self.project),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            status = main(words)
        return subprocess.CompletedProcess(words, status, _text(out), _text(err))

    def process(
        self,
        *words: str,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        without: tuple[str, ...] = (),
        prefix: tuple[str, ...] = (),
    ) -> SkcRun:
        """Run a command as a process of its own."""
        return super().skc(*words, cwd=cwd, env=env, without=without, prefix=prefix)


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "surrogateescape")

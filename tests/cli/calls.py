"""Call the command line in this process, in the world that the fixture `world` made."""

from __future__ import annotations

import io
import subprocess
from contextlib import redirect_stderr, redirect_stdout

from skillc.cli import main
from tests.conftest import SkcRun


def call(*words: str) -> SkcRun:
    """Return the status and the output of a command."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        status = main(words)
    texts = []
    for stream in (out, err):
        stream.seek(0)
        texts.append(stream.read())
    assert "Traceback" not in texts[1]
    return subprocess.CompletedProcess(words, status, *texts)


def ok(*words: str) -> SkcRun:
    """Call a command that must succeed."""
    result = call(*words)
    assert result.returncode == 0, result.stderr
    return result


def fails(code: str, *words: str) -> SkcRun:
    """Call a command that must end with status 1 and one coded line."""
    result = call(*words)
    assert result.returncode == 1, (words, result.stdout)
    lines = [line for line in result.stderr.splitlines() if line.startswith("error[")]
    assert len(lines) == 1, (words, result.stderr)
    assert lines[0].startswith(f"error[{code}]: "), (words, lines)
    return result

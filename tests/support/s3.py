"""A real S3 server on loopback: versitygw, which `scripts/setup` builds from the Go registry."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BUCKET = "skills"
PROGRAM = Path(__file__).parent.parent.parent / ".cache" / "s3" / "versitygw"


def why_not() -> str:
    """Why there is no S3 server for tests; empty if there is."""
    return "" if _program() else "versitygw is not installed; scripts/setup builds it where there is Go"


def _program() -> str | None:
    return str(PROGRAM) if PROGRAM.exists() else shutil.which("versitygw")


class S3:
    """A server with one bucket, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in (f"buckets/{BUCKET}", "metadata"):  # the latter, where files have no attributes
            (folder / name).mkdir(parents=True)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._address = f"127.0.0.1:{free.getsockname()[1]}"
        self.environment = {
            "AWS_ENDPOINT_URL": f"http://{self._address}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_ACCESS_KEY_ID": "skillc",
            "AWS_SECRET_ACCESS_KEY": "loopback",
            "AWS_REGION": "us-east-1",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program = _program()
        assert program is not None
        words = ["--port", self._address, "--quiet", "posix", "--sidecar", str(self._folder / "metadata")]
        self._process = subprocess.Popen(
            [program, *words, str(self._folder / "buckets")],
            env={"PATH": os.environ["PATH"], "ROOT_ACCESS_KEY": "skillc", "ROOT_SECRET_KEY": "loopback"},
            stdout=subprocess.DEVNULL,
        )
        host, _, port = self._address.partition(":")
        for _ in range(600):
            try:
                socket.create_connection((host, int(port)), 1).close()
                return
            except OSError:
                assert self._process.poll() is None
                time.sleep(0.05)
        raise AssertionError("versitygw does not listen")

    def stop(self) -> None:
        """Stop it as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


@contextmanager
def running_s3(folder: Path) -> Iterator[S3]:
    server = S3(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def s3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    """An S3 server, with its address and keys in the environment."""
    if reason := why_not():
        pytest.skip(reason)
    with running_s3(tmp_path / "s3") as server:
        for name, text in server.environment.items():
            monkeypatch.setenv(name, text)
        yield server

"""Finding the processes that a command started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from skillc.tools import sandbox
from skillc.tools.sandbox.process import list_descendants
from tests.tools.conftest import Bench

# Each process has one child, five in all.
CHAIN = """
import os, time
for _ in range(5):
    if os.fork():
        break
time.sleep(60)
"""


def test_more_than_the_limit_is_told_whatever_the_tree() -> None:
    """[D45] a limit that is passed by one is passed: the count must not stop at the limit itself."""
    with subprocess.Popen([sys.executable, "-c", CHAIN], start_new_session=True) as process:
        try:
            while len(list_descendants(process.pid)) < 5:
                time.sleep(0.01)
            for most in range(8):
                assert (len(list_descendants(process.pid, most)) > most) is (most < 5)
        finally:
            os.killpg(process.pid, signal.SIGKILL)


# 700 processes whose parents have ended, each holding the descriptor of its output.
ORPHANS = """
import os, time
if os.fork():
    time.sleep(100)
for _ in range(700):
    if not os.fork():
        time.sleep(100)
os.write(1, b"ready")
"""
THREADS = """
import threading, time
for _ in range(600):
    threading.Thread(target=time.sleep, args=(100,), daemon=True).start()
print("ready", flush=True)
time.sleep(100)
"""


@pytest.mark.slow
def test_orphans_are_counted_when_others_end(bare: Bench) -> None:
    """[D45] a fork bomb is noticed though the machine has no more tasks than when it began."""
    with subprocess.Popen([sys.executable, "-c", THREADS], stdout=subprocess.PIPE) as others:
        assert others.stdout is not None
        assert others.stdout.readline() == b"ready\n"
        launch = replace(bare.launch("true"), argv=(sys.executable, "-I", "-S", "-c", ORPHANS))
        process = sandbox.start(launch)
        try:
            assert process.streams[0].read(5) == b"ready"
            others.kill()
            others.wait()
            end = time.monotonic() + 60
            while len(process.list_processes(512)) <= 512:
                assert time.monotonic() < end
                time.sleep(0.05)
        finally:
            process.close()
            others.kill()

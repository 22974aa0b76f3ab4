"""Finding the processes that a command started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

from skillc.tools.sandbox.process import list_descendants

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

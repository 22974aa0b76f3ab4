"""What a run costs beside `subprocess.run` of the same command, level by level, and in memory.

Called by bench.py; the measuring is done by the installed package, in a process of its own.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench import Bench

LIMITS = {"none": 15.0, "bubblewrap": 30.0, "landlock": None}  # milliseconds over the bare command

# Ours and the yardstick in turn, so that a noisy machine disturbs them alike.
TURNS = """
import os, subprocess, sys, time
from skillc.tools import sandbox
from skillc.tools.environment import build_environment
from skillc.tools.process import run
from skillc.tools.sandbox import Launch
level, cwd, times = sys.argv[1:]
missing = [line for line in sandbox.explain() if line.startswith(level + ":")]
if missing:
    sys.exit(missing[0])
env = build_environment("bench", cwd, "Global", os.environ)
launch = Launch(("/bin/true",), cwd, env, cwd, 60.0, False, True, level)
for turn in range(int(times) + 3):
    start = time.perf_counter()
    assert run(launch).success
    middle = time.perf_counter()
    subprocess.run(["/bin/true"], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    end = time.perf_counter()
    if turn >= 3:
        print(middle - start, end - middle)
"""

MEMORY = """
import os, resource, sys
from skillc.tools.environment import build_environment
from skillc.tools.process import run
from skillc.tools.sandbox import Launch
level, cwd = sys.argv[1:]
def launch(*argv):
    env = build_environment("bench", cwd, "Global", os.environ)
    return Launch(argv, cwd, env, cwd, 60.0, False, True, level)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run(launch("/bin/true"))
before = peak()
found = run(launch("/usr/bin/head", "-c", "10000000", "/dev/zero"))
assert found.success and found.truncated
print(peak() - before)
"""


def bench_run(bench: Bench) -> None:
    times = 20 if bench.quick else 100
    for level, limit in LIMITS.items():
        lines = measure(bench, TURNS, level, str(times))
        if lines is None:
            continue
        pairs = [tuple(map(float, line.split())) for line in lines]
        ours, bare = sorted(p[0] for p in pairs)[times // 2], sorted(p[1] for p in pairs)[times // 2]
        over = (ours - bare) * 1e3
        least = (min(p[0] for p in pairs) - min(p[1] for p in pairs)) * 1e3  # what a quiet machine would show
        promised = f"{limit:.0f} ms" if limit else ""
        verdict = "  OVER" if limit and over > limit else ""
        print(
            f"{f'a run, {level} / subprocess.run':<44} {ours * 1e3:>6.1f} ms {bare * 1e3:>7.1f} ms"
            f" {ours / bare:>7.2f} {promised:>6}  {over:+.1f} ms, at least {least:+.1f} ms{verdict}",
            flush=True,
        )
    for kib in measure(bench, MEMORY, "none") or ():
        verdict = "" if int(kib) < 5 * 1024 else "  OVER"
        print(f"{'memory for 10 MB of output':<44} {int(kib) / 1024:>6.1f} MB {'':>18} {'5 MB':>6}{verdict}")


def measure(bench: Bench, code: str, level: str, *arguments: str) -> list[str] | None:
    """The lines that the code prints; None where the level does not work, which is said."""
    argv = [bench.python, "-c", code, level, str(bench.root), *arguments]
    found = subprocess.run(argv, env=bench.env, capture_output=True, text=True, check=False)
    if found.returncode:
        print(f"{f'a run, {level}':<44} not measured: {found.stderr.strip().splitlines()[-1]}")
        return None
    return found.stdout.split("\n")[:-1]

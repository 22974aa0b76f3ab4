"""A control group for one command: its limits hold for all of its processes together.

Only where it costs nothing to get one: the kernel's second hierarchy, and a group beside that of this
process in which the user may make others. systemd gives users such groups for what they start from a
desktop or with `systemd-run --user --scope`; elsewhere the limits of single processes have to do.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from skillc.tools.environment import read_bytes
from skillc.tools.sandbox.process import MEMORY, PROCESSES

ROOT = "/sys/fs/cgroup"
CONTROLLERS = {b"memory", b"pids"}
LIMITS = {"pids.max": PROCESSES, "memory.max": MEMORY, "memory.oom.group": 1}
MEMBERS = "cgroup.procs"
NAME = "skillc-"  # then the number of the process that made the group
END = 1.0  # seconds that a group gets to become empty


def find_parent() -> str | None:
    """Return the group in which this user may make groups with limits; None if there is none."""
    lines = [line for line in read_bytes("/proc/self/cgroup").splitlines() if line.startswith(b"0::/")]
    if not lines:
        return None
    own = os.path.normpath(ROOT + os.fsdecode(lines[0][3:]))
    for group in (own, os.path.dirname(own)):
        controllers = set(read_bytes(os.path.join(group, "cgroup.subtree_control")).split())
        members = os.path.join(group, MEMBERS)
        if controllers >= CONTROLLERS and os.access(group, os.W_OK) and os.access(members, os.W_OK):
            return group
    return None


def create() -> str | None:
    """Make a group with the limits of a command; None where that is not possible."""
    parent = find_parent()
    if parent is None:
        return None
    _remove_leftovers(parent)
    group = os.path.join(parent, f"{NAME}{os.getpid()}-{os.urandom(4).hex()}")
    try:
        os.mkdir(group)
        for name, value in LIMITS.items():
            _write(os.path.join(group, name), value)
        with suppress(FileNotFoundError):  # a kernel without swap has no limit for it
            _write(os.path.join(group, "memory.swap.max"), 0)
    except OSError:
        remove(group)
        return None
    return group


def _remove_leftovers(parent: str) -> None:
    """Remove the groups of processes that were killed before they could; those in use can't be removed."""
    for name in os.listdir(parent):
        maker = name.removeprefix(NAME).partition("-")[0]
        if name.startswith(NAME) and not os.path.exists(f"/proc/{maker}"):
            with suppress(OSError):
                os.rmdir(os.path.join(parent, name))


def add(group: str, pid: int) -> None:
    """Move a process into a group, if the system lets us; what it starts from then on is in it, too."""
    with suppress(OSError):
        _write(os.path.join(group, MEMBERS), pid)


def remove(group: str) -> None:
    """Remove a group, whose processes have ended or are about to."""
    end = time.monotonic() + END
    while os.path.isdir(group):
        with suppress(OSError):
            os.rmdir(group)
            return
        if time.monotonic() > end:
            return
        time.sleep(0.01)


def _write(path: str, value: int) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, b"%d" % value)
    finally:
        os.close(descriptor)

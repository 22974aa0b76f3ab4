"""The processes that a command started: finding and signalling them, by what /proc says."""

from __future__ import annotations

import os
from collections.abc import Iterable


def descendants(pid: int, most: int | None = None) -> list[int]:
    """The processes below `pid`, parents first; once there are more than `most`, no others are looked for."""
    found = [pid]
    for parent in found:
        found += _children(parent)
        if most is not None and len(found) - 1 > most:  # without `pid` itself
            break
    return found[1:]


def _children(pid: int) -> list[int]:
    try:
        return [child for task in os.listdir(f"/proc/{pid}/task") for child in _children_of(pid, task)]
    except OSError:  # it ended meanwhile, or there is no /proc
        return []


def _children_of(pid: int, task: str) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def all_tasks() -> int:
    """How many processes and threads the whole machine has; 0 where it does not say."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, IndexError, ValueError):
        return 0


def of_session(leader: int) -> list[int]:
    """All processes of a session, whoever their parents are."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _session(name) == leader]


def _session(name: str) -> int | None:
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[3])
    except OSError:
        return None


def signal_each(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:  # it ended meanwhile, or is another user's by now
            pass


def signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except OSError:  # nobody is left in it
        pass

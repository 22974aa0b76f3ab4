"""The processes that a command started: finding and signalling them, by what /proc says."""

from __future__ import annotations

import os
from collections.abc import Iterable


def descendants(pid: int, most: int | None = None) -> list[int]:
    """The processes below `pid`, parents first; no more than `most` are looked for."""
    found = [pid]
    for parent in found:
        found += _children(parent)
        if most is not None and len(found) > most:
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

"""Look things up: the section index of one skill, and the skill index of all.

Their front doors are `skillc.index.sections` and `skillc.index.skills`; here is what both share, and the
stamps by which they see that a file or directory changed without reading it. A stamp is size, mtime and
ctime in nanoseconds. Equal stamps mean an unchanged file, unless it was changed so shortly before it was
read that a later change may get the same times: such a stamp is stored with UNSETTLED in place of the
mtime and equals no other.
"""

from __future__ import annotations

import os

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.index.cjk import WIDE
    from skillc.index.workers import Companion, Pool, can_fork, count_cores, run_apart
else:
    __getattr__, __all__ = front_door(__name__)

Stamp = tuple[int, int, int]

SETTLED_NS = 50_000_000  # a change this shortly before reading may be followed by an unnoticed one
COARSE_NS = 2_000_000_000  # the same on file systems that count in seconds
UNSETTLED = -1
EXACT = 256  # files of a skill up to which readers ask every one whether it changed


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp in the result of `os.stat` or `os.fstat`."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def stamp_file(path: str) -> Stamp | None:
    """Return the stamp of a file or directory, None where there is none."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None


def has_times(path: str, times: tuple[int, int]) -> bool:
    """Return whether a directory has this mtime and ctime, and so holds the same names as then."""
    stamp = stamp_file(path)
    return stamp is not None and stamp[1:] == times


def settle(stamp: Stamp, now: int) -> Stamp:
    """Return a stamp as it may be stored: with UNSETTLED for a time too recent to be trusted."""
    size, mtime, ctime = stamp
    margin = COARSE_NS if mtime % 1_000_000_000 == 0 else SETTLED_NS
    return stamp if max(mtime, ctime) < now - margin else (size, UNSETTLED, ctime)

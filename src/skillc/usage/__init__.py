"""What agents did: the access log, its statistics, and moving logs to where they belong.

Knows rows, not meanings: which command logs what is the surfaces' business.
"""

from __future__ import annotations

from skillc import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.usage.counts import logs_of
    from skillc.usage.log import logged, record
    from skillc.usage.page import unread, usage_page
    from skillc.usage.prune import age, prune_log
    from skillc.usage.query import Filters
    from skillc.usage.stats import GROUPS, Stats, by_day, check_group, read_of, stats_of, stats_of_all
    from skillc.usage.sync import Synced, sync

__all__ = [
    "GROUPS",
    "Filters",
    "Stats",
    "Synced",
    "age",
    "by_day",
    "check_group",
    "logged",
    "logs_of",
    "prune_log",
    "read_of",
    "record",
    "stats_of",
    "stats_of_all",
    "sync",
    "unread",
    "usage_page",
]

__getattr__ = front_door(
    __name__,
    {
        "counts": ("logs_of",),
        "query": ("Filters",),
        "log": ("logged", "record"),
        "page": ("unread", "usage_page"),
        "prune": ("age", "prune_log"),
        "stats": ("GROUPS", "Stats", "by_day", "check_group", "read_of", "stats_of", "stats_of_all"),
        "sync": ("Synced", "sync"),
    },
)

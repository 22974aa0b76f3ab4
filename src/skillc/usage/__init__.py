"""What agents did: the access log, its statistics, and moving logs to where they belong.

Knows rows, not meanings: which command logs what is the surfaces' business.
"""

from __future__ import annotations

from skillc.lazy import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.usage.log import logged, record
    from skillc.usage.page import usage_page
    from skillc.usage.prune import age, prune_log
    from skillc.usage.stats import Filters, Stats, by_day, check_group, logs_of, stats_of, stats_of_all
    from skillc.usage.syncing import Synced, sync

__all__ = [
    "Filters",
    "Stats",
    "Synced",
    "age",
    "by_day",
    "check_group",
    "logged",
    "logs_of",
    "prune_log",
    "record",
    "stats_of",
    "stats_of_all",
    "sync",
    "usage_page",
]

__getattr__ = front_door(
    __name__,
    {
        "log": ("logged", "record"),
        "page": ("usage_page",),
        "prune": ("age", "prune_log"),
        "stats": ("Filters", "Stats", "by_day", "check_group", "logs_of", "stats_of", "stats_of_all"),
        "syncing": ("Synced", "sync"),
    },
)

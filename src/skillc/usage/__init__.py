"""What agents did: the access log, its statistics, and moving logs to where they belong.

Knows rows, not meanings: which command logs what is the surfaces' business.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.usage.counts import logs_of as logs_of
    from skillc.usage.log import logged as logged, record as record
    from skillc.usage.page import unread as unread, usage_page as usage_page
    from skillc.usage.prune import age as age, prune_log as prune_log
    from skillc.usage.query import Filters as Filters
    from skillc.usage.stats import (
        GROUPS as GROUPS,
        Stats as Stats,
        by_day as by_day,
        check_group as check_group,
        read_of as read_of,
        stats_of as stats_of,
        stats_of_all as stats_of_all,
    )
    from skillc.usage.sync import Synced as Synced, sync_logs as sync_logs

__getattr__ = front_door(
    __name__,
    {
        "counts": "logs_of",
        "query": "Filters",
        "log": "logged record",
        "page": "unread usage_page",
        "prune": "age prune_log",
        "stats": "GROUPS Stats by_day check_group read_of stats_of stats_of_all",
        "sync": "Synced sync_logs",
    },
)

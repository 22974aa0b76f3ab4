"""Records of what agents did: the access log, its statistics, and moving logs to where they belong.

Stores and counts rows; which arguments a command logs is the surfaces' business.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.usage.log import TERMINAL, LogValue, record_access, record_offer, run_logged
    from skillc.usage.missed import prune_missed, record_missed
    from skillc.usage.page import find_unread, group_days, render_page
    from skillc.usage.prune import delete_fallback_log, parse_age, prune_log, prune_logs
    from skillc.usage.query import FilterOptions, Filters, find_logs
    from skillc.usage.report import format_rows, make_page, render_stats
    from skillc.usage.stats import (
        GROUPS,
        Stats,
        check_group,
        compute_stats,
        count_by_day,
        count_offers_by_day,
        find_reads,
    )
    from skillc.usage.sync import SyncedLogs, sync_logs
    from skillc.usage.upload import UsageUpload, count_usage, send_usage
else:
    __getattr__, __all__ = front_door(__name__)

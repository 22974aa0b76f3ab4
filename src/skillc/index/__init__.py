"""Look things up: the section index of one skill, and the skill index of all.

Their front doors are `skillc.index.sections` and `skillc.index.skills`; here is what both share.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.index.cjk import WIDE as WIDE
    from skillc.index.stamps import (
        SETTLED_NS as SETTLED_NS,
        Stamp as Stamp,
        settle as settle,
        stamp_file as stamp_file,
        stamp_of as stamp_of,
    )
    from skillc.index.workers import Pool as Pool, can_fork as can_fork, count_cores as count_cores
else:
    __getattr__ = front_door(
        __name__,
        {
            "cjk": "WIDE",
            "stamps": "SETTLED_NS settle stamp_file stamp_of",
            "workers": "Pool can_fork count_cores",
        },
    )

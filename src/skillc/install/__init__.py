"""In and out: bring skills in, keep them current, take them out again.

Stands above the operations, because it puts them together: a skill is downloaded, audited, put into a store,
built and deployed. Commands for reading skills never load it.
"""

from __future__ import annotations

from skillc.startup import front_door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skillc.install.clean import find_waste
    from skillc.install.clients import ClientChange, plan_addition, plan_removal
    from skillc.install.doctor import Examination, examine, mend_all
    from skillc.install.origin import Candidate, Download, Origin
    from skillc.install.waste import Removal, Waste, measure_size, remove_waste
else:
    __getattr__ = front_door(
        __name__,
        {
            "clean": "find_waste",
            "clients": "ClientChange plan_addition plan_removal",
            "doctor": "Examination examine mend_all",
            "origin": "Candidate Download Origin",
            "waste": "Removal Waste measure_size remove_waste",
        },
    )

"""Examine this installation: what is wrong, which command mends it, and `mend_all` for what is safe to mend.

One function for each check; `examine` has the list.
"""

from __future__ import annotations

from skillc.install.doctor.examination import (
    Examination as Examination,
    examine as examine,
    mend_all as mend_all,
)

"""What is wrong with this installation, and which command puts it right.

One function for each check; `examination` has the list. It changes nothing unless repairs are asked for, and
then only what is safe.
"""

from __future__ import annotations

from skillc.doctor.examination import Examination as Examination, examine as examine
from skillc.doctor.library import (
    LibraryFindings as LibraryFindings,
    choose_findings as choose_findings,
    parse_codes as parse_codes,
)

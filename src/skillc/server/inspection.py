"""Audit what is published: the report is stored with the version."""

from __future__ import annotations

import logging
import os
import tempfile
from typing import Any

from skillc.audit import audit_folder
from skillc.errors import unexpected
from skillc.registry import Package

log = logging.getLogger("skillc.server")


def audit_package(package: Package) -> dict[str, Any] | None:
    """Return the report of an audit; None where it can't be made, which review rules count as unaudited."""
    try:
        with tempfile.TemporaryDirectory(prefix="skillc-audit-", ignore_cleanup_errors=True) as place:
            folder = os.path.join(place, package.skill.name)
            for path, data in package.contents.items():
                file = os.path.join(folder, *path.split("/"))
                os.makedirs(os.path.dirname(file), exist_ok=True)
                with open(file, "xb") as target:
                    target.write(data)
            report = audit_folder(folder, str(package.skill)).as_json()
    except Exception as error:  # an audit is a report, and stops no publication
        log.error("audit of %s: %s", package.skill, unexpected(error).line())
        return None
    report.pop("path")  # of this machine
    return report

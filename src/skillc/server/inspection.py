"""Audit what is published: the report is stored with the version."""

from __future__ import annotations

import logging
import os
import tempfile
from typing import Any

from skillc.audit import Audit, audit_folder
from skillc.errors import unexpected
from skillc.registry import Package
from skillc.skills import write_files

log = logging.getLogger("skillc.server")


def audit_package(package: Package) -> dict[str, Any] | None:
    """Return the report of an audit; None where it can't be made, which review rules count as unaudited."""
    audit = inspect_package(package)
    return None if audit is None else make_report(audit)


def inspect_package(package: Package) -> Audit | None:
    """Return the audit of a package; None where it can't be made."""
    try:
        with tempfile.TemporaryDirectory(prefix="skillc-audit-", ignore_cleanup_errors=True) as place:
            folder = os.path.join(place, package.skill.name)
            write_files(folder, package.contents)
            return audit_folder(folder, str(package.skill))
    except Exception as error:  # an audit is a report, and stops no publication
        log.error("audit of %s: %s", package.skill, unexpected(error).line())
        return None


def make_report(audit: Audit) -> dict[str, Any]:
    """Return what is stored of an audit: all but the path, which is one of this machine."""
    return {key: value for key, value in audit.as_json().items() if key != "path"}

"""Audit what is published: the report is stored with the version."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

from skillc.audit import Audit, audit_folder
from skillc.errors import unexpected
from skillc.registry import Package
from skillc.server.upload_folders import Workplace
from skillc.skills import SkillId, write_files

log = logging.getLogger("skillc.server")


def audit_package(workplace: Workplace, package: Package) -> dict[str, Any] | None:
    """Return the report of an audit; None where it can't be made, which review rules count as unaudited."""
    audit = inspect_files(workplace, package.skill, package.contents)
    return None if audit is None else make_report(audit)


def inspect_files(workplace: Workplace, skill: SkillId, contents: Mapping[str, bytes]) -> Audit | None:
    """Return the audit of a skill's files; None where it can't be made."""
    try:
        with workplace.open() as place:
            folder = os.path.join(place, skill.name)
            write_files(folder, contents)
            return audit_folder(folder, str(skill))
    except Exception as error:  # an audit is a report, and stops no publication
        log.error("audit of %s: %s", skill, unexpected(error).line())
        return None


def make_report(audit: Audit) -> dict[str, Any]:
    """Return what is stored of an audit: all but the path, which is one of this machine."""
    return {key: value for key, value in audit.as_json().items() if key != "path"}

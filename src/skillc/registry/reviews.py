"""Say which versions wait for a review, and what an audit says of one.

A version that waits is not chosen as the latest, and is hidden from all but its publisher and maintainers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from skillc.errors import InvalidParameter
from skillc.registry.access import Caller
from skillc.registry.model import APPROVED, AUDIT_LEVELS, NO_FINDINGS, Role, Skill, Version, is_below

MAX_REPORT = 256 << 10  # bytes of the report of an audit; what is longer loses its last findings


@dataclass(frozen=True, slots=True)
class ReviewRules:
    """What has to be reviewed: what publishers publish below `prefixes`, and what an audit finds.

    From the level `findings` on, what anyone publishes waits, also without an audit.
    """

    prefixes: tuple[str, ...] = ()
    findings: str = ""

    def must_wait(self, caller: Caller, skill_id: str, audit: str) -> bool:
        if self.findings and (not audit or is_worse(audit, self.findings)):
            return True
        has_prefix = any(is_below(skill_id, prefix) for prefix in self.prefixes)
        return has_prefix and not caller.allows(Role.MAINTAINER, skill_id)


def is_worse(level: str, limit: str) -> bool:
    """Return whether the level of an audit is a limit or above it.

    >>> is_worse("review", "review"), is_worse("note", "review")
    (True, False)
    """
    return AUDIT_LEVELS.index(level) >= AUDIT_LEVELS.index(limit)


def show_skill(caller: Caller, skill: Skill) -> Skill | None:
    """Return a skill with the versions that a caller may see; None where there is none."""
    if all(version.status == APPROVED for version in skill.versions):
        return skill
    is_maintainer = caller.allows(Role.MAINTAINER, skill.id)
    view = skill.filter(lambda version: is_maintainer or may_see(caller, version))
    return view if view.versions else None


def may_see(caller: Caller, version: Version) -> bool:
    """Return whether a caller that is no maintainer may see a version."""
    return version.status == APPROVED or version.published_by == caller.subject


def parse_report(report: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the level of an audit's report, and the report as it is stored: JSON of a bounded size.

    `findings` is a list of objects, each with its `level`; all else is kept as it is.
    """
    findings = report.get("findings", [])
    if not isinstance(findings, list) or not all(isinstance(each, dict) for each in findings):
        raise InvalidParameter("audit", "its findings are a list of objects")
    level = _find_level(finding.get("level") for finding in findings)
    try:
        while len(text := json.dumps({**report, "findings": findings})) > MAX_REPORT and findings:
            findings = findings[: len(findings) // 2]
    except (TypeError, ValueError, RecursionError):
        raise InvalidParameter("audit", "it is not JSON") from None
    if len(text) > MAX_REPORT:
        raise InvalidParameter("audit", f"it is longer than {MAX_REPORT >> 10} KiB")
    return level, json.loads(text)


def _find_level(levels: Iterable[object]) -> str:
    worst = NO_FINDINGS
    for level in levels:
        if level not in AUDIT_LEVELS:
            raise InvalidParameter("audit", f"the level of a finding is one of {', '.join(AUDIT_LEVELS[1:])}")
        worst = max(worst, str(level), key=AUDIT_LEVELS.index)
    return worst

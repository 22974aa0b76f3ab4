"""Say which versions are shown and which wait for a review: policies, rules of reviews, levels of audits.

A registry has `Policies`, which hide versions from all but maintainers. A source of versions can be given
those of one reader, or any other function of a version:

    policies = Policies(timedelta(days=3), allow=("payments",))
    registry.source(caller, policies.allows).skill("payments/refunds").latest  # at least three days old

A version that waits is not chosen as the latest, and is hidden from all but its publisher and maintainers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from skillc.errors import InvalidParameter
from skillc.registry.model.access import Caller
from skillc.registry.model.model import APPROVED, AUDIT_LEVELS, NO_FINDINGS, Role, Version, is_below

MAX_REPORT = 256 << 10  # bytes of the report of an audit; what is longer loses its last findings


@dataclass(frozen=True, slots=True)
class Policies:
    """Which versions are shown: old enough, below allowed prefixes, audited. Without any, all are.

    `audited` is the worst level of findings that is let through.
    """

    minimum_age: timedelta = timedelta(0)
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    audited: str = ""
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def allows(self, version: Version) -> bool:
        return (
            (not self.allow or any(is_below(version.skill, prefix) for prefix in self.allow))
            and not any(is_below(version.skill, prefix) for prefix in self.deny)
            and (not self.audited or (bool(version.audit) and is_worse(self.audited, version.audit)))
            and (not self.minimum_age or version.published_at <= self.clock() - self.minimum_age)
        )

    @property
    def fingerprint(self) -> str:
        """A text that changes with the policies; empty without any."""
        values = self.minimum_age, self.allow, self.deny, self.audited
        return repr(values) if any(values) else ""


# Reviews and audits


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


def may_see(caller: Caller, version: Version) -> bool:
    """Return whether a caller that is no maintainer may see a version, as far as reviews go."""
    return version.status == APPROVED or version.published_by == caller.subject


def parse_report(report: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the level of an audit's report, and the report as it is stored: JSON of a bounded size.

    `findings` is a list of objects, each with its `level`; all else is kept as it is.
    """
    findings = report.get("findings", [])
    if not isinstance(findings, list) or not all(isinstance(each, dict) for each in findings):
        raise InvalidParameter("audit", "its findings are a list of objects")
    level = NO_FINDINGS
    for each in (finding.get("level") for finding in findings):
        if each not in AUDIT_LEVELS:
            raise InvalidParameter("audit", f"the level of a finding is one of {', '.join(AUDIT_LEVELS[1:])}")
        level = max(level, str(each), key=AUDIT_LEVELS.index)
    try:
        while len(text := json.dumps({**report, "findings": findings})) > MAX_REPORT and findings:
            findings = findings[: len(findings) // 2]
    except (TypeError, ValueError, RecursionError):
        raise InvalidParameter("audit", "it is not JSON") from None
    if len(text) > MAX_REPORT:
        raise InvalidParameter("audit", f"it is longer than {MAX_REPORT >> 10} KiB")
    return level, json.loads(text)

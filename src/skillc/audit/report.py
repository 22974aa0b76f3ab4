"""The results of audits for people, as JSON and as SARIF 2.1.0."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from skillc import sarif
from skillc.audit.findings import KINDS, Asks, Audit, Finding
from skillc.audit.rules import BLOCK, NOTE, REVIEW, RULES
from skillc.errors import SkillcError
from skillc.text import one_line

MAX_LISTED = 12  # values of one kind that are listed for people
SARIF_LEVELS = {NOTE: "note", REVIEW: "warning", BLOCK: "error"}
_RULE_INDEX = {rule.id: number for number, rule in enumerate(RULES)}


def render_asks(asks: Asks, verbose: bool = False) -> Iterator[str]:
    """Yield a line for each kind of thing that a skill asks for."""
    for kind in KINDS:
        values = getattr(asks, kind)
        if values:
            listing = values if verbose else values[:MAX_LISTED]
            more = f" and {len(values) - len(listing)} more" if len(listing) < len(values) else ""
            yield f"  {kind:<12} {one_line(', '.join(listing))}{more}"


def render_finding(finding: Finding, place: str = "") -> str:
    """Return a finding on one line; `place` is the path of its file to print."""
    by = f" (says {one_line(finding.by)})" if finding.by else ""
    where = f"{place or finding.file}:{finding.line}"
    return f"  {finding.level:<7} {finding.rule}: {one_line(finding.message)}{by} ({one_line(where)})"


def summarise_audits(audits: Sequence[Audit], failures: Sequence[SkillcError] = ()) -> dict[str, Any]:
    """Return what `--format json` prints: all audits, and the skills that could not be audited."""
    return {
        "skills": [audit.as_json() for audit in audits],
        "failed": [{"code": failure.code, "message": failure.message} for failure in failures],
        "notes": sum(audit.notes for audit in audits),
        "reviews": sum(audit.reviews for audit in audits),
        "blocks": sum(audit.blocks for audit in audits),
        "warnings": [diagnostic.line() for audit in audits[:1] for diagnostic in audit.diagnostics],
    }


def render_audit_sarif(
    audits: Iterable[Audit], base: str, failures: Sequence[SkillcError] = ()
) -> dict[str, Any]:
    """Return one SARIF log of all audits; files below the directory `base` are named relative to it."""
    audits = list(audits)
    results = [_result(finding, audit, base) for audit in audits for finding in audit.findings]
    rules = [
        sarif.describe_rule(rule.id, rule.name, rule.subject, SARIF_LEVELS[rule.level]) for rule in RULES
    ]
    warnings = dict.fromkeys(diagnostic for audit in audits for diagnostic in audit.diagnostics)
    return sarif.render_log("skc audit", rules, results, failures, warnings)


def _result(finding: Finding, audit: Audit, base: str) -> dict[str, Any]:
    uri = sarif.file_uri(os.path.join(audit.folder, finding.file), base)
    level = SARIF_LEVELS[finding.level]
    result = sarif.describe_result(
        finding.rule.id, _RULE_INDEX[finding.rule.id], level, finding.message, uri, finding.line
    )
    return result | {"partialFingerprints": {"skcAudit/v1": finding.fingerprint}}

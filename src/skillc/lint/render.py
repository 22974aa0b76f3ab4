"""Show the results of linting as JSON, SARIF 2.1.0 and GitHub workflow commands."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from skillc import sarif
from skillc.errors import SkillcError
from skillc.lint.report import Finding, Report
from skillc.lint.rules import OFF, RULES, Rule
from skillc.text import one_line, utf8_text

# What the rules about the format stand on. Rules of ours have no page on the network that stays where it is.
SPECIFICATION = "https://agentskills.io/specification"
_OF_THE_FORMAT = ("SKL1", "SKL2", "SKL3", "SKL4")
_RULE_INDEX = {rule.id: number for number, rule in enumerate(RULES)}
_MESSAGE_ESCAPES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY_ESCAPES = _MESSAGE_ESCAPES | str.maketrans({":": "%3A", ",": "%2C"})


def summarise_reports(reports: Sequence[Report], failures: Sequence[SkillcError] = ()) -> dict[str, Any]:
    """Return what `--format json` prints: all reports, and the skills that could not be linted."""
    return {
        "skills": [report.as_json() for report in reports],
        "failed": [{"code": failure.code, "message": failure.message} for failure in failures],
        "errors": sum(report.errors for report in reports),
        "warnings": sum(report.warnings for report in reports),
    }


def render_sarif(
    reports: Iterable[Report], base: str, failures: Sequence[SkillcError] = ()
) -> dict[str, Any]:
    """Return one SARIF log of all reports; files below the directory `base` are named relative to it."""
    results = [
        sarif.describe_result(
            finding.rule.id,
            _RULE_INDEX[finding.rule.id],
            finding.severity,
            finding.message,
            sarif.file_uri(os.path.join(report.skill.source, finding.file), base),
            finding.line,
        )
        for report in reports
        for finding in report.findings
    ]
    rules = [_describe_rule(rule) for rule in RULES]
    return sarif.render_log("skc lint", rules, results, failures)


def _describe_rule(rule: Rule) -> dict[str, Any]:
    level = "none" if rule.severity == OFF else rule.severity
    entry = sarif.describe_rule(rule.id, rule.name, rule.requirement, level)
    entry["help"] = {"text": rule.advice}
    if rule.id.startswith(_OF_THE_FORMAT):
        entry["helpUri"] = SPECIFICATION
    return entry


def render_workflow_command(finding: Finding, path: str) -> str:
    """Return the GitHub workflow command that annotates a line of the file at `path` in a pull request."""
    properties = {"file": utf8_text(path), "line": str(finding.line), "title": str(finding.rule)}
    listing = ",".join(f"{key}={value.translate(_PROPERTY_ESCAPES)}" for key, value in properties.items())
    message = one_line(utf8_text(finding.message)).translate(_MESSAGE_ESCAPES)
    return f"::{finding.severity} {listing}::{message}"
